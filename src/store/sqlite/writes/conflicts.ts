import type { DatabaseSync } from "node:sqlite";
import { encode } from "../../sql/codec.ts";
import { parametersOf, type Cell } from "../../sql/dialect.ts";
import { quote } from "../../sql/names.ts";
import type { Table } from "../../sql/schema/table.ts";
import { compileWhere } from "../../sql/where.ts";
import { refusalOf, type BrokenRule, type Refusal } from "../../sql/writes/refusals.ts";
import { isKeyOf, type Collection, type Key, type Where } from "../../store.ts";
import { prepare } from "../connection.ts";
import { sqlite, tableOf } from "../dialect.ts";
import { code, codeOf } from "../errors.ts";
import { keyIn, type NamedChange } from "../named.ts";

/** Says why a change was not made; null where the error is none of that kind. */
export interface ConflictFinder {
  (error: unknown, table: Table, change: NamedChange, at: number, keys: Keys): Refusal | null;
  /** Which reference was broken where that is seen at the end of a transaction, which was undone; null where nobody can say. */
  atEnd(changes: readonly NamedChange[]): Refusal | null;
}

type Keys = readonly (Key | null)[];

export function conflictFinder(database: DatabaseSync, collections: ReadonlyMap<string, Collection>): ConflictFinder {
  const explain = (error: unknown, table: Table, change: NamedChange, at: number, keys: Keys): Refusal | null => {
    const broken = brokenBy(error, table, () => reference(table, change, keys));
    return broken === null ? null : refusalOf(broken, table, change, at);
  };

  /** Tables of others may look at their references at the end. */
  function atEnd(changes: readonly NamedChange[]): Refusal | null {
    const refusals = changes.flatMap((change, at) => {
      const collection = collections.get(change.collection);
      if (collection?.existing === undefined || change.kind === "forget" || change.kind === "require") return [];
      const table = tableOf(collection);
      return refusalOf(reference(table, change, []), table, change, at) ?? [];
    });
    const find = (wanted: Refusal["kind"]): Refusal | undefined => refusals.find(({ kind }) => kind === wanted);
    // Of a reference that nobody has declared it is not known which.
    return find("dangling") ?? find("referenced") ?? find("unfit") ?? null;
  }

  /** SQLite does not say which reference is broken, so each is looked at. */
  function reference(table: Table, change: NamedChange, keys: Keys): BrokenRule {
    return {
      rule: "reference",
      column: () => ("values" in change ? danglingColumn(table, change.values, keys) : null),
      holder: () => holderOf(table, change as Removing),
    };
  }

  function danglingColumn({ collection }: Table, values: Written, keys: Keys): string | null {
    for (const { name, type, references } of collection.columns) {
      const given = values[name];
      if (references === undefined || given === undefined || given === null) continue;
      // What the same transaction has made is there.
      if (isKeyOf(given) && keys[given.keyOf] === undefined) continue;
      const key = encode(sqlite, { name, type }, keyIn(given, keys));
      const target = collections.get(references.collection);
      const from = target === undefined ? quote(references.collection) : tableOf(target).name;
      const there = prepare(database, `SELECT 1 FROM ${from} WHERE "id" = ?`).get(key);
      if (there === undefined) return name;
    }
    return null;
  }

  /** Goes down the way that the deletion would have gone, until somebody holds on to a row. */
  function holderOf(table: Table, change: Removing): string {
    const parameters = parametersOf(sqlite);
    const where: Where = change.kind === "delete" ? { column: "id", operator: "eq", value: change.key } : change.where;
    const going = `SELECT "id" FROM ${table.name} WHERE ${compileWhere(table, where, parameters)}`;
    const found = search({ database, collections }, table.collection.name, going, parameters.values, new Set());
    if (found === null)
      throw new Error(`A row of ${table.collection.name} is referenced by a table that is not declared`);
    return found;
  }

  return Object.assign(explain, { atEnd });
}

type Written = Extract<NamedChange, { kind: "insert" }>["values"];
type Removing = Extract<NamedChange, { kind: "delete" | "deleteAll" }>;

/** Which rule SQLite tells of. */
function brokenBy(error: unknown, table: Table, reference: () => BrokenRule): BrokenRule | null {
  const message = error instanceof Error ? error.message : "";
  switch (codeOf(error)) {
    case code.primaryKey:
    case code.unique:
    case code.rowid:
      return { rule: "unique", column: columnIn(table, message) };
    case code.foreignKey:
      return reference();
    case code.trigger:
      // A reference that restricts, or what a trigger of others says.
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

/** `UNIQUE constraint failed: users._email_folded` means `email`; of several columns it is the first that is declared, and null where none is. */
function columnIn({ existing, columns }: Table, message: string): string | null {
  const told = message.slice(message.indexOf(": ") + 1).split(", ");
  const found = [...columns.values()].find(({ name, quoted, shadow }) => {
    const names = existing === null ? [quoted, shadow ?? quoted] : [existing.nameOf(name)];
    return names.some((each) => told.some((place) => place.trim().endsWith(`.${unquoted(each)}`)));
  });
  return found?.name ?? null;
}

/** `CHECK constraint failed: "stock" >= 0` means `stock`; null where it names a rule, or several columns. */
function checkedColumn({ existing, columns }: Table, message: string): string | null {
  if (existing === null) return null;
  const words = new Set(message.slice(message.indexOf(": ") + 1).match(/[\p{L}\p{N}_$]+/gu));
  const found = [...columns.keys()].filter((name) => words.has(unquoted(existing.nameOf(name))));
  return found.length === 1 ? found[0]! : null;
}

function unquoted(name: string): string {
  return name.slice(1, -1).replaceAll('""', '"');
}
interface Searched {
  readonly database: DatabaseSync;
  readonly collections: ReadonlyMap<string, Collection>;
}

function search(
  searched: Searched,
  parent: string,
  going: string,
  parameters: readonly Cell[],
  seen: Set<string>,
): string | null {
  const { database, collections } = searched;
  const children = [...collections.values()].flatMap((child) =>
    child.columns.filter((column) => column.references?.collection === parent).map((column) => ({ child, column })),
  );
  const held = children.find(({ child, column }) => {
    if (column.references!.onDelete !== "restrict") return false;
    return (
      prepare(database, `SELECT 1 FROM ${quote(child.name)} WHERE ${quote(column.name)} IN (${going}) LIMIT 1`).get(
        ...parameters,
      ) !== undefined
    );
  });
  if (held !== undefined) return held.child.name;
  for (const { child, column } of children) {
    const step = `${child.name}.${column.name}`;
    if (column.references!.onDelete !== "cascade" || seen.has(step)) continue;
    const found = search(
      searched,
      child.name,
      `SELECT "id" FROM ${quote(child.name)} WHERE ${quote(column.name)} IN (${going})`,
      parameters,
      new Set(seen).add(step),
    );
    if (found !== null) return found;
  }
  return null;
}
