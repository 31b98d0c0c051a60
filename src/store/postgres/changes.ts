import { fold } from "../fold.ts";
import type { Change, Collection, Column, Key, KeyOf } from "../store.ts";
import { encode } from "./codec.ts";
import { literal, quote, sequenceOf, shadowOf } from "./names.ts";
import { parameters, prepared, type Parameters, type Statement } from "./parameters.ts";
import { requireColumn, type Table } from "./table.ts";
import { compileWhere } from "./where.ts";

/** The key of a row that a change makes: known before it is sent, or only to the server (`later`); null where it makes none. */
export type MadeKey =
  | { readonly kind: "known"; readonly key: Key }
  | { readonly kind: "later"; readonly change: number }
  | null;

/** The setting that carries a key from the statement that made it to those behind it, to the end of the transaction. */
const settingOf = (change: number): string => `latchkey.key_${change}`;

type Of<Kind extends Change["kind"]> = Extract<Change, { readonly kind: Kind }>;

/** A change as one statement, which raises a refusal where it may not be made. `keys` are those of the changes before it. */
export function compileChange(
  table: Table,
  change: Change,
  keys: readonly MadeKey[],
  tellsKey: number | null,
): Statement {
  switch (change.kind) {
    case "insert":
      return compileInsert(table, change, keys, tellsKey);
    case "update":
      return compileUpdate(table, change, keys);
    case "delete":
      return compileDelete(table, change);
    case "updateAll":
      return compileUpdateAll(table, change, keys);
    case "deleteAll": {
      const values = parameters();
      return prepared(`DELETE FROM ${table.name} WHERE ${compileWhere(table, change.where, values)}`, values.values);
    }
    case "add":
      return compileAdd(table, change, keys);
    case "require":
      return compileRequire(table, change);
  }
}

/** The key of the row that a change is about; null where it is about none of its own. */
export function keyMadeBy(change: Change, at: number, keys: readonly MadeKey[]): MadeKey {
  switch (change.kind) {
    case "insert":
      if (change.key === undefined) return change.collection.key === "integer" ? { kind: "later", change: at } : null;
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
  const values = parameters();
  const place = placeKey(table, key, values);
  return prepared(`SELECT ${table.selection} FROM ${table.name} WHERE "id" = ${place}`, values.values);
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

function compileInsert(
  table: Table,
  change: Of<"insert">,
  keys: readonly MadeKey[],
  tellsKey: number | null,
): Statement {
  const { collection } = table;
  const values = parameters();
  const key = keyMadeBy(change, 0, keys);
  if (key === null) throw new TypeError(`A row of ${collection.name} needs a key`);
  const place =
    change.key === undefined
      ? `latchkey_next_key(${keyArguments(collection)})`
      : takenKey(collection, placeKey(table, key, values));
  const sql = insertSQL(table, place, assign(table, change.values, keys, values));
  const told = tellsKey === null ? "" : `, set_config(${values.place(settingOf(tellsKey))}, "id"::text, TRUE)`;
  return prepared(`${sql} RETURNING ${table.selection}${told}`, values.values);
}

function compileAdd(table: Table, change: Of<"add">, keys: readonly MadeKey[]): Statement {
  const { collection } = table;
  const { type } = requireColumn(table, change.column);
  if (type !== "integer" || change.column === "id")
    throw new TypeError(`Column ${change.column} of ${collection.name} is no integer to add to`);
  const values = parameters();
  const place = takenKey(collection, placeKey(table, { kind: "known", key: change.key }, values));
  const set = assign(table, { ...change.values, [change.column]: change.by }, keys, values);
  const name = quote(change.column);
  const sum = `${name} = coalesce(${table.name}.${name}, 0) + excluded.${name}, "_revision" = excluded."_revision"`;
  return prepared(
    `${insertSQL(table, place, set)} ON CONFLICT ("id") DO UPDATE SET ${sum} RETURNING ${table.selection}`,
    values.values,
  );
}

function compileUpdate(table: Table, change: Of<"update">, keys: readonly MadeKey[]): Statement {
  const values = parameters();
  const key = placeKey(table, { kind: "known", key: change.key }, values);
  const only = onlyRevision(change.revision, values);
  const set = assign(table, change.values, keys, values);
  const nulls = [...table.columns].map(() => "NULL").join(", ");
  return prepared(
    `WITH changed AS (UPDATE ${table.name} SET ${assignments(set)} WHERE "id" = ${key}${only} RETURNING *) ` +
      `SELECT ${table.selection} FROM changed UNION ALL ` +
      `SELECT ${refusal(table, key, change.revision)}, ${nulls} WHERE NOT EXISTS (SELECT FROM changed)`,
    values.values,
  );
}

function compileDelete(table: Table, change: Of<"delete">): Statement {
  const values = parameters();
  const key = placeKey(table, { kind: "known", key: change.key }, values);
  const only = onlyRevision(change.revision, values);
  return prepared(
    `WITH gone AS (DELETE FROM ${table.name} WHERE "id" = ${key}${only} RETURNING 1) ` +
      `SELECT ${refusal(table, key, change.revision)} WHERE NOT EXISTS (SELECT FROM gone)`,
    values.values,
  );
}

function compileUpdateAll(table: Table, change: Of<"updateAll">, keys: readonly MadeKey[]): Statement {
  const values = parameters();
  const set = assign(table, change.values, keys, values);
  const condition = compileWhere(table, change.where, values);
  return prepared(`UPDATE ${table.name} SET ${assignments(set)} WHERE ${condition}`, values.values);
}

/**
 * What has to be there is locked, so that it is there until the end; what must not be there is watched over by the lock of
 * the table that the transaction begins with (`locks.ts`).
 */
function compileRequire(table: Table, { where, atLeast = 0, atMost }: Of<"require">): Statement {
  const values = parameters();
  const condition = compileWhere(table, where, values);
  // Beyond the limit it does not matter how many more there are.
  const limit = values.place(atMost === undefined ? atLeast : atMost + 1);
  const lock = atMost === undefined ? " FOR NO KEY UPDATE" : "";
  const found = `(SELECT count(*) FROM (SELECT 1 FROM ${table.name} WHERE ${condition} LIMIT ${limit}${lock}) AS found)`;
  const most = atMost === undefined ? limit : values.place(atMost);
  return prepared(
    `SELECT latchkey_refuse('refused') WHERE ${found} NOT BETWEEN ${values.place(atLeast)} AND ${most}`,
    values.values,
  );
}

function insertSQL(table: Table, key: string, set: readonly Assignment[]): string {
  const names = ["id", "_revision", ...set.map(({ name }) => name)].map(quote).join(", ");
  const places = [key, "nextval('latchkey_revision')", ...set.map(({ place }) => place)].join(", ");
  return `INSERT INTO ${table.name} (${names}) VALUES (${places})`;
}

function assignments(set: readonly Assignment[]): string {
  return [
    `"_revision" = nextval('latchkey_revision')`,
    ...set.map(({ name, place }) => `${quote(name)} = ${place}`),
  ].join(", ");
}

function onlyRevision(revision: number | undefined, values: Parameters): string {
  return revision === undefined ? "" : ` AND "_revision" = ${values.place(revision)}`;
}

/** Raises why a row was not found. Without a revision, one that is still seen was removed by somebody else meanwhile. */
function refusal(table: Table, key: string, revision: number | undefined): string {
  if (revision === undefined) return `latchkey_refuse('missing')`;
  return `latchkey_refuse(CASE WHEN EXISTS (SELECT FROM ${table.name} WHERE "id" = ${key}) THEN 'stale' ELSE 'missing' END)`;
}

function keyArguments(collection: Collection): string {
  const [table, sequence] = [quote(collection.name), quote(sequenceOf(collection))];
  return `${literal(collection.name)}, ${literal(table)}::regclass, ${literal(sequence)}::regclass`;
}

function takenKey(collection: Collection, place: string): string {
  return collection.key === "text" ? place : `latchkey_take_key(${keyArguments(collection)}, ${place})`;
}

interface Assignment {
  readonly name: string;
  readonly place: string;
}

function assign(
  table: Table,
  given: Of<"insert">["values"],
  keys: readonly MadeKey[],
  values: Parameters,
): Assignment[] {
  const set: Assignment[] = [];
  for (const [name, value] of Object.entries(given)) {
    const column = requireColumn(table, name);
    if (name === "id") throw new TypeError("The id of a row is its key and no value");
    if (value === undefined) continue;
    // In a json column an object is data, whatever its members are called.
    if (column.type !== "json" && isKeyOf(value)) {
      const key = requireKey(value, keys);
      if (key.kind === "later" && column.type !== "integer")
        throw new TypeError(`Column ${name} is of type ${column.type} and cannot hold a key that is an integer`);
      set.push({ name, place: placeValue(column, key, values) });
      continue;
    }
    const cell = encode(column, value);
    set.push({ name, place: values.place(cell) });
    if (column.unique === "folded")
      set.push({ name: shadowOf(column), place: values.place(typeof cell === "string" ? fold(cell) : null) });
  }
  return set;
}

function placeKey(table: Table, key: NonNullable<MadeKey>, values: Parameters): string {
  return placeValue(table.columns.get("id")!, key, values);
}

function placeValue(column: Column, key: NonNullable<MadeKey>, values: Parameters): string {
  if (key.kind === "known") return values.place(encode(column, key.key));
  return `current_setting(${values.place(settingOf(key.change))})::bigint`;
}

function isKeyOf(value: unknown): value is KeyOf {
  return typeof value === "object" && value !== null && "keyOf" in value;
}

function requireKey({ keyOf }: KeyOf, keys: readonly MadeKey[]): NonNullable<MadeKey> {
  const key = keys[keyOf] ?? null;
  if (key === null) throw new TypeError(`Change ${keyOf} made no row before this one, so it has no key`);
  return key;
}
