import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { command } from "../harness/command.ts";
import { freePort } from "../harness/free-port.ts";
import { basicHeader } from "../harness/serve.ts";
const password = "of the one that is read";

interface Started {
  readonly child: ChildProcess;
  readonly address: string;
  readonly ended: Promise<number | null>;
}

/** Starts a service, reads its first output, and then stops reading. So the pipe of the log fills. */
async function start(t: TestContext, port: number, args: readonly string[] = []): Promise<Started> {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-log-"));
  const child = spawn(process.execPath, [command, ...args], {
    cwd: folder,
    env: { ...process.env, LATCHKEY_PORT: String(port), LATCHKEY_ADMIN_PASSWORD: password },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit").then(([status]) => status as number | null);
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  await once(child.stdout, "data");
  child.stdout.pause();
  return { child, address: `http://127.0.0.1:${port}`, ended };
}

async function lost({ address }: Started): Promise<number> {
  const answer = await fetch(`${address}/metrics`, { headers: basicHeader("admin", password) });
  return Number(/^latchkey_log_lines_dropped_total (\d+)$/m.exec(await answer.text())![1]);
}

for (const started of ["latchkey", "latchkey serve --port"])
  test(`survives a log whose reader has closed, and counts the dropped lines in /metrics: ${started}`, async (t) => {
    const port = await freePort();
    const service = await start(t, port, started === "latchkey" ? [] : ["serve", "--port", String(port)]);

    service.child.stdout!.destroy();
    for (let round = 0; round < 200; round++) await (await fetch(`${service.address}/livez`)).text();

    const deadline = Date.now() + 5000;
    while ((await lost(service)) === 0) assert.ok(Date.now() < deadline);
    service.child.kill("SIGTERM");
    assert.equal(await service.ended, 0);
  });

test("stops within six seconds of SIGTERM if the reader of the log does not read", async (t) => {
  const service = await start(t, await freePort());
  const long = `/${"x/".repeat(3000)}`;

  for (let round = 0; round < 20; round++)
    await Promise.all(Array.from({ length: 50 }, () => fetch(service.address + long).then((answer) => answer.text())));

  assert.equal((await fetch(`${service.address}/livez`)).status, 200);
  const startedAt = performance.now();
  service.child.kill("SIGTERM");
  assert.equal(await service.ended, 0);
  assert.ok(performance.now() - startedAt < 6000);
});
