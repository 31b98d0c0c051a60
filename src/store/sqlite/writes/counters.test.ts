import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { Change, Collection } from "../../store.ts";
import { sqliteStore } from "../sqlite.ts";
import { firstFree } from "./counters.ts";

const notes: Collection = { name: "notes", key: "integer", columns: [{ name: "text", type: "text" }] };

test("finds the first free key after a million taken keys in a few steps", () => {
  let checkCount = 0;
  const isTaken = (key: number): boolean => {
    checkCount++;
    return key <= 1_000_001;
  };

  assert.equal(firstFree(2, isTaken), 1_000_002);
  assert.ok(checkCount < 50, `${checkCount} keys were checked`);
});

test("returns a free key if a key at one of the steps of the search is free", () => {
  for (const named of [[3], [3, 4, 6], [3, 4, 5, 6, 7, 9], [3, 4, 5, 7, 11, 19], [3, Number.MAX_SAFE_INTEGER]]) {
    const free = firstFree(3, (key) => named.includes(key));

    assert.ok(free > 3 && !named.includes(free) && free < 30, `${free} was returned, and ${named.join()} are taken`);
  }
});

test("returns the next key if the keys at all steps of the search are taken", () => {
  const named = [3, ...Array.from({ length: 53 }, (_, power) => 3 + 2 ** power)];

  assert.equal(
    firstFree(3, (key) => named.includes(key)),
    4,
  );
});

test("removes a part of the taken keys below the counter in one write, and the rest in the next writes", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-counters-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "test.db");
  const add = async (): Promise<unknown> => {
    const change = { kind: "insert", collection: notes, values: { text: "" } } as const;
    const outcome = await store.write({ changes: [change] });
    return outcome.kind === "written" ? outcome.rows[0]!.record["id"] : outcome.kind;
  };
  const left = (): unknown => {
    using database = new DatabaseSync(file);
    return database.prepare("SELECT count(*) AS n FROM latchkey_taken_keys").get()!["n"];
  };
  let store = sqliteStore({ path: file });
  await store.open([notes]);
  const sql =
    "WITH RECURSIVE series(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM series WHERE n < 1300) INSERT INTO latchkey_taken_keys SELECT 'notes', n FROM series";
  {
    using database = new DatabaseSync(file);
    database.exec(sql);
  }

  assert.deepEqual([await add(), await add(), left()], [1, 1301, 799]);
  await store.close();
  store = sqliteStore({ path: file });
  await store.open([notes]);
  assert.deepEqual([await add(), left()], [1302, 299]);
  assert.deepEqual([await add(), left()], [1303, 0]);
  await store.close();
});

test("increases the revision with each commit that changes a row, and with no other commit", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-counters-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "test.db");
  const store = sqliteStore({ path: file });
  await store.open([notes]);
  const revision = (): unknown => {
    using database = new DatabaseSync(file);
    return database.prepare("SELECT revision FROM latchkey_revision").get()!["revision"];
  };
  const after = async (...changes: readonly Change[]): Promise<unknown> => {
    await store.write({ changes });
    return revision();
  };

  const revisions = [
    await after({ kind: "insert", collection: notes, values: { text: "" } }),
    await after({ kind: "delete", collection: notes, key: 7, revision: 1 }),
    await after(),
    await after({ kind: "delete", collection: notes, key: 1, revision: 1 }),
  ];

  assert.deepEqual(revisions, [1, 1, 1, 2]);
  await store.close();
});
