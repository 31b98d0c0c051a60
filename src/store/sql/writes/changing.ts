import { isKeyOf, type Change, type Key, type KeyOf, type WrittenValues } from "../../store.ts";
import { encode } from "../codec.ts";
import { parametersOf, type Parameters } from "../dialect.ts";
import {
  deleteAllExisting,
  deleteExisting,
  insertExisting,
  updateAllExisting,
  updateExisting,
} from "../existing/writes.ts";
import type { Statement } from "../schema/script.ts";
import type { Table } from "../schema/table.ts";
import {
  assign,
  assignments,
  countUpTo,
  deleteAll,
  insertInto,
  isRow,
  isSQL,
  orAdd,
  requireCounter,
  updateAll,
  type Assignment,
  type KeyFinder,
} from "./writes.ts";

/** A change, whether it has its collection or that goes by its name. */
export type AnyChange<Kind extends Change["kind"] = Change["kind"]> = Kind extends Kind
  ? Omit<Extract<Change, { readonly kind: Kind }>, "collection">
  : never;

/** How a database makes what changes have in common. */
export interface Making {
  /** SQL for the next revision; `ofMany`: another one for each row. */
  revision(values: Parameters, ofMany: boolean): string;
  /** SQL for a key that comes with its row, so that it is never handed out. */
  takenKey(table: Table, place: string): string;
  /** What a new row of a table that was there before tells of its key; `name` is the column. */
  toldKey(name: string, values: Parameters): string;
  /** The statement that changes one row: it tells the row where that is wanted. Where none was changed it may say why. */
  orRefused(one: ChangeOfOne): string;
  /** Written behind the condition of a removal: what has to be true of the table besides. */
  readonly onlyIf: string;
  readonly findKey: KeyFinder;
}

/** A change of the row with a key, in a state where one is asked for. */
export interface ChangeOfOne {
  readonly sql: string;
  readonly table: Table;
  /** The place of the key. */
  readonly key: string;
  readonly revision: number | undefined;
  readonly tellsRow: boolean;
}

/** A change as it is sent, and what comes back: the row as it is now, the key of a new one, nothing of the one that was changed, or nothing at all. */
export interface CompiledChange extends Statement {
  readonly tells: "row" | "key" | "one" | "none";
}

type Writing = AnyChange<Exclude<Change["kind"], "require" | "forget">>;

/** A change of rows as one statement. New rows of tables of ours are made by the driver, which hands out their keys. */
export function compileChange(table: Table, change: Writing, making: Making): CompiledChange {
  const values = parametersOf(table.dialect);
  return table.existing === null ? ofOurs(table, change, making, values) : ofOthers(table, change, making, values);
}

function ofOurs(table: Table, change: Writing, making: Making, values: Parameters): CompiledChange {
  const set = (given: WrittenValues): Assignment[] => assign(table, given, values, making.findKey);
  switch (change.kind) {
    case "update": {
      const put = assignments(table, making.revision(values, false), set(change.values));
      const key = placeKey(table, change.key, making, values);
      const sql = `UPDATE ${table.name} SET ${put} WHERE ${isRow(table, key, change.revision, values)}`;
      return {
        text: making.orRefused({ sql, table, key, revision: change.revision, tellsRow: true }),
        tells: "row",
        values: values.values,
      };
    }
    case "delete": {
      const key = placeKey(table, change.key, making, values);
      const only = isRow(table, key, change.revision, values) + making.onlyIf;
      const sql = `DELETE FROM ${table.name} WHERE ${only}`;
      return {
        text: making.orRefused({ sql, table, key, revision: change.revision, tellsRow: false }),
        tells: "one",
        values: values.values,
      };
    }
    case "updateAll": {
      const put = assignments(table, making.revision(values, true), set(change.values));
      return { text: updateAll(table, put, change, values), tells: "none", values: values.values };
    }
    case "deleteAll":
      return { text: deleteAll(table, change, values) + making.onlyIf, tells: "none", values: values.values };
    case "add": {
      const column = requireCounter(table, change.column);
      const key = making.takenKey(table, placeKey(table, change.key, making, values));
      const revision = making.revision(values, false);
      const row = insertInto(table, key, revision, set({ ...change.values, [change.column]: change.by }));
      return { text: `${row} ${orAdd(table, column)}`, tells: "row", values: values.values };
    }
    case "insert":
      throw new TypeError(`A new row of ${table.collection.name} gets its key from the driver`);
  }
}

/** Of a table that was there before: what the database has made of a row, triggers and all, is read afterwards. */
function ofOthers(table: Table, change: Writing, making: Making, values: Parameters): CompiledChange {
  const set = (given: WrittenValues): Assignment[] => assign(table, given, values, making.findKey);
  const ofOne = (sql: string, key: string, revision: number | undefined): CompiledChange => ({
    text: making.orRefused({ sql, table, key, revision, tellsRow: false }),
    tells: "one",
    values: values.values,
  });
  switch (change.kind) {
    case "insert": {
      const key = change.key === undefined ? null : placeKey(table, change.key, making, values);
      const sql = insertExisting(table, key, set(change.values));
      return {
        text: `${sql} RETURNING ${making.toldKey(table.existing!.nameOf("id"), values)}`,
        tells: "key",
        values: values.values,
      };
    }
    case "update": {
      const put = set(change.values);
      const key = placeKey(table, change.key, making, values);
      return ofOne(updateExisting(table, put, key, change.revision, values), key, change.revision);
    }
    case "delete": {
      const key = placeKey(table, change.key, making, values);
      return ofOne(deleteExisting(table, key, change.revision, values), key, change.revision);
    }
    case "updateAll":
      return {
        text: updateAllExisting(table, set(change.values), change, values),
        tells: "none",
        values: values.values,
      };
    case "deleteAll":
      return { text: deleteAllExisting(table, change, values), tells: "none", values: values.values };
    case "add":
      throw new TypeError(`A row of ${table.collection.existing!.table} is not made by adding to it`);
  }
}

/** How many rows a `require` has found, counted no further than it matters, and how many there have to be. `keep` locks what has to be there. */
export function compileRequire(
  table: Table,
  { where, atLeast = 0, atMost }: AnyChange<"require">,
  keep: string,
): { readonly count: string; readonly values: Parameters; readonly least: number; readonly most: number } {
  const values = parametersOf(table.dialect);
  const most = atMost ?? atLeast;
  // What must not be there cannot be kept as a row.
  const count = countUpTo(
    table,
    where,
    atMost === undefined ? most : most + 1,
    atMost === undefined ? keep : "",
    values,
  );
  return { count, values, least: atLeast, most };
}

/** Where the key stands, or SQL for one that only the database knows. */
export function placeKey(
  { id, dialect }: Table,
  key: Key | KeyOf,
  { findKey }: Pick<Making, "findKey">,
  values: Parameters,
): string {
  const cell = isKeyOf(key) ? findKey(id, key, values) : encode(dialect, id, key);
  return isSQL(cell) ? cell.sql : values.place(cell);
}

/**
 * The changes whose rows are read at the end: a later change of the same table may have altered them, a removal takes others along, and of a
 * table that was there before (`isOthers`) the database makes what it will.
 */
export function rowsToRead(
  changes: readonly { readonly kind: Change["kind"]; readonly collection: string | { readonly name: string } }[],
  isOthers: (at: number) => boolean,
): number[] {
  const altered = new Set<string>();
  const found: number[] = [];
  let hasRemoved = false;
  for (let at = changes.length - 1; at >= 0; at--) {
    const { kind, collection } = changes[at]!;
    const name = typeof collection === "string" ? collection : collection.name;
    const hasRow = kind === "insert" || kind === "update" || kind === "add";
    if (hasRow && (hasRemoved || altered.has(name) || isOthers(at))) found.push(at);
    if (kind === "delete" || kind === "deleteAll") hasRemoved = true;
    else if (kind !== "insert" && kind !== "require" && kind !== "forget") altered.add(name);
  }
  return found.reverse();
}
