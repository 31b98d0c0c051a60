import { encode } from "../../sql/codec.ts";
import { parametersOf, type Cell, type Parameters } from "../../sql/dialect.ts";
import { quote } from "../../sql/names.ts";
import type { Table, TableColumn } from "../../sql/schema/table.ts";
import {
  assign,
  assignments,
  countUpTo,
  deleteAll,
  insertInto,
  isRow,
  orAdd,
  requireCounter,
  updateAll,
  type Assignment,
} from "../../sql/writes.ts";
import { isKeyOf, type Change, type Collection, type Key, type KeyOf } from "../../store.ts";
import { postgres, sequenceOf } from "../dialect.ts";
import { prepared, type Statement } from "../parameters.ts";
import { compileExisting } from "./existing.ts";
import { forgetRows } from "./idempotency.ts";

/** The key of a row that a change makes: known before it is sent, or only to the server (`later`); null where it makes none. */
export type MadeKey =
  | { readonly kind: "known"; readonly key: Key }
  | { readonly kind: "later"; readonly change: number }
  | null;

/** The setting that carries a key from the statement that made it to those behind it, to the end of the transaction. */
const settingOf = (change: number): string => `latchkey.key_${change}`;

type Of<Kind extends Change["kind"]> = Extract<Change, { readonly kind: Kind }>;

/** What a change stands among. */
export interface Among {
  /** The keys of the changes before it. */
  readonly keys: readonly MadeKey[];
  /** The place of a change whose key others speak of; null where none do. */
  readonly tellsKey: number | null;
  /** SQL that is 0, or raises that the table was changed for another declaration. */
  readonly sameShape: string;
}

/** A change as one statement, which raises a refusal where it may not be made. */
export function compileChange(table: Table, change: Change, among: Among): Statement {
  const { keys, tellsKey } = among;
  if (table.existing !== null && change.kind !== "require" && change.kind !== "forget")
    return compileExistingChange(table, change, keys, tellsKey);
  switch (change.kind) {
    case "insert":
      return compileInsert(table, change, among);
    case "update":
      return compileUpdate(table, change, among);
    case "delete":
      return compileDelete(table, change, among);
    case "updateAll":
      return compileUpdateAll(table, change, among);
    case "deleteAll": {
      const values = parametersOf(postgres);
      return prepared(`${deleteAll(table, change, values)} AND ${among.sameShape} = 0`, values.values);
    }
    case "add":
      return compileAdd(table, change, among);
    case "require":
      return compileRequire(table, change, among);
    case "forget":
      return forgetRows(change);
  }
}

/** The key of the row that a change is about; null where it is about none of its own. */
export function keyMadeBy(change: Change, at: number, keys: readonly MadeKey[]): MadeKey {
  switch (change.kind) {
    case "insert":
      if (change.key === undefined)
        return change.collection.key === "integer" || change.collection.existing !== undefined
          ? { kind: "later", change: at }
          : null;
      return isKeyOf(change.key) ? requireKey(change.key, keys) : { kind: "known", key: change.key };
    case "update":
    case "add":
      return { kind: "known", key: change.key };
    default:
      return null;
  }
}

/** The row of a change as it is when the statement runs. */
export function compileReading(table: Table, key: NonNullable<MadeKey>): Statement {
  const values = parametersOf(postgres);
  const place = placeKey(table, key, values);
  return prepared(
    `SELECT ${table.selection} FROM ${table.name} WHERE ${
      table.existing === null
        ? isRow(table, place, undefined, values)
        : `${table.id.compared} = ${table.id.operand(place)}`
    }`,
    values.values,
  );
}

/** The changes whose keys others of the transaction speak of. */
export function spokenOf(changes: readonly Change[]): Set<number> {
  const found = new Set<number>();
  for (const change of changes) {
    if ("key" in change && isKeyOf(change.key)) found.add(change.key.keyOf);
    if (!("values" in change)) continue;
    for (const value of Object.values(change.values)) if (isKeyOf(value)) found.add(value.keyOf);
  }
  return found;
}

function compileExistingChange(
  table: Table,
  change: Exclude<Change, { readonly kind: "require" | "forget" }>,
  keys: readonly MadeKey[],
  tellsKey: number | null,
): Statement {
  const values = parametersOf(postgres);
  const made = keyMadeBy(change, 0, keys);
  const isGiven = "key" in change && change.key !== undefined;
  const given: MadeKey = change.kind === "delete" ? { kind: "known", key: change.key } : made;
  return compileExisting(table, change, {
    values,
    key: isGiven && given !== null ? placeKey(table, given, values) : null,
    setting: settingOf(tellsKey ?? 0),
    set: () => ("values" in change ? assignWith(table, change.values, keys, values) : []),
  });
}

function compileInsert(table: Table, change: Of<"insert">, { keys, tellsKey, sameShape }: Among): Statement {
  const { collection } = table;
  const values = parametersOf(postgres);
  const key = keyMadeBy(change, 0, keys);
  if (key === null) throw new TypeError(`A row of ${collection.name} needs a key`);
  const place =
    change.key === undefined
      ? `latchkey_next_key(${keyArguments(collection)})`
      : takenKey(collection, placeKey(table, key, values));
  const sql = insertInto(table, place, nextRevision(sameShape), assignWith(table, change.values, keys, values));
  const told = tellsKey === null ? "" : `, set_config(${values.place(settingOf(tellsKey))}, "id"::text, TRUE)`;
  return prepared(`${sql} RETURNING ${table.selection}${told}`, values.values);
}

function compileAdd(table: Table, change: Of<"add">, { keys, sameShape }: Among): Statement {
  const column = requireCounter(table, change.column);
  const values = parametersOf(postgres);
  const place = takenKey(table.collection, placeKey(table, { kind: "known", key: change.key }, values));
  const set = assignWith(table, { ...change.values, [change.column]: change.by }, keys, values);
  return prepared(`${insertInto(table, place, nextRevision(sameShape), set)} ${orAdd(table, column)}`, values.values);
}

function compileUpdate(table: Table, change: Of<"update">, { keys, sameShape }: Among): Statement {
  const values = parametersOf(postgres);
  const key = placeKey(table, { kind: "known", key: change.key }, values);
  const only = isRow(table, key, change.revision, values);
  const set = assignments(table, nextRevision(sameShape), assignWith(table, change.values, keys, values));
  const nulls = [...table.columns.keys(), ...table.computed].map(() => "NULL").join(", ");
  return prepared(
    `WITH changed AS (UPDATE ${table.name} SET ${set} WHERE ${only} RETURNING *) ` +
      `SELECT ${table.selection} FROM changed UNION ALL ` +
      `SELECT ${refusal(table, key, change.revision)}, ${nulls} WHERE NOT EXISTS (SELECT FROM changed)`,
    values.values,
  );
}

function compileDelete(table: Table, change: Of<"delete">, { sameShape }: Among): Statement {
  const values = parametersOf(postgres);
  const key = placeKey(table, { kind: "known", key: change.key }, values);
  const only = isRow(table, key, change.revision, values);
  return prepared(
    `WITH gone AS (DELETE FROM ${table.name} WHERE ${only} AND ${sameShape} = 0 RETURNING 1) ` +
      `SELECT ${refusal(table, key, change.revision)} WHERE NOT EXISTS (SELECT FROM gone)`,
    values.values,
  );
}

function compileUpdateAll(table: Table, change: Of<"updateAll">, { keys, sameShape }: Among): Statement {
  const values = parametersOf(postgres);
  const set = assignments(table, nextRevision(sameShape), assignWith(table, change.values, keys, values));
  return prepared(updateAll(table, set, change, values), values.values);
}

/**
 * What has to be there is locked, so that it is there until the end; what must not be there is watched over by the lock of
 * the table that the transaction begins with (`locksFor` of `plan.ts`).
 */
function compileRequire(table: Table, { where, atLeast = 0, atMost }: Of<"require">, { sameShape }: Among): Statement {
  const values = parametersOf(postgres);
  // Beyond the limit it does not matter how many more there are.
  const limit = atMost === undefined ? atLeast : atMost + 1;
  const lock = atMost === undefined ? " FOR NO KEY UPDATE" : "";
  const found = countUpTo(table, where, limit, lock, values);
  const [least, most] = [values.place(atLeast), values.place(atMost ?? limit)];
  return prepared(
    `SELECT latchkey_refuse('refused') WHERE (${found}) + ${sameShape} NOT BETWEEN ${least} AND ${most}`,
    values.values,
  );
}

/** Once for a statement, and not for each of its rows: whether it may be made at all. */
const nextRevision = (sameShape: string): string => `nextval('latchkey_revision') + ${sameShape}`;

/** Raises why a row was not found. Without a revision, one that is still seen was removed by somebody else meanwhile. */
function refusal(table: Table, key: string, revision: number | undefined): string {
  if (revision === undefined) return `latchkey_refuse('missing')`;
  return `latchkey_refuse(CASE WHEN EXISTS (SELECT FROM ${table.name} WHERE "id" = ${key}) THEN 'stale' ELSE 'missing' END)`;
}

function keyArguments(collection: Collection): string {
  const [table, sequence] = [quote(collection.name), quote(sequenceOf(collection))].map(postgres.literal);
  return `${postgres.literal(collection.name)}, ${table}::regclass, ${sequence}::regclass`;
}

function takenKey(collection: Collection, place: string): string {
  return collection.key === "text" ? place : `latchkey_take_key(${keyArguments(collection)}, ${place})`;
}

function assignWith(
  table: Table,
  given: Of<"insert">["values"],
  keys: readonly MadeKey[],
  values: Parameters,
): Assignment[] {
  return assign(table, given, values, (column, keyOf) => {
    const key = requireKey(keyOf, keys);
    if (key.kind === "later" && column.type !== "integer")
      throw new TypeError(`Column ${column.name} is of type ${column.type} and cannot hold a key that is an integer`);
    return cellOf(column, key, values);
  });
}

function placeKey({ id }: Table, key: NonNullable<MadeKey>, values: Parameters): string {
  const cell = cellOf(id, key, values);
  return typeof cell === "object" && cell !== null && "sql" in cell ? cell.sql : values.place(cell);
}

function cellOf(column: TableColumn, key: NonNullable<MadeKey>, values: Parameters): Cell | { readonly sql: string } {
  if (key.kind === "known") return encode(postgres, column, key.key);
  return {
    sql: `current_setting(${values.place(settingOf(key.change))})${column.type === "integer" ? "::bigint" : ""}`,
  };
}

function requireKey({ keyOf }: KeyOf, keys: readonly MadeKey[]): NonNullable<MadeKey> {
  const key = keys[keyOf] ?? null;
  if (key === null) throw new TypeError(`Change ${keyOf} made no row before this one, so it has no key`);
  return key;
}
