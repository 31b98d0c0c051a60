import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { catalogue } from "../../src/door/http.ts";

const root = path.join(import.meta.dirname, "../..");
const page = readFileSync(path.join(root, "docs/errors.md"), "utf8");

/** The patterns of source code that reports a code for a field, a parameter or a position in a body. */
const saying = [
  /new Flaw\(\s*"(\w+)"/g,
  /\b(?:say|wrong)\([\w"/.-]+, "(\w+)"/g,
  /\bcode: "(\w+)"(?:, detail|,\s+detail)/g,
  /\["(\w+)", "The parameter /g,
];

test("lists every code of an issue in docs/errors.md", () => {
  const files = globSync("src/{access,http,features/auth,resource,service}/**/*.ts", { cwd: root });
  const said = files
    .filter((file) => !file.endsWith(".test.ts"))
    .flatMap((file) => {
      const source = readFileSync(path.join(root, file), "utf8");
      return saying.flatMap((pattern) => Array.from(source.matchAll(pattern), ([, code]) => code!));
    });
  const paragraph = /^Codes in `errors` are .*?\n\n/ms.exec(page)![0];

  const missing = new Set(said.filter((code) => !paragraph.includes(`\`${code}\``)));
  assert.deepEqual([...missing], []);
  assert.ok(said.length > 50 && new Set(said).size > 15, String([...new Set(said)]));
});

test("lists every problem of the catalogue in docs/errors.md", () => {
  const rows = page.split("\n").filter((line) => /^- \d{3} /.test(line));

  const expected = Object.entries(catalogue).map(([code, { status, cure }]) => `- ${status} \`${code}\`: ${cure}`);
  assert.deepEqual(rows, expected);
});
