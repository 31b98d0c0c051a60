import type { DatabaseSync } from "node:sqlite";
import { encode } from "../../sql/codec.ts";
import { parametersOf, type Cell } from "../../sql/dialect.ts";
import { quote, shadowOf } from "../../sql/names.ts";
import { requireColumn, type Table } from "../../sql/schema/table.ts";
import { compileWhere } from "../../sql/where.ts";
import { isKeyOf, type Collection, type Key, type Where } from "../../store.ts";
import { prepare } from "../connection.ts";
import { sqlite, tableOf } from "../dialect.ts";
import { code, codeOf } from "../errors.ts";
import { keyIn, type NamedChange, type Refusal } from "../named.ts";
import { othersConflicts } from "./existing-conflicts.ts";

/** Says which rule a change has broken; null where the error is none of that kind. */
export interface ConflictFinder {
  (error: unknown, table: Table, change: NamedChange, at: number, keys: readonly (Key | null)[]): Refusal | null;
  /** Which reference was broken where that is seen at the end of a transaction, which was undone; null where nobody can say. */
  atEnd(changes: readonly NamedChange[]): Refusal | null;
}

export function conflictFinder(database: DatabaseSync, collections: ReadonlyMap<string, Collection>): ConflictFinder {
  const others = othersConflicts(collections, danglingColumn);
  const explain = (
    error: unknown,
    table: Table,
    change: NamedChange,
    at: number,
    keys: readonly (Key | null)[],
  ): Refusal | null => {
    if (table.existing !== null) return others.explain(error, table, change, at, keys);
    switch (codeOf(error)) {
      case code.primaryKey:
      case code.unique:
        return { kind: "taken", change: at, column: takenColumn(table, (error as Error).message) };
      case code.foreignKey:
      case code.trigger: {
        if (change.kind === "delete" || change.kind === "deleteAll")
          return { kind: "referenced", change: at, collection: referencingCollection(table, change) };
        const column = "values" in change ? danglingColumn(table, change.values, keys) : null;
        return column === null ? null : { kind: "dangling", change: at, column };
      }
      default:
        return null;
    }
  };
  return Object.assign(explain, { atEnd: others.atEnd });

  /** SQLite does not say which reference is broken, so each is looked at. */
  function danglingColumn(
    table: Table,
    values: Extract<NamedChange, { kind: "insert" }>["values"],
    keys: readonly (Key | null)[],
  ): string | null {
    for (const { name, type, references } of table.collection.columns) {
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
  function referencingCollection(table: Table, change: Extract<NamedChange, { kind: "delete" | "deleteAll" }>): string {
    const parameters = parametersOf(sqlite);
    const where: Where = change.kind === "delete" ? { column: "id", operator: "eq", value: change.key } : change.where;
    const going = `SELECT "id" FROM ${table.name} WHERE ${compileWhere(table, where, parameters)}`;
    const found = search({ database, collections }, table.collection.name, going, parameters.values, new Set());
    if (found === null)
      throw new Error(`A row of ${table.collection.name} is referenced by a table that is not declared`);
    return found;
  }
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

/** `UNIQUE constraint failed: users._email_folded` means `email`. */
function takenColumn(table: Table, message: string): string {
  const found = message.slice(message.lastIndexOf(".") + 1);
  const column = table.collection.columns.find((each) => shadowOf(sqlite, each) === found);
  return column?.name ?? requireColumn(table, found).name;
}
