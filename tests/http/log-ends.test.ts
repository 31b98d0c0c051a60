import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { makeLog } from "../../src/features/ops/log/log.ts";
import { command } from "../harness/command.ts";
import { freePort } from "../harness/free-port.ts";

/** A config file with endpoints that stop the process right after a log line, before the event loop can run a timer. */
const config = `
  export default {
    endpoints: [{
      method: "GET", path: "/fall", access: "open",
      handle() {
        setImmediate(() => process.kill(process.pid, "SIGKILL"));
        throw new Error("planted");
      },
    }, {
      method: "GET", path: "/leave", access: "open",
      handle() {
        setImmediate(() => process.exit(7));
        return { status: 204, headers: [] };
      },
    }],
  };
`;

/** Functions that start the command, by the destination of its log. */
const outputs = {
  "a pipe": (folder: string) => run(folder, process.execPath, [command], "pipe"),
  "a file": (folder: string) => run(folder, process.execPath, [command], openSync(path.join(folder, "log"), "w")),
  "a terminal": (folder: string) =>
    run(folder, "script", ["--quiet", "--return", "--command", `${process.execPath} ${command}`, "/dev/null"], "pipe"),
} as const;

for (const [output, begin] of Object.entries(outputs)) {
  test(`writes a fault to ${output} even if the process is killed right afterwards`, async (t) => {
    const said = await saidAfter(t, begin, "/fall");

    assert.match(said, /"event":"fault",.*"error":"Error: planted/);
  });
}

test("writes the waiting log lines if a handler calls process.exit", async (t) => {
  const said = await saidAfter(t, outputs["a pipe"], "/leave");

  assert.match(said, /"event":"request",.*"path":"\/leave"/);
});

test("writes an error immediately with all waiting lines, and every other line within 50 ms", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const written: string[] = [];
  const { observe } = makeLog("info", (text) => written.push(text))!;

  observe({ kind: "notice", level: "info", message: "one" });
  assert.equal(written.length, 0);
  observe({ kind: "notice", level: "error", message: "two" });
  assert.deepEqual(readMessages(written), ["one", "two"]);
  observe({ kind: "notice", level: "info", message: "three" });
  t.mock.timers.tick(49);
  assert.deepEqual(readMessages(written), ["one", "two", "three"]);
});

function readMessages(written: readonly string[]): string[] {
  const lines = written.join("").trim().split("\n");
  return lines.map((line) => (JSON.parse(line) as { readonly message: string }).message);
}

interface Running {
  readonly address: string;
  /** The whole output after the exit. */
  readonly said: Promise<string>;
}

async function saidAfter(t: TestContext, begin: (folder: string) => Promise<Running>, target: string): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-log-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(path.join(folder, "latchkey.config.ts"), config);
  const { address, said } = await begin(folder);
  await fetch(address + target).catch(() => undefined);
  return said;
}

async function run(folder: string, file: string, args: readonly string[], output: number | "pipe"): Promise<Running> {
  const port = await freePort();
  const child = spawn(file, args, {
    cwd: folder,
    env: { ...process.env, LATCHKEY_PORT: String(port), LATCHKEY_ADMIN_PASSWORD: "of the one that falls" },
    stdio: ["ignore", output, "inherit"],
  });
  const ended = once(child, "close");
  let text = "";
  child.stdout?.on("data", (chunk) => (text += String(chunk)));
  const address = `http://127.0.0.1:${port}`;
  const answers = (): Promise<boolean> => fetch(`${address}/livez`).then(Boolean, () => false);
  while (!(await answers())) assert.equal(child.exitCode, null, text);
  const said = ended.then(() => (output === "pipe" ? text : readFileSync(path.join(folder, "log"), "utf8")));
  return { address, said };
}
