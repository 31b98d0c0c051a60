import { DeclarationError } from "../core/checking/declaration-error.ts";
import { shown } from "../core/checking/members.ts";
import { suggestion } from "../core/checking/nearest.ts";
import { isFolded } from "./fold.ts";
import type { Collection, Column, Value } from "./store.ts";

/** The names that SQL needs no quotes for. Names that start with an underscore are reserved for the store. */
const namePattern = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;

/** Encodes a value for the database. Throws a TypeError if the value is not of the column's type. */
type Encode = (column: Column, value: Value) => unknown;

/** Throws `DeclarationError` with all mistakes in the declarations. */
export function requireSoundDeclarations(collections: readonly Collection[], encode: Encode): void {
  const byName = new Map(collections.map((each) => [each.name, each]));
  const mistakes = collections.flatMap((collection) => mistakesIn(collection, byName, encode));
  if (byName.size !== collections.length) mistakes.push("two collections have the same name");
  if (mistakes.length > 0) throw new DeclarationError(mistakes.map((mistake) => `collection ${mistake}`));
}

function mistakesIn(collection: Collection, byName: ReadonlyMap<string, Collection>, encode: Encode): string[] {
  const mistakes: string[] = [];
  if (!namePattern.test(collection.name) || /^(latchkey|sqlite|pg)_/i.test(collection.name)) {
    mistakes.push(
      `${collection.name}: a name has up to 63 letters, digits and underscores, begins with a letter and not with latchkey_, sqlite_ or pg_`,
    );
  }
  const names = new Set(["id"]);
  for (const column of collection.columns) {
    const place = `${collection.name}.${column.name}`;
    if (!namePattern.test(column.name))
      mistakes.push(`${place}: a name has up to 63 letters, digits and underscores and begins with a letter`);
    if (names.has(column.name.toLowerCase()))
      mistakes.push(`${place}: the name is declared twice (each table has a column id already)`);
    names.add(column.name.toLowerCase());
    mistakes.push(...mistakesInColumn(column, byName, encode).map((each) => `${place}: ${each}`));
    mistakes.push(...mistakesOfKeeping(collection, column, byName).map((each) => `${place}: ${each}`));
  }
  for (const index of collection.indexes ?? []) {
    const unknown = index.filter((name) => name !== "id" && !collection.columns.some((column) => column.name === name));
    if (unknown.length > 0 || index.length === 0)
      mistakes.push(`${collection.name}: the index (${index.join(", ")}) names a column that does not exist`);
  }
  for (const set of collection.uniques ?? [])
    if (set.some((name) => !collection.columns.some((column) => column.name === name)))
      mistakes.push(`${collection.name}: the unique set (${set.join(", ")}) names a column that does not exist`);
  return mistakes;
}

function mistakesInColumn(column: Column, byName: ReadonlyMap<string, Collection>, encode: Encode): string[] {
  const { type, scale, references } = column;
  const mistakes: string[] = [];
  if (isFolded(column) && type !== "text") mistakes.push("only text can be folded");
  if (column.searched === true && type !== "text") mistakes.push("only text can be searched");
  if (type === "decimal" && !(scale !== undefined && Number.isInteger(scale) && scale >= 0 && scale <= 15))
    mistakes.push("a decimal needs a scale from 0 to 15");
  if (references !== undefined) {
    const target = byName.get(references.collection);
    if (target === undefined)
      mistakes.push(
        `refers to ${references.collection}, which is not declared${suggestion(references.collection, [...byName.keys()])}`,
      );
    else if (target.key !== type) mistakes.push(`refers to keys of type ${target.key} and is of type ${type}`);
  }
  try {
    if (column.default !== undefined) encode(column, column.default);
  } catch {
    mistakes.push(
      `the default is ${shown(column.default)}, but the column is of type ${type}; give a value of this type, or leave the default out`,
    );
  }
  return mistakes;
}

/** Returns the mistakes in a column whose declaration would require a change of an existing table. */
function mistakesOfKeeping(
  { existing }: Collection,
  column: Column,
  byName: ReadonlyMap<string, Collection>,
): readonly string[] {
  if (existing !== undefined)
    return isFolded(column) || column.searched === true
      ? [
          `Latchkey adds no columns to ${existing.table}, so its values cannot be searched or compared without regard to case`,
        ]
      : [];
  const target = byName.get(column.references?.collection ?? "")?.existing;
  return target === undefined
    ? []
    : [
        `refers to ${target.table}, an existing table, and a reference would change it; declare the key as an integer or a text`,
      ];
}

/** Returns the collections whose tables the store makes. */
export function pickOwnCollections(collections: readonly Collection[]): readonly Collection[] {
  return collections.filter(({ existing }) => existing === undefined);
}

/**
 * Returns collections as plain data that can be sent to a thread. Leaves out the functions, which are only needed when
 * the tables are migrated.
 */
export function asData(collections: readonly Collection[]): readonly Collection[] {
  return collections.map((collection) => ({ ...collection, columns: collection.columns.map(withoutOrigin) }));
}

/** Returns the declaration that is stored with a table, as text. */
export function formatDeclaration(collection: Collection): string {
  const { computed: _, ...stored } = asData([collection])[0]!;
  return JSON.stringify(stored);
}

const functionMembers = new Set<keyof Column>(["origin", "fits"]);

function withoutOrigin(column: Column): Column {
  const members = Object.entries(column).filter(([name]) => !functionMembers.has(name as keyof Column));
  return Object.fromEntries(members) as unknown as Column;
}
