import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

const root = path.join(import.meta.dirname, "../..");

test("ends a run on PostgreSQL at SIGTERM, names the running test, and leaves no server behind", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-stopped-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, "hangs.test.mjs");
  const sign = path.join(folder, "started");
  writeFileSync(
    file,
    `import { writeFileSync } from "node:fs";
    import { test } from "node:test";
    test("hangs", () => {
      writeFileSync(${JSON.stringify(sign)}, "");
      return new Promise(() => setInterval(() => {}, 1000));
    });`,
  );
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const run = spawn(process.execPath, ["tools/on-postgres.ts", file], { cwd: root, env, stdio: "pipe" });
  const written = Promise.all([text(run.stdout), text(run.stderr)]);
  const ended = once(run, "exit");
  while (!existsSync(sign) && run.exitCode === null) await wait(50);

  run.kill("SIGTERM");

  const [status] = (await ended) as [number | null];
  const [, reported] = await written;
  assert.match(reported, /^Stopped by SIGTERM\. Still running: .*hangs\.test\.mjs \(hangs\)\.\n/);
  assert.doesNotMatch(reported, /\n {4}at /);
  assert.equal(status, 1);
  assert.deepEqual(globSync(`{/dev/shm,${tmpdir()}}/latchkey-postgres-${run.pid}-*`), []);
});
