import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { catalogue } from "../src/door/http.ts";

test("docs/errors.md has every problem as the catalogue has it", () => {
  const page = readFileSync(path.join(import.meta.dirname, "../docs/errors.md"), "utf8");
  const rows = page.split("\n").filter((line) => /^\| \d{3} \|/.test(line));

  const expected = Object.entries(catalogue).map(
    ([code, { status, title, cure }]) => `| ${status} | \`${code}\` | ${title} | ${cure} |`,
  );
  assert.deepEqual(rows, expected);
});
