import type { DatabaseSync } from "node:sqlite";
import { encode } from "../../sql/language/codec.ts";
import { createParameters, type Cell } from "../../sql/language/dialect.ts";
import { quote } from "../../sql/language/names.ts";
import type { Table } from "../../sql/schema/table.ts";
import { compileWhere } from "../../sql/where.ts";
import { findRefusal, type BrokenColumn, type BrokenRule, type Refusal } from "../../sql/writes/refusals.ts";
import { isKeyOf, type Collection, type Column, type Key, type Where } from "../../store.ts";
import { prepare } from "../connection/connection.ts";
import { code, findCode } from "../connection/errors.ts";
import { sqlite, getTable } from "../dialect.ts";
import { keyIn, type NamedChange } from "../named.ts";

/** Returns the reason why SQLite refused a change. Returns null if the error does not mean a refusal. */
export interface ConflictFinder {
  (error: unknown, table: Table, change: NamedChange, at: number, keys: ChangeKeys): Refusal | null;
  /**
   * Returns the reference that was violated at the end of a transaction, after its rollback. Returns null if it is
   * unknown.
   */
  atEnd(changes: readonly NamedChange[]): Refusal | null;
}

type ChangeKeys = readonly (Key | null)[];

export function conflictFinder(database: DatabaseSync, collections: ReadonlyMap<string, Collection>): ConflictFinder {
  const explain = (error: unknown, table: Table, change: NamedChange, at: number, keys: ChangeKeys): Refusal | null => {
    const broken = brokenBy(error, table, () => reference(table, change, keys));
    return broken === null ? null : findRefusal(broken, table, change, at);
  };

  /** Existing tables may check their references at the end of the transaction (`DEFERRABLE INITIALLY DEFERRED`). */
  function atEnd(changes: readonly NamedChange[]): Refusal | null {
    const refusals = changes.flatMap((change, at) => {
      const collection = collections.get(change.collection);
      if (collection?.existing === undefined || change.kind === "forget" || change.kind === "require") return [];
      const table = getTable(collection);
      return findRefusal(reference(table, change, []), table, change, at) ?? [];
    });
    const find = (wanted: Refusal["kind"]): Refusal | undefined => refusals.find(({ kind }) => kind === wanted);
    // A refusal about a declared reference comes first. `unfit` means that the violated reference is not declared.
    return find("dangling") ?? find("referenced") ?? find("unfit") ?? null;
  }

  /** SQLite does not name the violated reference, so each reference is checked. */
  function reference(table: Table, change: NamedChange, keys: ChangeKeys): BrokenRule {
    return {
      rule: "reference",
      column: () => {
        if (change.kind === "link") return danglingLink(table, change, keys);
        return "values" in change ? danglingColumn(table, change.values, keys) : null;
      },
      holder: () => describeHolder(table, change as Removing),
    };
  }

  function danglingColumn({ collection }: Table, values: Written, keys: ChangeKeys): string | null {
    const found = collection.columns.find((column) => {
      const value = values[column.name];
      if (value === undefined || value === null) return false;
      // If the key is unknown here, an earlier change of this transaction has created the row.
      if (isKeyOf(value) && keys[value.keyOf] === undefined) return false;
      return leadsNowhere(column, keyIn(value, keys));
    });
    return found?.name ?? null;
  }

  function danglingLink(
    { collection }: Table,
    { record, ids }: NamedLinkChange,
    keys: ChangeKeys,
  ): BrokenColumn | null {
    const [ofRecord, ofIds] = collection.columns;
    if (leadsNowhere(ofRecord!, keyIn(record, keys))) return ofRecord!.name;
    const place = ids.findIndex((id) => leadsNowhere(ofIds!, id));
    return place === -1 ? null : { column: ofIds!.name, place };
  }

  function leadsNowhere({ name, type, references }: Column, value: unknown): boolean {
    if (references === undefined) return false;
    const key = encode(sqlite, { name, type }, value);
    const target = collections.get(references.collection);
    const from = target === undefined ? quote(references.collection) : getTable(target).name;
    return prepare(database, `SELECT 1 FROM ${from} WHERE "id" = ?`).get(key) === undefined;
  }

  function describeHolder(table: Table, change: Removing): string {
    const parameters = createParameters(sqlite);
    const where: Where = change.kind === "delete" ? { column: "id", operator: "eq", value: change.key } : change.where;
    const going = `FROM ${table.name} WHERE ${compileWhere(table, where, parameters)}`;
    const { name } = table.collection;
    return findHolder(database, name, going, parameters.values) ?? "other records";
  }

  return Object.assign(explain, { atEnd });
}

type Written = Extract<NamedChange, { kind: "insert" }>["values"];
type NamedLinkChange = Extract<NamedChange, { kind: "link" }>;
type Removing = Extract<NamedChange, { kind: "delete" | "deleteAll" }>;

/** Returns the rule that SQLite reports as violated. Returns null if the error reports no violated rule. */
function brokenBy(error: unknown, table: Table, reference: () => BrokenRule): BrokenRule | null {
  const message = error instanceof Error ? error.message : "";
  switch (findCode(error)) {
    case code.primaryKey:
    case code.unique:
    case code.rowid:
      return takenBy(table, message);
    case code.foreignKey:
      return reference();
    case code.trigger:
      // A reference with `ON DELETE RESTRICT`, or the message of a trigger of another program.
      return message.includes("FOREIGN KEY") ? reference() : { rule: "own", column: null };
    case code.notNull:
    case code.datatype:
      return { rule: "own", column: columnIn(table, message) };
    case code.check:
      return { rule: "own", column: checkedColumn(table, message) };
    default:
      return null;
  }
}

/** Returns the broken rule of an index. The message lists the columns. */
function takenBy(table: Table, message: string): BrokenRule {
  const { existing, columns, collection } = table;
  const places = placesIn(message);
  const names = (name: string): boolean =>
    places.some((place) => place.endsWith(`.${unquoted(existing?.quoteName(name) ?? columns.get(name)!.quoted)}`));
  const set = collection.uniques?.find((each) => each.every(names));
  return set === undefined
    ? { rule: "unique", column: columnIn(table, message) }
    : { rule: "unique", column: null, columns: set };
}

function placesIn(message: string): readonly string[] {
  return message
    .slice(message.indexOf(": ") + 1)
    .split(", ")
    .map((place) => place.trim());
}

/**
 * Returns the column in an error message. `UNIQUE constraint failed: users._email_folded` means `email`. Returns the
 * first declared column if the message names several, and null if it names no declared column. SQLite reports an index
 * with an expression by its name: `UNIQUE constraint failed: index 'by_name'`.
 */
function columnIn({ existing, columns, collection }: Table, message: string): string | null {
  const index = /: index '(.*)'$/s.exec(message)?.[1]?.replaceAll("''", "'");
  if (index !== undefined) return collection.existing?.constraints?.[index] ?? null;
  const places = placesIn(message);
  const found = [...columns.values()].find(({ name, quoted, shadow }) => {
    const names = existing === null ? [quoted, shadow ?? quoted] : [existing.quoteName(name)];
    return names.some((each) => places.some((place) => place.endsWith(`.${unquoted(each)}`)));
  });
  return found?.name ?? null;
}

/**
 * Returns the column in an error message. `CHECK constraint failed: "stock" >= 0` means `stock`. Returns null if the
 * message contains the name of the rule, or several columns.
 */
function checkedColumn({ existing, columns }: Table, message: string): string | null {
  if (existing === null) return null;
  const words = new Set(message.slice(message.indexOf(": ") + 1).match(/[\p{L}\p{N}_$]+/gu));
  const found = [...columns.keys()].filter((name) => words.has(unquoted(existing.quoteName(name))));
  return found.length === 1 ? found[0]! : null;
}

function unquoted(name: string): string {
  return name.slice(1, -1).replaceAll('""', '"');
}

/**
 * Returns the table of a row that blocks a deletion, because it refers to a row that would be deleted. Follows the
 * cascades of the deletion through all tables and levels. Reads the references from the database, because not all of
 * them are declared. `going` is the SQL that selects the rows to delete, from `FROM` on.
 */
function findHolder(database: DatabaseSync, parent: string, going: string, parameters: readonly Cell[]): string | null {
  const found = new Map<string, Set<Cell>>();
  const waiting = [{ table: parent, from: going, values: parameters }];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { table, from, values } = next;
    const key = keyOf(database, table);
    const known = found.get(table) ?? new Set<Cell>();
    found.set(table, known);
    const keys = (prepare(database, `SELECT ${key} ${from}`).all(...values) as [Cell][]).map(([each]) => each);
    const fresh = keys.filter((each) => !known.has(each));
    if (fresh.length === 0) continue;
    for (const each of fresh) known.add(each);
    const rows = `FROM ${quote(table)} WHERE ${key} IN (SELECT value FROM json_each(?))`;
    const given = [JSON.stringify(fresh)];
    for (const [child, column, to, action] of prepare(database, childrenSQL).all(table) as [
      string,
      string,
      string,
      string,
    ][]) {
      const below = `FROM ${quote(child)} WHERE ${quote(column)} IN (SELECT ${quote(to)} ${rows})`;
      const isRestricting = action === "RESTRICT" || action === "NO ACTION";
      if (isRestricting && prepare(database, `SELECT 1 ${below} LIMIT 1`).get(...given) !== undefined) return child;
      if (action === "CASCADE") waiting.push({ table: child, from: below, values: given });
    }
  }
  return null;
}

/**
 * Returns the column that identifies the rows of a table: its key, or the rowid if the key has several columns or none.
 */
function keyOf(database: DatabaseSync, table: string): string {
  const key = prepare(database, "SELECT name FROM pragma_table_info(?) WHERE pk > 0").all(table) as [string][];
  return key.length === 1 ? quote(key[0]![0]) : "rowid";
}

/**
 * Finds the tables that refer to a table: the referring column, the target column, and the action on deletion. A
 * reference without a target column refers to the key.
 */
const childrenSQL = `
  SELECT child.name, reference."from", coalesce(reference."to", (SELECT name FROM pragma_table_info(reference."table") WHERE pk = 1)), reference.on_delete
  FROM sqlite_schema AS child JOIN pragma_foreign_key_list(child.name) AS reference ON reference."table" = ?1 COLLATE NOCASE
  WHERE child.type = 'table'`;
