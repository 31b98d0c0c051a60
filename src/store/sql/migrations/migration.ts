import { formatDeclaration } from "../../declarations.ts";
import { MigrationNeeded, type Collection, type Column } from "../../store.ts";
import { declaredName, indexPrefix, quote, formatShadowName } from "../language/names.ts";
import { ask, run, statement, type Script } from "../language/script.ts";
import { createTable, collectIndexes, collectTypes } from "../schema/definition.ts";
import { findReferences, findTable, isOurs } from "../schema/found-table.ts";
import { fillLinks } from "../schema/links.ts";
import { formatReference, type FoundTable, type SchemaDialect } from "../schema/schema.ts";
import { typesWithShape, type TableChange } from "../schema/table-shape.ts";
import { fitWords } from "../word-index.ts";
import { monthNow, collectObstacles, planTable, type TablePlan } from "./plan-table.ts";
import { excludesOldPrograms } from "./schema-changes.ts";

/**
 * Creates or changes the tables of collections. Throws `MigrationNeeded` with all obstacles, including those of the
 * plans in `others`.
 */
export function* fitTables(
  schema: SchemaDialect,
  collections: readonly Collection[],
  others: readonly TablePlan[] = [],
): Script<void> {
  const problems = others.flatMap(problemsIn);
  const unfit = others.filter((plan) => problemsIn(plan).length > 0).map(({ collection }) => collection.name);
  const fitted: [collection: Collection, changed: TableChange][] = [];
  for (const collection of collections) {
    const found = yield* findTable(schema, collection);
    const plan = found === null ? null : yield* planAtStart(schema, collection, found);
    const tableProblems = yield* fitTable(schema, collection, plan);
    problems.push(...tableProblems);
    if (tableProblems.length === 0)
      fitted.push([collection, plan === null ? { before: null, alone: false } : changedBy(plan)]);
    else unfit.push(collection.name);
  }
  for (const [collection, { before }] of fitted) if (before === null) yield* fillLinks(schema, collection);
  // References come last, because tables may refer to each other in a circle.
  for (const [collection, { before }] of fitted) problems.push(...(yield* fitReferences(schema, collection, before)));
  if (problems.length > 0) throw new MigrationNeeded(problems, unfit);
  for (const [collection, changed] of fitted) yield* rememberDeclaration(schema, collection, changed);
}

/** Creates or changes the table of a collection, without its references. Returns the obstacles, each with its fix. */
export function* fitTable(
  schema: SchemaDialect,
  collection: Collection,
  plan: TablePlan | null,
): Script<readonly string[]> {
  if (plan === null) {
    yield* run(createTable(schema, collection));
  } else {
    const { found } = plan;
    const problems = problemsIn(plan);
    if (problems.length > 0 && !isOurs(found)) return problems;
    if (problems.length > 0 && (found.rows || (yield* hasRowsBehindLock(schema, collection)))) return problems;
    // The table is empty, so it can be dropped and made again.
    if (problems.length > 0) yield* remake(schema, collection, found);
    else yield* schema.alter(collection, found);
  }
  yield* schema.complete(collection);
  yield* fitWords(schema, collection);
  return yield* fitIndexes(schema, collection);
}

/** Plans the changes to a table that differs from its declaration at the start. */
export function planAtStart(schema: SchemaDialect, collection: Collection, found: FoundTable): Script<TablePlan> {
  return planTable(schema, collection, found, { dropped: new Set(), month: monthNow() });
}

/** Returns the old table, and whether processes with the old declaration must stop writing to it. */
export function changedBy({ found, obstacles, changes }: TablePlan): TableChange {
  return { before: found, alone: obstacles.length > 0 || excludesOldPrograms(changes) };
}

/**
 * Adds the declared references, and drops the store's own references that are no longer declared. `before` is the old
 * table.
 */
export function* fitReferences(
  schema: SchemaDialect,
  collection: Collection,
  before: FoundTable | null,
): Script<readonly string[]> {
  const there = schema.referencesInColumns ? before?.references : yield* findReferences(schema, collection.name);
  const problems: string[] = [];
  for (const column of collection.columns) {
    const found = there?.get(column.name);
    if (column.references === undefined || found?.target === formatReference(column)) continue;
    const dangling = yield* danglingIn(collection, column, column.references.collection);
    if (dangling === null)
      for (const sql of schema.changeReference(collection, column, found?.constraint ?? null)) yield* run(sql);
    else problems.push(dangling);
  }
  for (const [name, { constraint }] of there ?? []) {
    const column = collection.columns.find((each) => each.name === name);
    if (column?.references === undefined)
      for (const sql of schema.changeReference(collection, null, constraint)) yield* run(sql);
  }
  return problems;
}

/** Stores the declaration of a collection, and the types of all columns that its table ever had. */
export function* rememberDeclaration(
  schema: SchemaDialect,
  collection: Collection,
  changed: TableChange,
): Script<void> {
  const types = typesWithShape(collection, collectTypes(collection), changed);
  const values = [collection.name, formatDeclaration(collection), JSON.stringify(types)];
  const places = values.map((_, at) => schema.place(at + 1)).join(", ");
  yield* ask(
    statement(
      `INSERT INTO latchkey_schema (collection, declaration, types) VALUES (${places}) ` +
        "ON CONFLICT (collection) DO UPDATE SET declaration = excluded.declaration, types = excluded.types",
      values,
    ),
  );
}

/**
 * Locks the table, then returns true if rows were written before the lock. Under the lock, an empty table stays empty
 * and can be dropped.
 */
function* hasRowsBehindLock(schema: SchemaDialect, { name }: Collection): Script<boolean> {
  if (schema.lock !== null) yield* run(schema.lock(name));
  return (yield* ask(statement(`SELECT 1 FROM ${quote(name)} LIMIT 1`))).length > 0;
}

function* remake(schema: SchemaDialect, collection: Collection, found: FoundTable): Script<void> {
  const again = yield* schema.drop(collection, found);
  yield* run(createTable(schema, collection));
  for (const sql of again) yield* run(sql);
}

/**
 * Returns the problems that a start does not solve, each with its fix: obstacles, and changes that need
 * `latchkey db migrate`.
 */
export function problemsIn(plan: TablePlan): readonly string[] {
  const requestedChanges = Map.groupBy(
    plan.changes.filter(({ effect }) => effect !== "adds"),
    ({ place }) => place,
  );
  return [
    ...collectObstacles(plan),
    ...[...requestedChanges].map(
      ([place, each]) =>
        `${place} does not match its declaration. To ${each
          .map(({ words }) => words)
          .join(", and ")}, run: latchkey db migrate (latchkey db plan shows the steps, and changes nothing).`,
    ),
  ];
}

/** Creates the declared indexes, and drops the store's own indexes that are no longer declared. */
function* fitIndexes(schema: SchemaDialect, collection: Collection): Script<readonly string[]> {
  const wanted = collectIndexes(schema, collection);
  const { there, useless } = yield* findOwnIndexes(schema, collection);
  for (const name of useless) yield* run(`DROP INDEX ${quote(name)}`);
  const problems: string[] = [];
  for (const [name, { sql, unique, folds }] of wanted) {
    if (there.has(name)) continue;
    // A process that does not know the index may have written rows without the folded value.
    if (folds !== null) yield* schema.fillShadow(collection, folds);
    const inTheWay = unique === null ? null : yield* duplicatesIn(schema, collection, unique);
    if (inTheWay === null) yield* run(sql);
    else problems.push(inTheWay);
  }
  return problems;
}

/**
 * Returns the existing indexes by their declared names, and the store's own indexes to drop: no longer declared, or
 * only partly built.
 */
export function* findOwnIndexes(
  schema: SchemaDialect,
  collection: Collection,
): Script<{ readonly there: ReadonlySet<string>; readonly useless: readonly string[] }> {
  const wanted = collectIndexes(schema, collection);
  const there = new Set<string>();
  const useless: string[] = [];
  for (const found of yield* ask(schema.findIndexes(collection.name))) {
    const name = String(found["name"]);
    const isOurs = [true, false].some((unique) => name.startsWith(`${indexPrefix(collection, unique)}(`));
    if (isOurs && (found["is_whole"] === false || !wanted.has(declaredName(name)))) useless.push(name);
    else there.add(declaredName(name));
  }
  return { there, useless };
}

/** Returns the problem if some rows have the same values in unique columns. Returns null otherwise. */
export function* duplicatesIn(
  schema: SchemaDialect,
  collection: Collection,
  unique: readonly Column[],
): Script<string | null> {
  const [column] = unique as readonly [Column];
  if (unique.length > 1) return yield* equalRowsIn(collection, unique);
  const folded = column.unique === "folded";
  const select = (value: string): string =>
    `SELECT ${value} AS value, count(*) FROM ${quote(collection.name)} WHERE ${value} IS NOT NULL GROUP BY 1 HAVING count(*) > 1`;
  const found = yield* ask(
    statement(`${select(quote(folded ? formatShadowName(schema, column) : column.name))} LIMIT 1`),
  );
  if (found.length === 0) return null;
  const shown = folded ? `lower(${quote(column.name)})` : quote(column.name);
  return `${collection.name}.${column.name} is declared unique${folded ? " without regard to case" : ""}, but some values exist more than once. Find them and change all but one: ${select(shown)};`;
}

/** Returns the problem if some rows have the same values in all these columns. Returns null otherwise. */
function* equalRowsIn({ name }: Collection, columns: readonly Column[]): Script<string | null> {
  const names = columns.map((column) => quote(column.name));
  const select = (wanted: string): string =>
    `SELECT ${wanted} FROM ${quote(name)} WHERE ${names.map((each) => `${each} IS NOT NULL`).join(" AND ")} GROUP BY ${names.join(", ")} HAVING count(*) > 1`;
  const found = yield* ask(
    statement(`${select('min("id") AS first, max("id") AS last')} ORDER BY 1 LIMIT ${MAX_SHOWN_PAIRS}`),
  );
  if (found.length === 0) return null;
  const pairs = found.map(({ first, last }) => `${String(first)} and ${String(last)}`);
  const set = columns.map((column) => column.name).join(", ");
  return `${name} (${set}) is a unique set, but some rows have the same values: ${pairs.join("; ")} (ids). Change or delete all but one of each: ${select(`${names.join(", ")}, count(*)`)};`;
}

/** The number of pairs of equal rows that a message shows. */
const MAX_SHOWN_PAIRS = 3;

/** Returns the problem if some rows refer to missing rows. Returns null otherwise. */
function* danglingIn({ name }: Collection, column: Column, target: string): Script<string | null> {
  const [from, to, by] = [quote(name), quote(target), quote(column.name)];
  const rows = `FROM ${from} WHERE ${by} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${to} AS target WHERE target."id" = ${from}.${by})`;
  if ((yield* ask(statement(`SELECT 1 ${rows} LIMIT 1`))).length === 0) return null;
  return `${name}.${column.name} refers to missing rows of ${target}. List the rows, and change or delete them: SELECT * ${rows};`;
}
