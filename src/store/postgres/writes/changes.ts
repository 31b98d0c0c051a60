import { encode } from "../../sql/language/codec.ts";
import { createParameters, type Cell, type BoundValues } from "../../sql/language/dialect.ts";
import { quote } from "../../sql/language/names.ts";
import type { ShownColumns, Table, TableColumn } from "../../sql/schema/table.ts";
import {
  compileChange,
  compileInserts,
  compileRequire,
  requireRelation,
  shownBy,
  type ChangeOfOne,
  type ChangeDialect,
} from "../../sql/writes/changing.ts";
import { isSQL } from "../../sql/writes/writes.ts";
import {
  isKeyOf,
  OVERTAKEN,
  type Change,
  type Collection,
  type Column,
  type Key,
  type KeyOf,
  type Requirement,
} from "../../store.ts";
import { postgres, formatSequenceName } from "../dialect.ts";
import { prepared, unprepared, type PostgresStatement } from "../parameters.ts";
import { compileForget } from "./idempotency.ts";

/**
 * The key of the row that a change makes: known before sending, or only known to the server (`later`). Null if the
 * change makes no row.
 */
export type MadeKey =
  | { readonly kind: "known"; readonly key: Key }
  | { readonly kind: "later"; readonly change: number; readonly of: Collection }
  | null;

/** Returns the name of the PostgreSQL setting that passes a key to later statements of the same transaction. */
const formatKeySetting = (change: number): string => `latchkey.key_${change}`;

/**
 * The start of the reason that a statement raises if a trigger of another program has skipped or removed a needed row.
 * The index of the change follows.
 */
const LEFT_OUT = "left out ";

function refuseLeftOut(change: number): string {
  return `latchkey_refuse('${LEFT_OUT}${change}')`;
}

/**
 * Returns the index of the change that a trigger skipped. Returns null if the reason does not start with `LEFT_OUT`.
 */
export function leftOutIn(reason: string): number | null {
  return reason.startsWith(LEFT_OUT) ? Number(reason.slice(LEFT_OUT.length)) : null;
}

type Of<Kind extends Change["kind"]> = Extract<Change, { readonly kind: Kind }>;

/** The data about the other changes of the transaction with which a change is compiled. */
export interface ChangeContext {
  /** The keys of the changes before it. */
  readonly keys: readonly MadeKey[];
  /** The index of this change if other changes or readings use its key. Null otherwise. */
  readonly returnsKey: number | null;
  /** SQL that is 0. It raises an error if the table was changed for another declaration. */
  readonly sameShape: string;
}

/** Compiles a change to one statement. The statement raises a refusal if the change is not allowed. */
export function compile(table: Table, change: Change, among: ChangeContext): PostgresStatement {
  if (change.kind === "forget") return compileForget(change);
  if (change.kind === "require") return compileRequired(table, change, among);
  if (change.kind === "link") return compileLinks(table, [{ ...among, change }]);
  const { text, values } = compileChange(table, change, createChangeDialect(among));
  // Callers choose the columns in `shown`, so there can be many different texts.
  const isOneOfMany = change.kind === "update" && change.shown !== undefined;
  // Statements on existing tables are not prepared, because a prepared statement keeps the old type of a column, for
  // example after an integer became a bigint.
  return table.existing === null && !isOneOfMany ? prepared(text, values) : unprepared(text, values);
}

/** A new row that is inserted by the same statement as other rows. */
export interface RowTogether extends ChangeContext {
  readonly change: Of<"insert">;
}

/** Compiles several new rows to one statement. Its text depends on the number of rows, so it is not prepared. */
export function compileTogether(table: Table, rows: readonly RowTogether[]): PostgresStatement {
  const making = (among: RowTogether, nth: number): ChangeDialect => {
    // Only the first row has the check of the declaration, because PostgreSQL plans each copy of it.
    const alone = createChangeDialect(nth === 0 ? among : { ...among, sameShape: "0" });
    const { returnsKey } = among;
    if (returnsKey === null) return alone;
    // The keys are fetched first, because RETURNING does not say which key belongs to which row.
    const nextKey = (of: Table, values: BoundValues): string =>
      `set_config(${values.place(formatKeySetting(returnsKey))}, ${alone.nextKey!(of, values)}::text, TRUE)::bigint`;
    return { ...alone, nextKey };
  };
  const { text, values } = compileInserts(
    table,
    rows.map((row, nth) => ({ change: row.change, making: making(row, nth) })),
  );
  return unprepared(text, values);
}

/** New rows of a relation that share one statement with other new rows of the relation. */
export interface LinkTogether extends ChangeContext {
  readonly change: Of<"link">;
}

/**
 * Compiles new rows of a relation to one statement, for any number of rows. They are sent as one JSON text. It has
 * `[key of the record, setting that contains the key, [ids]]` for each link. Either the key or the setting is null.
 */
export function compileLinks(table: Table, links: readonly LinkTogether[]): PostgresStatement {
  const { record, linked } = requireRelation(table);
  const sent = links.map(({ change, keys }) => {
    const ids = change.ids.map((id) => encode(postgres, linked, id));
    const of = isKeyOf(change.record)
      ? requireKey(change.record, keys)
      : { kind: "known" as const, key: change.record };
    if (of.kind === "known") return [encode(postgres, record, of.key), null, ids];
    requireKeyType(record, of.of);
    return [null, formatKeySetting(of.change), ids];
  });
  const values = createParameters(postgres);
  const castTo = ({ type }: TableColumn): string => (type === "integer" ? "::bigint" : "");
  const { collection } = table;
  const key = `latchkey_next_key(${keyArguments(collection)})`;
  const of = `(CASE WHEN link->>0 IS NULL THEN current_setting(link->>1) ELSE link->>0 END)${castTo(record)}`;
  const text =
    `INSERT INTO ${table.name} (${[table.id.sql, table.revision, record.sql, linked.sql].join(", ")}) ` +
    `SELECT ${key}, nextval('latchkey_revision') + ${links[0]!.sameShape}, ${of}, id${castTo(linked)} ` +
    `FROM json_array_elements(${values.place(JSON.stringify(sent))}::json) AS link, json_array_elements_text(link->2) AS id`;
  return prepared(text, values.values);
}

function createChangeDialect({ keys, returnsKey, sameShape }: ChangeContext): ChangeDialect {
  return {
    // The check of the declaration runs once per statement and not once per row.
    revision: () => `nextval('latchkey_revision') + ${sameShape}`,
    takenKey: ({ collection }, place) =>
      collection.key === "text" ? place : `latchkey_take_key(${keyArguments(collection)}, ${place})`,
    nextKey({ collection }) {
      if (collection.key === "text") throw new TypeError(`A row of ${collection.name} needs a key`);
      return `latchkey_next_key(${keyArguments(collection)})`;
    },
    returning({ existing, selection }, values) {
      const key = (name: string): string =>
        `set_config(${values.place(formatKeySetting(returnsKey ?? 0))}, ${name}::text, TRUE)`;
      if (existing !== null) return key(existing.quoteName("id"));
      return returnsKey === null ? selection : `${selection}, ${key(`"id"`)}`;
    },
    orRefused,
    onlyIf: ` AND ${sameShape} = 0`,
    findKey: (column, key, values) => resolveKeyCell(column, requireKey(key, keys), values),
  };
}

/** Returns the key of the row that a change writes. Returns null if the change writes no single row by its key. */
export function findMadeKey(change: Change, at: number, keys: readonly MadeKey[]): MadeKey {
  switch (change.kind) {
    case "insert":
      // A trigger of another program may make a row with another key than the given one.
      if (change.key === undefined || change.collection.existing !== undefined)
        return { kind: "later", change: at, of: change.collection };
      return isKeyOf(change.key) ? requireKey(change.key, keys) : { kind: "known", key: change.key };
    case "update":
    case "add":
      return { kind: "known", key: change.key };
    default:
      return null;
  }
}

/** Finds the first id, counted from 1, that a column refers to and that is not in the table `from`. */
export function compileMissing({ type }: Column, from: string, ids: readonly Key[]): PostgresStatement {
  const values = createParameters(postgres);
  const cast = type === "integer" ? "::bigint" : "";
  return prepared(
    `SELECT place FROM json_array_elements_text(${values.place(JSON.stringify(ids))}::json) WITH ORDINALITY AS each(id, place) ` +
      `WHERE NOT EXISTS (SELECT FROM ${from} WHERE "id" = each.id${cast}) ORDER BY place LIMIT 1`,
    values.values,
  );
}

/** Reads the row with a key, in its state when the statement runs. */
export function compileReading(
  table: Table,
  key: NonNullable<MadeKey>,
  { selection }: Pick<ShownColumns, "selection"> = table,
): PostgresStatement {
  const values = createParameters(postgres);
  return prepared(`SELECT ${selection} FROM ${table.name} WHERE ${hasKey(table, key, values)}`, values.values);
}

/**
 * Reads the row that the change with this index wrote. In an existing table, a trigger may have removed the row. The
 * statement then raises an error.
 */
export function compileReadingAt(
  table: Table,
  key: NonNullable<MadeKey>,
  change: Change,
  at: number,
): PostgresStatement {
  if (table.existing === null) return compileReading(table, key, shownBy(table, change));
  const values = createParameters(postgres);
  const found = `(SELECT) AS one LEFT JOIN ${table.name} ON ${hasKey(table, key, values)}`;
  const orRefused = `CASE WHEN ${table.id.compared} IS NULL THEN ${refuseLeftOut(at)} = 0 ELSE TRUE END`;
  return prepared(`SELECT ${table.selection} FROM ${found} WHERE ${orRefused}`, values.values);
}

function hasKey(table: Table, key: NonNullable<MadeKey>, values: BoundValues): string {
  const cell = resolveKeyCell(table.id, key, values);
  const place = isSQL(cell) ? cell.sql : values.place(cell);
  return `${table.id.compared} = ${table.id.operand(place)}`;
}

/** Returns the changes whose keys other changes of the transaction use. */
export function collectNeededKeys(changes: readonly Change[]): Set<number> {
  const found = new Set<number>();
  for (const change of changes) {
    if ("key" in change && isKeyOf(change.key)) found.add(change.key.keyOf);
    if (change.kind === "link" && isKeyOf(change.record)) found.add(change.record.keyOf);
    if (!("values" in change)) continue;
    for (const value of Object.values(change.values)) if (isKeyOf(value)) found.add(value.keyOf);
  }
  return found;
}

/**
 * Compiles a `require`. This statement cannot lock rows that must not exist. The table lock that the transaction takes
 * first (`locksFor` of `plan.ts`) prevents new rows.
 */
function compileRequired(table: Table, change: Of<"require">, { sameShape }: ChangeContext): PostgresStatement {
  const lock = change.isGuarded === true ? "" : " FOR NO KEY UPDATE";
  const { count, values, least, most } = compileRequire(table, change, lock);
  const places = `${values.place(least)} AND ${values.place(most)}`;
  return prepared(
    `SELECT latchkey_refuse('refused') WHERE (${count}) + ${sameShape} NOT BETWEEN ${places}`,
    values.values,
  );
}

/** Compiles a requirement of a transaction. The statement raises `refused` if no row matches. */
export function compileRequirement(table: Table, { where }: Requirement, sameShape: string): PostgresStatement {
  const { existing } = table.collection;
  // A lock needs the right to update. Without it, the row is only read.
  const lock = existing === undefined || existing.writes.includes("update") ? " FOR NO KEY UPDATE" : "";
  const { count, values } = compileRequire(table, { kind: "require", where, atLeast: 1, name: OVERTAKEN }, lock);
  return prepared(`SELECT latchkey_refuse('refused') WHERE (${count}) + ${sameShape} < 1`, values.values);
}

/**
 * Returns SQL that raises the reason if the statement changed no row. Without a revision, the reason is always
 * `missing`: if the row is still visible to this statement, another transaction has removed it in the meantime.
 */
function orRefused({ sql, table, key, revision, shown }: ChangeOfOne): string {
  const there = `EXISTS (SELECT FROM ${table.name} WHERE ${table.id.compared} = ${table.id.operand(key)})`;
  const reason = revision === undefined ? "'missing'" : `CASE WHEN ${there} THEN 'stale' ELSE 'missing' END`;
  if (shown === null)
    return `WITH changed AS (${sql} RETURNING 1) SELECT latchkey_refuse(${reason}) WHERE NOT EXISTS (SELECT FROM changed)`;
  const nulls = ", NULL".repeat(shown.width - 1);
  return (
    `WITH changed AS (${sql} RETURNING *) SELECT ${shown.selection} FROM changed UNION ALL ` +
    `SELECT latchkey_refuse(${reason})${nulls} WHERE NOT EXISTS (SELECT FROM changed)`
  );
}

function keyArguments(collection: Collection): string {
  const [table, sequence] = [quote(collection.name), quote(formatSequenceName(collection))].map(postgres.literal);
  return `${postgres.literal(collection.name)}, ${table}::regclass, ${sequence}::regclass`;
}

function resolveKeyCell(
  column: TableColumn,
  key: NonNullable<MadeKey>,
  values: BoundValues,
): Cell | { readonly sql: string } {
  if (key.kind === "known") return encode(postgres, column, key.key);
  requireKeyType(column, key.of);
  const { key: type, existing } = key.of;
  const cast = type === "integer" ? "::bigint" : "";
  const setting = values.place(formatKeySetting(key.change));
  if (existing === undefined) return { sql: `current_setting(${setting})${cast}` };
  return { sql: `coalesce(nullif(current_setting(${setting}, TRUE), ''), ${refuseLeftOut(key.change)}::text)${cast}` };
}

function requireKeyType({ name, type }: TableColumn, { key }: Collection): void {
  if (key !== type) throw new TypeError(`Column ${name} is of type ${type} and cannot hold a key of type ${key}`);
}

function requireKey({ keyOf: change }: KeyOf, keys: readonly MadeKey[]): NonNullable<MadeKey> {
  const key = keys[change] ?? null;
  if (key === null) throw new TypeError(`Change ${change} created no row before this one, so it has no key`);
  return key;
}
