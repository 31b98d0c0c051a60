import assert from "node:assert/strict";
import { test } from "node:test";
import { isObject } from "../../core/checking/members.ts";
import { json } from "../formats/json.ts";
import { negotiate } from "../formats/negotiate.ts";
import { xml } from "../formats/xml.ts";
import type { Format } from "./format.ts";

/** A custom format, as a user of the toolkit would write it. */
const csv = {
  mediaType: "text/csv",
  problemMediaType: json.problemMediaType,
  tagSuffix: "-csv",
  shows: "lists",
  writeProblem: json.writeProblem,
  write({ value }) {
    const rows = (value as unknown[]).filter(isObject);
    const columns = Object.keys(rows[0] ?? {});
    return [columns, ...rows.map((row) => columns.map((column) => row[column]))]
      .map((cells) => `${cells.map(cell).join(",")}\r\n`)
      .join("");
  },
} satisfies Format;

function cell(value: unknown): string {
  const text = String(value ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

test("negotiates and writes lists in a custom format", () => {
  const format = negotiate("text/csv", [json, xml, csv]);

  assert.equal(format, csv);
  assert.equal(
    csv.write({ value: [{ id: 1, name: 'Ann "A", Inc.' }], element: "users" }),
    'id,name\r\n1,"Ann ""A"", Inc."\r\n',
  );
});
