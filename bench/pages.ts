/**
 * Measures the cost of a page near the end of a list, compared with the first page: 1,000,000 rows, in each sort order,
 * reached by keyset.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Change, type Collection, type ListQuery, type Sort, sqliteStore } from "../src/door/stores.ts";
import { median } from "./round.ts";

const rowCount = 1_000_000;
const batch = 20_000;
const collection: Collection = {
  name: "people",
  key: "integer",
  columns: [
    { name: "name", type: "text" },
    { name: "age", type: "integer" },
  ],
  indexes: [
    ["name", "id"],
    ["age", "id"],
  ],
};
const orders: readonly (readonly Sort[])[] = [
  [{ column: "id" }],
  [{ column: "name" }, { column: "id" }],
  [{ column: "name", descending: true }, { column: "id" }],
  [{ column: "age", descending: true }, { column: "name" }, { column: "id" }],
];

const folder = mkdtempSync(path.join(tmpdir(), "latchkey-pages-"));
const store = sqliteStore({ path: path.join(folder, "pages.db") });
await store.open([{ ...collection, indexes: [...collection.indexes!, ["age", "name", "id"]] }]);
for (let at = 0; at < rowCount; at += batch) {
  const changes = Array.from({ length: batch }, (_, offset): Change => {
    const number = at + offset;
    return { kind: "insert", collection, values: { name: `Person ${(number * 7919) % rowCount}`, age: number % 90 } };
  });
  await store.write({ changes });
}

const rows: Record<string, Record<string, string>> = {};
for (const sort of orders) {
  const name = sort.map(({ column, descending }) => (descending === true ? `-${column}` : column)).join(",");
  const page: ListQuery = { collection, where: null, sort, limit: 100 };
  // Finds the row before the far page in the reversed list, so that the benchmark does not have to read all pages
  // before it.
  const reversed = sort.map(({ column, descending }) => ({ column, descending: descending !== true }));
  const [far] = (await store.list({ ...page, sort: reversed, limit: 5000 })).slice(-1);
  const last: ListQuery = { ...page, after: sort.map(({ column }) => far!.record[column]!) };
  const one = await measureMicroseconds(page);
  const million = await measureMicroseconds(last);
  rows[name] = {
    "page one µs": one.toFixed(1),
    "last pages µs": million.toFixed(1),
    ratio: (million / one).toFixed(2),
    target: "1.20 or less",
  };
}
console.table(rows);
await store.close();
rmSync(folder, { recursive: true, force: true });

async function measureMicroseconds(query: ListQuery): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < 600; run++) {
    const start = performance.now();
    // A new query object each time, because the store would answer the same object from its cache.
    await store.listJSON({ ...query });
    if (run >= 100) times.push((performance.now() - start) * 1000);
  }
  return median(times);
}
