import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { exportedNames } from "../../tools/names.ts";

const root = path.join(import.meta.dirname, "../..");
const doors = exportedNames();

test("exports at most 45 names from the first entry point, `latchkey`", () => {
  assert.ok(doors.get("latchkey")!.length <= 45, String(doors.get("latchkey")!.length));
});

test("exports no name from two entry points", () => {
  const all = [...doors].flatMap(([door, names]) => names.map(({ name }) => ({ door, name })));
  const twice = all.filter(({ door, name }) => all.some((other) => other.name === name && other.door !== door));

  assert.deepEqual(twice, []);
});

test("lists each entry point in package.json with its types, and in tsconfig.json with its source", () => {
  const { exports } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const { compilerOptions } = JSON.parse(readFileSync(path.join(root, "tsconfig.json"), "utf8"));

  for (const specifier of doors.keys()) {
    const { types, default: built } = exports[specifier.replace("latchkey", ".")];

    assert.equal(types, built.replace(/\.js$/, ".d.ts"));
    assert.deepEqual(compilerOptions.paths[specifier], [built.replace("/dist/", "/src/").replace(/\.js$/, ".ts")]);
  }
});
