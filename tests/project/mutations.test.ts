import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { collectConditions } from "../../tools/mutations/conditions.ts";
import { decisions } from "../../tools/mutations/decisions.ts";
import { equivalent } from "../../tools/mutations/equivalent.ts";
import { selected } from "../../tools/mutations/selected.ts";
import { unfound } from "../../tools/mutations/unfound.ts";

// Run by hand, `rule-mutations` would fail only long after a function was renamed.
const root = path.join(import.meta.dirname, "../..");

test("finds each selected condition in its file", () => {
  const wrong: string[] = [];
  const found = new Set<string>();
  for (const [kind, { files }] of Object.entries(selected))
    for (const [file, selection] of Object.entries(files))
      try {
        for (const { change } of collectConditions(root, file, selection)) found.add(`${file} ${change}`);
      } catch (error) {
        wrong.push(`${kind}: ${String(error)}`);
      }

  const gone = Object.keys(equivalent).filter((name) => !found.has(name));
  assert.deepEqual([...wrong, ...gone], []);
});

test("gives reasons only for decisions that are in their files", () => {
  const found = new Set(
    Object.entries(decisions).flatMap(([file, selection]) =>
      collectConditions(root, file, selection).map(({ change }) => `${file} ${change}`),
    ),
  );

  const gone = Object.keys(unfound).filter((name) => !found.has(name));
  assert.deepEqual(gone, []);
});

test("names only test files that exist for the selected conditions", () => {
  const tests = Object.values(selected).flatMap((each) => each.tests);

  const missing = tests.filter((file) => !existsSync(path.join(root, file)));
  assert.deepEqual(missing, []);
});
