import { shownName, suggestion } from "../../../core/checking/nearest.ts";
import {
  StoreSetupError,
  type Collection,
  type Column,
  type ExistingTable,
  type FoundColumnForm,
} from "../../store.ts";
import { same } from "../language/form.ts";
import { ask, statement, type Script } from "../language/script.ts";
import { unfitIn, wordsFor } from "../schema/checked.ts";
import {
  buildKeyColumn,
  inheritedFrom,
  resolveRawName,
  shownKeySQL,
  type FoundExisting,
  type FoundExistingColumn,
} from "../schema/found.ts";
import type { SchemaDialect } from "../schema/schema.ts";
import { createTableLookup } from "../schema/table.ts";
import { writeMistakes } from "./write-mistakes.ts";

/** The number of rows that are checked at the start. A mistake in a later row is reported when that row is read. */
export const LOOKED_AT = 10_000;

/**
 * Checks the existing tables. Returns each collection with the forms of its columns and the indexes that exist. Throws
 * `StoreSetupError` with all differences between a table and its declaration.
 */
export function* settleExisting(
  schema: SchemaDialect,
  collections: readonly Collection[],
): Script<ReadonlyMap<string, Collection>> {
  const settled = new Map<string, Collection>();
  const problems: string[] = [];
  const own = new Set(collections.filter(({ existing }) => existing === undefined).map(({ name }) => name));
  for (const collection of collections) {
    const { existing } = collection;
    if (existing === undefined) continue;
    if (own.has(existing.table) || /^(latchkey|sqlite|pg)_/i.test(existing.table)) {
      problems.push(
        `${collection.name}: the table ${existing.table} has the name of one of Latchkey's own tables. Give Latchkey's tables a prefix before its first start (LATCHKEY_TABLE_PREFIX=lk_, or tablePrefix of the store), or on PostgreSQL a schema. If Latchkey created the table, serve it by its resource.`,
      );
      continue;
    }
    const instants = collection.columns.filter(({ type }) => type === "date-time");
    const found = yield* schema.findExisting(
      existing.table,
      new Set(instants.map(({ name }) => resolveRawName(existing, name))),
    );
    const mistakes =
      found === null ? [`there is no table ${existing.table}`] : mistakesIn(schema, collection, existing, found);
    problems.push(...mistakes.map((each) => `${collection.name}: ${each}.`));
    if (found === null || mistakes.length > 0) continue;
    const one = settledAs(schema, collection, existing, found);
    const unreadable = yield* schema.findUnreadable(one);
    const unfit = unreadable.length > 0 ? unreadable : yield* naming(existing.table, unfitRows(schema, one));
    const unwritable = yield* schema.findUnwritable(one);
    problems.push(...[...unfit, ...unwritable].map((each) => `${collection.name}: ${each}.`));
    settled.set(collection.name, one);
  }
  if (problems.length > 0) throw new StoreSetupError(problems);
  return settled;
}

/** Returns all collections. A collection over an existing table has the form that was found in the database. */
export function asSettled(
  collections: readonly Collection[],
  settled: ReadonlyMap<string, Collection>,
): readonly Collection[] {
  return collections.map((each) => settled.get(each.name) ?? each);
}

/**
 * Returns the collection in the form that was found in the database. Its indexes are those of the table and not the
 * declared ones.
 */
function settledAs(
  schema: SchemaDialect,
  collection: Collection,
  existing: ExistingTable,
  found: FoundExisting,
): Collection {
  const byRaw = new Map(
    ["id", ...collection.columns.map(({ name }) => name)].map((name) => [resolveRawName(existing, name), name]),
  );
  const forms = Object.fromEntries(
    [...byRaw].map(([raw, name]) => [name, formFound(found.columns.find((column) => column.name === raw)!)]),
  );
  const indexes = found.indexes.map((index) => {
    const names = index.map((raw) => byRaw.get(raw));
    const end = names.indexOf(undefined);
    return (end === -1 ? names : names.slice(0, end)) as readonly string[];
  });
  const ruled = [
    ...found.uniques,
    ...found.narrowUniques,
    ...found.references.map(({ constraint, columns }) => [constraint ?? "", columns] as const),
    ...[...(found.ruled ?? [])].map(([constraint, column]) => [constraint, [column]] as const),
  ];
  const constraints = Object.fromEntries(
    ruled.flatMap(([name, columns]) => {
      const column = columns.map((raw) => byRaw.get(raw)).find((each) => each !== undefined);
      return name === "" || column === undefined ? [] : [[name, column]];
    }),
  );
  const sets = Object.fromEntries(
    [...found.uniques].flatMap(([name, columns]) => {
      const set = (collection.uniques ?? []).find((each) => isOver(columns, each, existing));
      return set === undefined ? [] : [[name, set]];
    }),
  );
  const settled = { ...existing, revision: revisionFor(existing, found), found: forms, constraints, sets };
  return {
    ...collection,
    columns: collection.columns.map((column) => ({
      ...column,
      ...servedBy(schema, column, forms[column.name]!),
      ...repeatingIn(schema, column, forms[column.name]!),
    })),
    indexes: indexes.filter(({ length }) => length > 0),
    existing: { ...settled, ...keyServedBy(schema, { ...collection, existing: settled }, settled, found) },
  };
}

/**
 * Returns which conditions on the key an index can answer. An index with another collation does not find an id: in
 * SQLite a key may be `COLLATE NOCASE`. Assumes that an index can answer all conditions on a view, because the indexes
 * of its tables are unknown.
 */
function keyServedBy(
  schema: SchemaDialect,
  collection: Collection,
  existing: ExistingTable,
  { isTable, indexes }: FoundExisting,
): Pick<ExistingTable, "served"> {
  const raw = resolveRawName(existing, "id");
  if (!isTable) return {};
  if (!indexes.some(([first]) => first === raw)) return { served: "nothing" };
  return servedBy(schema, buildKeyColumn(collection), existing.found!["id"]!);
}

function servedBy(schema: SchemaDialect, column: Column, found: FoundColumnForm): Pick<Column, "served"> {
  const form = schema.chooseForm(column, found);
  if (typeof form === "string" || form.inOrder) return {};
  return { served: form.equal.of === same ? "equality" : "nothing" };
}

function repeatingIn(schema: SchemaDialect, column: Column, found: FoundColumnForm): Pick<Column, "mayRepeat"> {
  const form = schema.chooseForm(column, found);
  return typeof form !== "string" && form.mayRepeat === true ? { mayRepeat: true } : {};
}

/**
 * Returns the source of revisions. A view uses a digest, because it has no other value that changes with each state of
 * a row.
 */
function revisionFor({ revision }: ExistingTable, { isTable }: FoundExisting): ExistingTable["revision"] {
  return revision === "database" && !isTable ? "digest" : revision;
}

function formFound({
  storage,
  nullable,
  filled,
  generated,
  words,
  byCodePoint,
  isLoose,
  shape,
}: FoundExistingColumn): FoundColumnForm {
  return {
    storage,
    nullable,
    filled,
    generated,
    ...(words === undefined ? {} : { words }),
    ...(byCodePoint === undefined ? {} : { byCodePoint }),
    ...(isLoose === undefined ? {} : { isLoose }),
    ...(shape === undefined ? {} : { shape }),
  };
}

/** Returns the differences between a table and its declaration, each with its fix. */
function mistakesIn(
  schema: SchemaDialect,
  collection: Collection,
  existing: ExistingTable,
  found: FoundExisting,
): string[] {
  const { table } = existing;
  const mistakes = keyMistakes(schema, collection, existing, found);
  for (const column of collection.columns) {
    const raw = resolveRawName(existing, column.name);
    const there = found.columns.find(({ name }) => name === raw);
    if (there === undefined) {
      const names = found.columns.map(({ name }) => name);
      mistakes.push(
        `${table} has no column ${shownName(raw)}${suggestion(raw, names)}; name the one of ${column.name} in columns: { ${column.name}: "…" }`,
      );
      continue;
    }
    const form = schema.chooseForm(column, formFound(there));
    if (typeof form === "string") mistakes.push(`${table}.${raw} ${form}; declare ${column.name} otherwise`);
    const isUnique = [...found.uniques.values(), found.key].some((each) => each.length === 1 && each[0] === raw);
    if (column.unique === true && !isUnique)
      mistakes.push(
        `${column.name} is declared unique, but ${table}.${raw} has no unique index; leave unique out, or create the index`,
      );
  }
  for (const set of collection.uniques ?? [])
    if (![...found.uniques.values()].some((columns) => isOver(columns, set, existing)))
      mistakes.push(
        `(${set.join(", ")}) is declared as a unique set, but ${table} has no unique index over (${set.map((name) => resolveRawName(existing, name)).join(", ")}); leave the set out, or create the index`,
      );
  mistakes.push(...writeMistakes(schema, collection, existing, found));
  return mistakes;
}

/** Returns true if an index has exactly the columns of a declared set, in any order. */
function isOver(columns: readonly string[], set: readonly string[], existing: ExistingTable): boolean {
  return columns.length === set.length && set.every((name) => columns.includes(resolveRawName(existing, name)));
}

function keyMistakes(
  schema: SchemaDialect,
  collection: Collection,
  existing: ExistingTable,
  found: FoundExisting,
): string[] {
  const { table } = existing;
  const inherited = inheritedFrom(table, found);
  if (inherited !== null) return [`${table} has no unique key: ${inherited}`];
  const raw = resolveRawName(existing, "id");
  const names = found.columns.map(({ name }) => name);
  const column = found.columns.find(({ name }) => name === raw);
  if (found.key.length > 1)
    return [
      `the key of ${table} has ${found.key.length} columns (${found.key.join(", ")}), but a record has one id; serve a view that joins them into one text, or give the table a unique column and name it in columns: { id: "…" }`,
    ].filter(() => !isKey(found, raw));
  if (column === undefined) {
    const key = found.key[0];
    return [
      `${table} has no column ${shownName(raw)}${suggestion(raw, names)}; name its key in columns: { id: "${key ?? "…"}" }`,
    ];
  }
  if (found.isTable && !isKey(found, raw))
    return [
      `${table}.${raw} is neither the key of the table nor a unique column without NULL; name its key in columns: { id: "${found.key[0] ?? "…"}" }`,
    ];
  const form = schema.chooseForm(
    { ...buildKeyColumn({ ...collection, existing: { ...existing, found: { id: formFound(column) } } }) },
    formFound(column),
  );
  return typeof form === "string"
    ? [`the key ${table}.${raw} ${form}; declare the type of the ids: id: "integer", "text" or "uuid"`]
    : [];
}

/** Returns true if every row has a value in this column, and no two rows have the same. */
function isKey({ key, uniques, columns }: FoundExisting, raw: string): boolean {
  if (key.length === 1 && key[0] === raw) return true;
  const isUnique = [...uniques.values()].some((each) => each.length === 1 && each[0] === raw);
  return isUnique && columns.find(({ name }) => name === raw)?.nullable === false;
}

/**
 * Adds the name of the table to the message of an error. Keeps the error object, so that the code that retries still
 * recognizes the error.
 */
function* naming<T>(table: string, script: Script<T>): Script<T> {
  try {
    return yield* script;
  } catch (error) {
    if (error instanceof Error) error.message = `The first rows of ${table} cannot be read: ${error.message}`;
    throw error;
  }
}

/** Finds values in the first rows that are not of the declared kind. Returns one sentence for each column. */
function* unfitRows(schema: SchemaDialect, collection: Collection): Script<readonly string[]> {
  const table = createTableLookup(schema)(collection);
  const mistakes: string[] = [];
  if (collection.key === "integer") {
    const [first] = yield* ask(statement(`SELECT ${shownKeySQL('min("id")')} AS key FROM ${table.name}`));
    const least = first!["key"];
    if (least !== null && !(Number(least) >= 1))
      mistakes.push(
        `${collection.existing!.table} has a row with the key ${String(least)}, and ids are whole numbers from 1; serve a view without it, or declare id: "text" if the key is a text`,
      );
  }
  for (const column of table.columns.values()) {
    const { form, quoted } = column;
    if (form === null) continue;
    const isNullable = collection.existing!.found![column.name]!.nullable;
    const unfit = unfitIn({ column, form, isNullable }, quoted);
    if (unfit === null) continue;
    const looked = quoted === '"id"' ? quoted : `"id", ${quoted}`;
    const rows = yield* ask(
      statement(
        `SELECT ${shownKeySQL('"id"')} AS key FROM (SELECT ${looked} FROM ${table.name} LIMIT ${LOOKED_AT}) AS t WHERE ${unfit} LIMIT 4`,
      ),
    );
    if (rows.length === 0) continue;
    const some = rows.slice(0, 3).map(({ key }) => String(key));
    const which = rows.length > 3 ? `${some.join(", ")}, …` : some.join(", ");
    mistakes.push(
      `${collection.existing!.table}.${resolveRawName(collection.existing!, column.name)} has values that do not fit the declaration of ${column.name} (${wordsFor(column)}), in the rows ${which}; mend the rows, or change the declaration`,
    );
  }
  return mistakes;
}
