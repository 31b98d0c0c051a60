import { encode } from "../../sql/codec.ts";
import { parametersOf } from "../../sql/dialect.ts";
import {
  deleteAllExisting,
  deleteExisting,
  insertExisting,
  updateAllExisting,
  updateExisting,
} from "../../sql/existing/writes.ts";
import type { Table } from "../../sql/schema/table.ts";
import { assign, type KeyFinder } from "../../sql/writes.ts";
import type { Collection, Key, Row } from "../../store.ts";
import type { Statement } from "../connection.ts";
import { sqlite } from "../dialect.ts";
import { keyIn, type RowChange } from "../named.ts";

/** What changes of tables that were there before are made with. */
interface Making {
  prepared(sql: string): Statement;
  read(collection: Collection, key: Key): Row | null;
}

/** The row that a change of such a table has left, null where it has none of its own; undefined where none was there in that state. */
export function changeExisting(
  { prepared, read }: Making,
  table: Table,
  change: Exclude<RowChange, { readonly kind: "require" }>,
  keys: readonly (Key | null)[],
): Row | null | undefined {
  const values = parametersOf(sqlite);
  const findKey: KeyFinder = (column, key) => encode(sqlite, column, keyIn(key, keys));
  switch (change.kind) {
    case "insert": {
      const given = change.key === undefined ? undefined : keyIn(change.key, keys);
      const key = given === undefined ? null : values.place(encode(sqlite, table.id, given));
      const sql = insertExisting(table, key, assign(table, change.values, values, findKey));
      const made = prepared(`${sql} RETURNING ${table.existing!.nameOf("id")}`).get(...values.values)![0];
      // Read again: a trigger may have changed it.
      const row = made === null ? null : read(table.collection, made as Key);
      if (row === null)
        throw new TypeError(`A new row of ${table.collection.existing!.table} has no key, or is gone again`);
      return row;
    }
    case "update": {
      const set = assign(table, change.values, values, findKey);
      const sql = updateExisting(table, set, values.place(change.key), change.revision, values);
      const { changes } = prepared(sql).run(...values.values);
      return changes === 0 ? undefined : (read(table.collection, change.key) ?? undefined);
    }
    case "delete": {
      const sql = deleteExisting(table, values.place(change.key), change.revision, values);
      return prepared(sql).run(...values.values).changes === 0 ? undefined : null;
    }
    case "updateAll": {
      const set = assign(table, change.values, values, findKey);
      prepared(updateAllExisting(table, set, change, values)).run(...values.values);
      return null;
    }
    case "deleteAll":
      prepared(deleteAllExisting(table, change, values)).run(...values.values);
      return null;
    case "add":
      throw new TypeError(`A row of ${table.collection.existing!.table} is not made by adding to it`);
  }
}
