import assert from "node:assert/strict";
import { test } from "node:test";
import type { Collection } from "../../store.ts";
import { connect, createStatementCache } from "../connection/connection.ts";
import { getTable } from "../dialect.ts";
import { prepareSchema } from "../schema.ts";
import { estimateRows } from "./estimate.ts";

const things: Collection = { name: "things", key: "integer", columns: [] };

for (const [title, keys, condition] of [
  ["few rows, which are counted", 1000, "1"],
  ["every key exists", 50_000, "1"],
  ["every second key exists", 50_000, "id % 2 = 0"],
  ["one key of seven exists", 200_000, "id % 7 = 3"],
  ["only the first and the last part of the keys exist", 50_000, "id < 20000 OR id > 30000"],
  ["hardly any key exists: returns null", 400_000, "id % 30 = 0"],
] as const)
  test(`estimates the number of rows: ${title}`, () => {
    const database = connect(":memory:");
    prepareSchema(database, [things]);
    database.exec(`
      WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < ${keys})
      INSERT INTO things (id, _revision) SELECT id, id FROM n WHERE ${condition}`);
    const [count] = database.prepare("SELECT count(*) FROM things").get() as unknown as [number];

    const estimate = estimateRows(getTable(things), createStatementCache(database));

    if (title.startsWith("hardly")) assert.equal(estimate, null);
    else assert.ok(Math.abs(estimate! / count - 1) < 0.2, `${estimate} of ${count}`);
  });
