import { createHash } from "node:crypto";
import type { Observer } from "../../../core/observation.ts";
import { declarationOf, ownOf } from "../../declarations.ts";
import { StoreOutdated, type Collection } from "../../store.ts";
import { typesOf } from "./definition.ts";
import { readTypes } from "./found-table.ts";
import type { Found, Schema } from "./schema.ts";
import { ask, statement, type Script } from "./script.ts";

/**
 * What stands among the types of the columns of a table since a change after which a program with the declaration of before may not write:
 * no column has such a name. A program that was started with another one writes no more.
 */
const shapeMember = "_shape";

/** How the types of a table with that shape begin: a look at the first characters is half the price of reading all of them. */
export function beginningOf(shape: string | null): string {
  return shape === null ? `{"${shapeMember}"` : `{"${shapeMember}":${JSON.stringify(shape)}`;
}

/** The shape of each collection's table, as it was found; null where no such change was ever made. */
export type Shapes = ReadonlyMap<string, string | null>;

/** What is remembered of a table that is changed. */
export interface Changed {
  /** The table as it was; null where there was none. */
  readonly before: Found | null;
  /** Whether a program with the declaration of before may not write to it any more. */
  readonly alone: boolean;
}

/** The types that are remembered, with the shape. */
export function typesWithShape(
  collection: Collection,
  declared: Readonly<Record<string, string>>,
  { before, alone }: Changed,
): Readonly<Record<string, string>> {
  const types = { ...before?.types, ...declared };
  if (!alone) return types;
  // By the declaration: processes with the same one may be started one after another, and by whom it is made does not matter.
  const shape = createHash("sha256").update(declarationOf(collection)).digest("hex").slice(0, 16);
  return { [shapeMember]: shape, ...withoutShape(types) };
}

function withoutShape(types: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(types).filter(([name]) => name !== shapeMember));
}

/** Remembers the shape before the declaration, which is remembered when all is done. */
export function* markShape(schema: Schema, collection: Collection, changed: Changed): Script<void> {
  const types = JSON.stringify(typesWithShape(collection, {}, changed));
  const [first, second] = [schema.place(1), schema.place(2)];
  const text = `UPDATE latchkey_schema SET types = ${first} WHERE collection = ${second}`;
  yield* ask(statement(text, [types, collection.name]));
}

/** The shapes of tables as they are. */
export function* readShapes(names: Iterable<string>): Script<Shapes> {
  const rows = yield* ask(statement("SELECT collection, types FROM latchkey_schema"));
  const found = new Map(rows.map((row) => [row["collection"], readTypes(row["types"])[shapeMember] ?? null]));
  return new Map([...names].map((name) => [name, found.get(name) ?? null]));
}

/** The collections whose tables have another shape now than was known. */
export function* findOutdated(known: Shapes): Script<ReadonlySet<string>> {
  const now = yield* readShapes(known.keys());
  return new Set([...known].filter(([name, shape]) => now.get(name) !== shape).map(([name]) => name));
}

/** The collections of whose columns some hold values of other types than are declared: read as they are declared, 12.00 could be 1200. */
export function* findRetyped(collections: readonly Collection[]): Script<ReadonlySet<string>> {
  const rows = yield* ask(statement("SELECT collection, types FROM latchkey_schema"));
  const found = new Map(rows.map((row) => [row["collection"], readTypes(row["types"])]));
  const isRetyped = (collection: Collection): boolean =>
    Object.entries(typesOf(collection)).some(([column, type]) => {
      const now = found.get(collection.name)?.[column];
      return now !== undefined && now !== type;
    });
  return new Set(ownOf(collections).flatMap((each) => (isRetyped(each) ? [each.name] : [])));
}

/** Makes the error for a collection. */
export type Refusing = (collection: string) => StoreOutdated;

/** Makes the error of a write that is refused for it, and tells the operator of each collection once. */
export function refusalsTold(observe: Observer): Refusing {
  const told = new Set<string>();
  return (collection) => {
    const error = new StoreOutdated(collection);
    if (!told.has(collection)) observe({ kind: "notice", level: "error", message: "Writes are refused", error });
    told.add(collection);
    return error;
  };
}
