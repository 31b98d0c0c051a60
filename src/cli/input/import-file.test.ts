import assert from "node:assert/strict";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { openRecordFile } from "./import-file.ts";

test("refuses an array that is too long to read at once, and reports how to convert the file", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-import-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, "records.json");
  writeFileSync(file, "[ ");
  truncateSync(file, 300 * 1024 * 1024);

  const opened = openRecordFile(file, null, () => true);

  await assert.rejects(opened, /more than 268435456 characters.*jq -c/);
});
