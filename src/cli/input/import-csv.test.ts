import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readCSV, usersCSV, type CSVLine } from "./import-csv.ts";

async function read(...lines: readonly string[]): Promise<CSVLine[]> {
  const rows: CSVLine[] = [];
  for await (const row of readCSV(each(lines), usersCSV)) rows.push(row);
  return rows;
}

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

test("accepts commas, semicolons or tabs between values, and detects them from the header", async () => {
  for (const mark of [",", ";", "\t"]) {
    const [row] = await read(`Email${mark}Name`, `a@example.com${mark}"A ""B"""`);

    assert.deepEqual(row, { line: 2, record: { email: "a@example.com", name: 'A "B"' } });
  }
});

test("accepts line breaks in a value that is not imported", async () => {
  const rows = await read("email,notes,name", 'a@example.com,"one', 'two",A', "b@example.com,,B");

  assert.deepEqual(rows, [
    { line: 2, record: { email: "a@example.com", notes: "one\ntwo", name: "A" } },
    { line: 4, record: { email: "b@example.com", notes: "", name: "B" } },
  ]);
});

test("refuses only the lines with a missing quote", async () => {
  const rows = await read("email,name", 'a@example.com,"A', "b@example.com,B", 'c@example.com,"C', "d@example.com,D");

  assert.deepEqual(
    rows.map((row) => [row.line, "record" in row ? row.record["name"] : null]),
    [
      [2, null],
      [3, "B"],
      [4, null],
      [5, "D"],
    ],
  );
});

test("does not drop the text after a carriage return in a CSV row", async () => {
  const rows = await read("email,name", "a@example.com,A\rb@example.com,B", 'c@example.com,"C"\rd@example.com,D');

  assert.deepEqual(
    rows.map((row) => ("reasons" in row ? row.reasons : row)),
    [["It has 3 values, but the header has 2."], ["Its quotes do not match."]],
  );
});

test("refuses a header without the column email, or with a duplicate column", async () => {
  await assert.rejects(read("name,username", "A,a"), /no column email/);
  await assert.rejects(read("email,name,Name"), /column name twice/);
});

test("returns a result for every line and reads the valid ones, for any input", async () => {
  const junk = fc
    .string({ unit: fc.constantFrom('"', ",", "a", " ", "'"), minLength: 1, maxLength: 12 })
    .filter((text) => text.trim() !== "");
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(junk, fc.constant("good@example.com,Good"))), async (lines) => {
      const rows = await read("email,name", ...lines);

      assert.deepEqual(
        rows.map(({ line }) => line),
        lines.map((_, at) => at + 2),
      );
      for (const [at, line] of lines.entries()) {
        if (line.startsWith("good"))
          assert.deepEqual(rows[at], { line: at + 2, record: { email: "good@example.com", name: "Good" } });
      }
    }),
  );
});
