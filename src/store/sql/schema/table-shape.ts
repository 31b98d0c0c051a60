import { createHash } from "node:crypto";
import type { Observer } from "../../../core/observation.ts";
import { formatDeclaration, pickOwnCollections } from "../../declarations.ts";
import { StoreOutdated, type Collection } from "../../store.ts";
import { ask, statement, type Script } from "../language/script.ts";
import { collectTypes } from "./definition.ts";
import { readTypes } from "./found-table.ts";
import type { FoundTable, SchemaDialect } from "./schema.ts";

/**
 * The member of a table's stored column types that contains the shape of the table. The shape is a digest of the
 * declaration. A change of the table sets the shape if programs with the old declaration may not write any more. A
 * program that started with another shape stops writing. No column has this name.
 */
const shapeMember = "_shape";

/**
 * Returns the first characters of the stored types of a table with that shape. For null, returns the start that every
 * table with a shape has. Comparing only these characters costs half as much as reading the whole text.
 */
export function formatShapeStart(shape: string | null): string {
  return shape === null ? `{"${shapeMember}"` : `{"${shapeMember}":${JSON.stringify(shape)}`;
}

/** The shape of each collection's table, as it was found. Null if no change has set a shape. */
export type Shapes = ReadonlyMap<string, string | null>;

/** The facts about a changed table. */
export interface TableChange {
  /** The old state of the table. Null if it is new. */
  readonly before: FoundTable | null;
  /** True if a program with the old declaration may no longer write to it. */
  readonly alone: boolean;
}

/** Returns the types to store. Sets the shape if `alone` is true. */
export function typesWithShape(
  collection: Collection,
  declared: Readonly<Record<string, string>>,
  { before, alone }: TableChange,
): Readonly<Record<string, string>> {
  const types = { ...before?.types, ...declared };
  if (!alone) return types;
  // The shape follows from the declaration alone. So processes with the same declaration agree, no matter which of them
  // migrates.
  const shape = createHash("sha256").update(formatDeclaration(collection)).digest("hex").slice(0, 16);
  return { [shapeMember]: shape, ...withoutShape(types) };
}

function withoutShape(types: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(types).filter(([name]) => name !== shapeMember));
}

/**
 * Stores the shape before the change, so that programs with the old declaration stop writing first. The declaration is
 * stored after the change.
 */
export function* markShape(schema: SchemaDialect, collection: Collection, changed: TableChange): Script<void> {
  const types = JSON.stringify(typesWithShape(collection, {}, changed));
  const [first, second] = [schema.place(1), schema.place(2)];
  const text = `UPDATE latchkey_schema SET types = ${first} WHERE collection = ${second}`;
  yield* ask(statement(text, [types, collection.name]));
}

/** Reads the current shapes of tables. */
export function* readShapes(names: Iterable<string>): Script<Shapes> {
  const rows = yield* ask(statement("SELECT collection, types FROM latchkey_schema"));
  const found = new Map(rows.map((row) => [row["collection"], readTypes(row["types"])[shapeMember] ?? null]));
  return new Map([...names].map((name) => [name, found.get(name) ?? null]));
}

/** Returns the collections whose tables have changed their shape. */
export function* findOutdated(knownShapes: Shapes): Script<ReadonlySet<string>> {
  const now = yield* readShapes(knownShapes.keys());
  return new Set([...knownShapes].filter(([name, shape]) => now.get(name) !== shape).map(([name]) => name));
}

/**
 * Returns the collections whose columns hold values of other types than the declared ones: 12.00 could be read as 1200.
 */
export function* findRetyped(collections: readonly Collection[]): Script<ReadonlySet<string>> {
  const rows = yield* ask(statement("SELECT collection, types FROM latchkey_schema"));
  const found = new Map(rows.map((row) => [row["collection"], readTypes(row["types"])]));
  const isRetyped = (collection: Collection): boolean =>
    Object.entries(collectTypes(collection)).some(([column, type]) => {
      const now = found.get(collection.name)?.[column];
      return now !== undefined && now !== type;
    });
  return new Set(pickOwnCollections(collections).flatMap((each) => (isRetyped(each) ? [each.name] : [])));
}

/** Creates the error for a write to a collection whose table was changed for another declaration. */
export type Refusing = (collection: string) => StoreOutdated;

/**
 * Returns a function that creates the error for a refused write. It logs a notice for the operator once per collection.
 */
export function makeRefusing(observe: Observer): Refusing {
  const reportedNames = new Set<string>();
  return (collection) => {
    const error = new StoreOutdated(collection);
    if (!reportedNames.has(collection))
      observe({ kind: "notice", level: "error", message: "Writes are refused", error });
    reportedNames.add(collection);
    return error;
  };
}
