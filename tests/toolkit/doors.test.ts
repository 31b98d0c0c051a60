import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { exportedNames } from "../../tools/names.ts";

const root = path.join(import.meta.dirname, "../..");
const doors = exportedNames();

test("what a first product needs is at most 45 names", () => {
  assert.ok(doors.get("latchkey")!.length <= 45, String(doors.get("latchkey")!.length));
});

test("no name stands in two doors", () => {
  const all = [...doors].flatMap(([door, names]) => names.map(({ name }) => ({ door, name })));
  const twice = all.filter(({ door, name }) => all.some((other) => other.name === name && other.door !== door));

  assert.deepEqual(twice, []);
});

test("each door is an entry of the package, of its types and of what runs from source", () => {
  const { exports } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const { compilerOptions } = JSON.parse(readFileSync(path.join(root, "tsconfig.json"), "utf8"));

  for (const specifier of doors.keys()) {
    const { types, default: built } = exports[specifier.replace("latchkey", ".")];

    assert.equal(types, built.replace(/\.js$/, ".d.ts"));
    assert.deepEqual(compilerOptions.paths[specifier], [built.replace("/dist/", "/src/").replace(/\.js$/, ".ts")]);
  }
});
