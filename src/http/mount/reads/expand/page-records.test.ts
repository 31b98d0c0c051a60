import assert from "node:assert/strict";
import { test } from "node:test";
import type { ListText, StoredRecord } from "../../../../store/store.ts";
import { cutPage } from "./page-records.ts";

const buildPage = (records: readonly StoredRecord[]): ListText => ({
  json: JSON.stringify(records),
  count: records.length,
  more: false,
  first: null,
  last: null,
});

const cut = (records: readonly StoredRecord[], columns = Object.keys(records[0] ?? {})) =>
  cutPage(buildPage(records), columns, {});

test("cuts a page into its records, also if values contain the characters between records", () => {
  const pages: StoredRecord[][] = [
    [],
    [{ id: 1 }],
    [{ id: 1 }, { id: -20 }, { id: Number.MAX_SAFE_INTEGER }],
    [{ id: "a,b" }, { id: '"},{"id":"' }, { id: "\\" }],
    [
      { id: 1, name: '},{"id":7', tags: [1, 2] },
      { id: 2, name: '\\"},{\\"id', tags: [] },
      { id: 3, name: null, tags: ["}", "{", '},{"'] },
    ],
  ];
  for (const records of pages) {
    const places = cut(records)!;
    assert.deepEqual(
      places.map(({ id }) => id),
      records.map(({ id }) => id),
    );
    assert.deepEqual(
      places.map(({ members }) => `{"${members}}`),
      records.map((record) => JSON.stringify(record)),
    );
    assert.deepEqual(
      places.map(({ record }) => record),
      records,
    );
  }
});

test("does not cut a page if a value contains objects, or if the members of a record are not exactly the columns", () => {
  const records = [{ id: 1, notes: [{ a: 1 }, { b: 2 }] }] as unknown as StoredRecord[];
  assert.equal(cut(records), null);
  assert.equal(cut([{ id: 1, name: "Ann", pin: 1 }], ["id", "name"]), null);
  assert.equal(cut([{ id: 1, name: "Ann" }], ["id"]), null);
  assert.equal(cut([{ id: 1, name: "Ann" }], ["id", "name", "age"]), null);
  assert.equal(cut([{ id: 1, name: "Ann" }], ["name", "id"]), null);
  assert.equal(cut([{ name: "Ann", id: 1 }]), null);
});
