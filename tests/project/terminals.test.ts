import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { Writable } from "node:stream";
import { test, type TestContext } from "node:test";
import { peopleLog } from "../../src/cli/dev/people-log.ts";
import { printFailure } from "../../src/cli/failure.ts";
import { CommandFailed, print, printError, show, showList } from "../../src/cli/output.ts";
import { makeLog, type Observation } from "../../src/door/ops.ts";
import { guardObserver } from "../../src/feature/observers.ts";
import { printFaults } from "../../src/features/ops/log/print-faults.ts";

/** A terminal title, red color, C1's clear command, a carriage return and a right-to-left override. */
const hostile = "\u001b]0;owned\u0007\u001b[41m\u009b2J\r\u007f\u202e";
const shown = String.raw`\u001b]0;owned\u0007\u001b[41m\u009b2J`;

const fault = { kind: "fault", requestId: "x", error: new Error(hostile) } as const;
const notice = { kind: "notice", level: "error", message: hostile } as const;
const refused = { kind: "refused", reason: "malformed", address: null, detail: hostile } as unknown as Observation;

/** Each way to a terminal or a log, with the hostile text. */
const ways: Readonly<Record<string, (stream: NodeJS.WriteStream) => unknown>> = {
  "the default observer": () => [fault, notice].forEach(printFaults("shop")),
  "an observer that fails": () => {
    const observe = guardObserver(() => {
      throw new Error(hostile);
    }, "shop");
    observe(notice);
  },
  "the JSON log": () => {
    const log = makeLog("info", (text) => void process.stdout.write(text))!;
    for (const each of [fault, notice, refused]) log.observe(each);
    log.flush();
  },
  "the log of latchkey dev": (stream) => [fault, notice, refused].forEach(peopleLog(stream, process.cwd())),
  "a failed command": () => [true, false].forEach((asJSON) => printFailure(new CommandFailed(hostile, "x"), asJSON)),
  "an answer of a command": () => {
    for (const asJSON of [true, false]) show(asJSON, { hostile }, hostile);
    print(hostile);
    printError(hostile);
  },
  "a list of a command": () => showList(false, [[{ name: hostile }]], ["name"]),
};

for (const [name, write] of Object.entries(ways))
  test(`escapes control characters of callers' input before it is written: ${name}`, async (t) => {
    const written = await writtenBy(t, write);

    assert.ok(written.includes(shown), written);
    assert.doesNotMatch(written, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
  });

/** Returns the output of a function. */
async function writtenBy(t: TestContext, run: (stream: NodeJS.WriteStream) => unknown): Promise<string> {
  let written = "";
  const take = (text: string): boolean => {
    written += text;
    return true;
  };
  const stream = new Writable({ write: (chunk, _, done) => done(take(String(chunk)) ? null : undefined) });
  for (const each of [process.stdout, process.stderr]) t.mock.method(each, "write", take);
  await run(stream as unknown as NodeJS.WriteStream);
  t.mock.restoreAll();
  return written;
}

test("writes to standard output and error only in the few files that make text safe", () => {
  const source = path.join(import.meta.dirname, "../../src");
  const files = globSync("**/*.ts", { cwd: source }).filter((file) => !file.endsWith(".test.ts"));

  const writing = files.filter((file) => {
    const text = readFileSync(path.join(source, file), "utf8");
    return /\bstd(?:out|err)\.write\(|\bwriteSync\([12],|^[^*]*\bconsole\.\w+\(/m.test(text);
  });

  assert.deepEqual(writing.toSorted(), [
    // A sentence without values, for an old Node that cannot load the rest.
    "cli/latchkey.ts",
    "cli/output.ts",
    "cli/serving/ending.ts",
    "core/standard-error.ts",
    // The seed of a test, a number.
    "testing/factories/factory.ts",
  ]);
});
