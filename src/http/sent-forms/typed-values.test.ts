import assert from "node:assert/strict";
import { test } from "node:test";
import { hostileTexts, isSlow } from "../../../tests/harness/hostile-text.ts";
import { text } from "../../resource/kinds/fields.ts";
import { defineResource } from "../../resource/resource.ts";
import { readTyped } from "./typed-values.ts";

const task = defineResource({ name: "task", fields: { title: text(), note: text({ multiline: true }) } });

function read(typed: string): Readonly<Record<string, unknown>> {
  const texts = new Map([
    ["title", [typed]],
    ["note", [typed]],
  ]);
  return readTyped({ texts, resource: task, isChange: false, from: null }).body;
}

test("reads a wrapped text of a field with one line as one line", () => {
  for (const [typed, title] of [
    ["a b", "a b"],
    ["  a  ", "  a  "],
    ["a\nb", "a b"],
    ["a \n\n \n b", "a b"],
    ["  a\n b \nc  ", "  a b c  "],
    ["\na\n", " a "],
  ])
    assert.deepEqual(read(typed!), { title, note: typed });
});

test("reads the text of a form in a time that grows only with its length", () => {
  const slow = hostileTexts().filter((text) => isSlow((length) => void read(text(length))));

  assert.deepEqual(
    slow.map((text) => text(20)),
    [],
  );
});
