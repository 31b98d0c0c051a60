import { isFolded } from "../../fold.ts";
import type { Collection, Column } from "../../store.ts";
import { declaredName, indexPrefix, formatShadowName } from "../language/names.ts";
import { ask, type Script } from "../language/script.ts";
import { collectIndexes, formatType } from "../schema/definition.ts";
import { leftOvers, referringLeftOvers, requiredLeftOvers } from "../schema/found-table.ts";
import { formatReference, type FoundTable, type SchemaDialect } from "../schema/schema.ts";
import { columnWas, isNarrower, isOtherType, nameBefore, type Source } from "./source.ts";

/** One difference between a declaration and its table. */
export interface SchemaChange {
  /** The table or the column: `books`, `books.title`. */
  readonly place: string;
  /**
   * `adds`: loses nothing, and a start does it. `changes`: changes values, names or types, and `latchkey db migrate`
   * does it. `loses`: deletes values for good, so a person must confirm it.
   */
  readonly effect: "adds" | "changes" | "loses";
  /** The description of the change, for operators and for the history. */
  readonly words: string;
  /**
   * The reason why a program with the old declaration cannot run at the same time as a program with this declaration.
   * Null if both can run.
   */
  readonly alone: string | null;
}

/** The description of a dropped column. */
export const dropWords = "drop it with its values";

/** The description of a removed reference. */
export const removeReferenceWords = "remove its reference, so that it prevents no deletion";

/** The parameters of a migration, in addition to the declaration. */
export interface MigrationParameters {
  /** The columns that may be dropped with their values: `books.title`. */
  readonly dropped: ReadonlySet<string>;
  /** The current month: `2027-01`. */
  readonly month: string;
}

/** Returns all changes that make a table match its declaration. */
export function* collectSchemaChanges(
  schema: SchemaDialect,
  collection: Collection,
  found: FoundTable,
  sources: ReadonlyMap<string, Source>,
  wishes: MigrationParameters,
): Script<readonly SchemaChange[]> {
  const changes: SchemaChange[] = [];
  for (const column of collection.columns)
    changes.push(...columnChanges(schema, collection, column, sources.get(column.name)!, found));
  changes.push(...leftOverChanges(collection, found, wishes));
  changes.push(...(yield* indexChanges(schema, collection)));
  return changes;
}

/** True if a program with the old declaration may not write at the same time as a program with this declaration. */
export function excludesOldPrograms(changes: readonly SchemaChange[]): boolean {
  return changes.some(({ alone }) => alone !== null);
}

/** Returns remarks on undeclared columns, which do not change. */
export function remarksOn(
  collection: Collection,
  found: FoundTable,
  { dropped, month }: MigrationParameters,
): readonly string[] {
  const { name, removed = {} } = collection;
  return forgotten(collection, found).flatMap((column) => {
    const place = `${name}.${column}`;
    if (dropped.has(place)) return [];
    const until = removed[column];
    if (until === undefined)
      return [`${place} is no longer declared. Its values stay; --allow-data-loss ${place} removes them.`];
    return until > month
      ? [`${place} is removed. Its values stay, hidden, until ${until}.`]
      : [`The values of ${place} were to be kept until ${until}. --allow-data-loss ${place} removes them now.`];
  });
}

/** Finds new columns that may be renamed old columns, because an old column of the same type is no longer declared. */
export function likelyRenames(
  schema: SchemaDialect,
  collection: Collection,
  found: FoundTable,
): readonly { readonly from: string; readonly to: string }[] {
  const { columns, removed = {} } = collection;
  const gone = forgotten(collection, found).filter(
    (name) => removed[name] === undefined && found.declared?.columns.some((each) => each.name === name) === true,
  );
  const come = columns.filter((column) => nameBefore(column, found) === null && column.origin === undefined);
  return come.flatMap((column) =>
    gone
      .filter((from) => !isOtherType(schema, column, columnWas(schema, found, from), found))
      .slice(0, 1)
      .map((from) => ({ from, to: column.name })),
  );
}

function forgotten(collection: Collection, found: FoundTable): string[] {
  const renamed = new Set(collection.columns.map((column) => nameBefore(column, found)));
  return leftOvers(collection, found)
    .map(({ name }) => name)
    .filter((name) => !renamed.has(name));
}

function columnChanges(
  schema: SchemaDialect,
  { name: table }: Collection,
  column: Column,
  source: Source,
  found: FoundTable,
): readonly SchemaChange[] {
  const place = `${table}.${column.name}`;
  const before = nameBefore(column, found);
  if (before === null) {
    if (source.kind !== "program")
      return [{ place, effect: "adds", words: `add it as ${formatType(column)}`, alone: null }];
    const alone = column.nullable === true ? null : "it creates rows without a value";
    return [
      {
        place,
        effect: "changes",
        words: `add it as ${formatType(column)}, with values for the existing rows`,
        alone,
      },
    ];
  }
  const changes: SchemaChange[] = [];
  const add = (effect: SchemaChange["effect"], words: string, alone: string | null = null): unknown =>
    changes.push({ place, effect, words, alone });
  const was = columnWas(schema, found, before);
  if (before !== column.name) add("changes", `rename it from ${before}`, `it uses ${before}`);
  if (isOtherType(schema, column, was, found))
    add(
      "changes",
      `convert it from ${formatType(was)} to ${formatType(column)}`,
      `it reads the column as ${formatType(was)}`,
    );
  else if (source.kind === "sql" || source.kind === "program")
    add("changes", "compute its values again, as declared", "it writes values of the old form");
  if (getsFolded(schema, column, found))
    add("adds", "add a column with its values in lower case", "it does not fill that column");
  if (was.nullable === true && column.nullable !== true)
    add("adds", "require a value in every row", "it creates rows without a value");
  if (was.nullable !== true && column.nullable === true) add("adds", "allow rows without a value");
  if (isNarrower(column, found)) add("adds", "check that the existing values fit", "it writes values that do not fit");
  const target = found.references.get(before)?.target ?? "";
  if (target !== formatReference(column))
    add(
      "adds",
      target === ""
        ? `let it refer to ${formatReference(column)}`
        : column.references === undefined
          ? removeReferenceWords
          : "change its reference",
      target === "" ? "it may refer to missing rows" : null,
    );
  return changes;
}

/** True if a column gets a folded copy (lower case) that it did not have. An older program does not write that copy. */
export function getsFolded(schema: SchemaDialect, column: Column, found: FoundTable): boolean {
  return isFolded(column) && found.columns.has(column.name) && !found.columns.has(formatShadowName(schema, column));
}

function leftOverChanges(
  collection: Collection,
  found: FoundTable,
  { dropped }: MigrationParameters,
): readonly SchemaChange[] {
  const { name, removed = {} } = collection;
  const required = new Set(requiredLeftOvers(collection, found).map((column) => column.name));
  const referring = new Set(referringLeftOvers(collection, found).map((column) => column.name));
  return forgotten(collection, found).flatMap((column): SchemaChange[] => {
    const place = `${name}.${column}`;
    const isDeclared = found.declared?.columns.some((each) => each.name === column) === true;
    if (dropped.has(place))
      return [{ place, effect: "loses", words: dropWords, alone: isDeclared ? "it uses this column" : null }];
    const added = (words: string): SchemaChange => ({ place, effect: "adds", words, alone: null });
    return [
      ...(required.has(column) && removed[column] !== undefined ? [added("allow rows without a value")] : []),
      ...(referring.has(column) ? [added(removeReferenceWords)] : []),
    ];
  });
}

function* indexChanges(schema: SchemaDialect, collection: Collection): Script<readonly SchemaChange[]> {
  const wanted = collectIndexes(schema, collection);
  const found = yield* ask(schema.findIndexes(collection.name));
  const whole = found.filter((index) => index["is_whole"] !== false);
  const there = new Set(whole.map(({ name }) => declaredName(name as string)));
  const place = collection.name;
  const gone = [...there].filter(
    (name) =>
      !wanted.has(name) && [true, false].some((unique) => name.startsWith(`${indexPrefix(collection, unique)}(`)),
  );
  return [
    ...gone.map((name): SchemaChange => ({ place, effect: "adds", words: `drop the index ${name}`, alone: null })),
    ...[...wanted].flatMap(([name, { unique }]): SchemaChange[] =>
      there.has(name)
        ? []
        : [
            {
              place,
              effect: "adds",
              words: `create the index ${name}`,
              alone: unique === null ? null : "it may write values that exist already",
            },
          ],
    ),
  ];
}
