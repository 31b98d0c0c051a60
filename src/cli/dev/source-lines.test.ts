import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { type TestContext } from "node:test";
import { explainFault } from "./source-lines.ts";

const plain = (_style: unknown, text: string): string => text;

/** Creates a project. Only `shop.ts` is a source file that may be shown. The other files contain secrets. */
function project(t: TestContext): string {
  const outside = mkdtempSync(path.join(tmpdir(), "latchkey-lines-"));
  t.after(() => rmSync(outside, { recursive: true }));
  const directory = path.join(outside, "project");
  mkdirSync(directory);
  writeFileSync(path.join(outside, "outside.txt"), "secret\n".repeat(9));
  writeFileSync(path.join(directory, "shop.ts"), "one\ntwo\nthree\nfour\n");
  writeFileSync(path.join(directory, "large.ts"), "secret\n".repeat(200_000));
  symlinkSync(path.join(outside, "outside.txt"), path.join(directory, "link.ts"));
  mkdirSync(path.join(directory, "folder.ts"));
  return directory;
}

function thrownAt(place: string, message = "no such thing"): Error {
  const error = new Error(message);
  error.stack = `Error: ${message}\n    at f (${place}:2:3)\n    at node:internal/x:1:1`;
  return error;
}

test("shows the lines of the project around a fault", (t) => {
  const directory = project(t);

  const explanation = explainFault(thrownAt(`${directory}/shop.ts`), directory, plain);

  assert.match(
    explanation,
    /^Error: no such thing\nshop\.ts:2\n {2}1 \| one\n> 2 \| two\n {6,}\^\n {2}3 \| three\n {2}4 \| four\n/,
  );
});

test("does not mistake a line of a message for a stack frame", (t) => {
  const directory = project(t);
  const named = `x\n  at f (${directory}/shop.ts:2:3)`;
  const errors = [new Error(named), new Error("outer", { cause: new TypeError(named) })];
  const renamed = new Error(named);
  renamed.message = "another message";

  for (const error of [...errors, renamed]) assert.doesNotMatch(explainFault(error, directory, plain), /\| two/);
});

test("reads only regular files of the project, of 1 MiB at most", (t) => {
  const directory = project(t);
  if (process.platform !== "win32") execFileSync("mkfifo", [path.join(directory, "fifo.ts")]);
  const places = ["../outside.txt", "link.ts", "folder.ts", "large.ts", "fifo.ts", "missing.ts"];

  for (const place of ["/etc/passwd", "/dev/zero", ...places.map((each) => path.join(directory, each))]) {
    const explanation = explainFault(thrownAt(place), directory, plain);
    assert.doesNotMatch(explanation, / \| /, place);
  }
});

test("escapes terminal commands in a message", (t) => {
  const directory = project(t);
  const message = "\u001b]0;owned\u0007\u001b[31m\r\u009b2J\u202e";
  const shown = String.raw`\u001b]0;owned\u0007\u001b[31m\u000d\u009b2J\u202e`;

  for (const thrown of [thrownAt(`${directory}/shop.ts`, message), message, new Error("x", { cause: message })]) {
    const explanation = explainFault(thrown, directory, plain);
    assert.ok(explanation.includes(shown), explanation);
    assert.doesNotMatch(explanation, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  }
});
