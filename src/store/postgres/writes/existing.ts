import type { Parameters } from "../../sql/dialect.ts";
import {
  deleteAllExisting,
  deleteExisting,
  insertExisting,
  updateAllExisting,
  updateExisting,
} from "../../sql/existing/writes.ts";
import type { Table } from "../../sql/schema/table.ts";
import type { Assignment } from "../../sql/writes.ts";
import type { Change } from "../../store.ts";
import { unprepared, type Statement } from "../parameters.ts";

/** What a change of a table that was there before is made of. */
interface Making {
  readonly values: Parameters;
  /** The place of the key; null where the database is to give one. */
  readonly key: string | null;
  /** The setting that tells the statements behind it which key that was. */
  readonly setting: string;
  set(): readonly Assignment[];
}

type Written = Exclude<Change, { readonly kind: "require" | "forget" }>;

/**
 * A change of a table that was there before, as one statement. It gives no row: what the database has made of it, triggers and all, is read
 * at the end of the transaction. Nothing is kept prepared, since it would keep the types that the columns had: an integer that became a bigint.
 */
export function compileExisting(table: Table, change: Written, { values, key, setting, set }: Making): Statement {
  switch (change.kind) {
    case "insert": {
      const sql = insertExisting(table, key, set());
      const told = `set_config(${values.place(setting)}, ${table.existing!.nameOf("id")}::text, TRUE)`;
      return unprepared(`${sql} RETURNING ${told}`, values.values);
    }
    case "update": {
      const sql = updateExisting(table, set(), key!, change.revision, values);
      return unprepared(orRefused(table, sql, key!, change.revision), values.values);
    }
    case "delete": {
      const sql = deleteExisting(table, key!, change.revision, values);
      return unprepared(orRefused(table, sql, key!, change.revision), values.values);
    }
    case "updateAll":
      return unprepared(updateAllExisting(table, set(), change, values), values.values);
    case "deleteAll":
      return unprepared(deleteAllExisting(table, change, values), values.values);
    case "add":
      throw new TypeError(`A row of ${table.collection.existing!.table} is not made by adding to it`);
  }
}

/** Raises why no row was found in that state. */
function orRefused({ name, id }: Table, sql: string, key: string, revision: number | undefined): string {
  const there = `EXISTS (SELECT FROM ${name} WHERE ${id.compared} = ${id.operand(key)})`;
  const reason = revision === undefined ? "'missing'" : `CASE WHEN ${there} THEN 'stale' ELSE 'missing' END`;
  return `WITH changed AS (${sql} RETURNING 1) SELECT latchkey_refuse(${reason}) WHERE NOT EXISTS (SELECT FROM changed)`;
}
