import { aFunction, buildObjectCheck, optional, text, texts, type ValueCheck } from "../../../core/checking/members.ts";
import { type ChecksOf } from "../../../core/checking/options.ts";
import { pickOwnCollections } from "../../declarations.ts";
import { MigrationNeeded, type Collection } from "../../store.ts";
import { quote } from "../language/names.ts";
import { ask, statement, type Script } from "../language/script.ts";
import { collectIndexes, collectTypes } from "../schema/definition.ts";
import { findTable } from "../schema/found-table.ts";
import { forgottenLinks } from "../schema/links.ts";
import type { SchemaDialect } from "../schema/schema.ts";
import { typesWithShape } from "../schema/table-shape.ts";
import { readHistory, type CompletedStep } from "./journal.ts";
import { monthNow, collectObstacles, planTable, type TablePlan, formatMisfit } from "./plan-table.ts";
import { requireKnownVersion } from "./prepare.ts";
import { dropWords, excludesOldPrograms, type SchemaChange } from "./schema-changes.ts";

/** The options of a migration. */
export interface MigrateOptions {
  /** The version of the program, which the history records. */
  readonly program: string;
  /** The columns that may be dropped with their values: `books.title`. */
  readonly dropped?: readonly string[];
  /** Receives the progress of a table. */
  readonly report?: (table: string, done: number, total: number) => void;
  /** Called once when all tables match the declaration, if the old rows must still be removed. */
  readonly settled?: () => void;
  /** Receives the progress of removing the old rows, in rows. */
  readonly reportRemoved?: (done: number, total: number) => void;
}

/** The check for these options. */
export const migrateOptions: ValueCheck = buildObjectCheck(
  {
    program: text,
    dropped: optional(texts),
    report: optional(aFunction),
    settled: optional(aFunction),
    reportRemoved: optional(aFunction),
  } satisfies ChecksOf<MigrateOptions>,
  "it has to be an object with program: the version of the program",
);

/** The result for one table. */
export interface MigratedTable {
  readonly table: string;
  readonly words: readonly string[];
  readonly rows: number;
  readonly ms: number;
}

/** The plans for all tables that exist. */
export interface MigrationPlans {
  readonly plans: readonly TablePlan[];
  /** The collections without a table. */
  readonly missing: readonly Collection[];
}

/** Compares all declarations with the database. */
export function* planTables(
  schema: SchemaDialect,
  collections: readonly Collection[],
  dropped: readonly string[] = [],
): Script<MigrationPlans> {
  if ((yield* requireKnownVersion(schema)) === 0) return { plans: [], missing: pickOwnCollections(collections) };
  const plans: TablePlan[] = [];
  const missing: Collection[] = [];
  const own = pickOwnCollections(collections);
  for (const collection of [...own, ...(yield* forgottenLinks(schema, own))]) {
    const found = yield* findTable(schema, collection);
    if (found === null) missing.push(collection);
    else plans.push(yield* planTable(schema, collection, found, { dropped: new Set(dropped), month: monthNow() }));
  }
  return { plans, missing };
}

/** Throws `MigrationNeeded` if a plan has obstacles, or if a column to drop does not exist. */
export function requirePossible(
  plans: readonly TablePlan[],
  dropped: readonly string[],
  history: readonly CompletedStep[],
): void {
  const problems = [...plans.flatMap(collectObstacles), ...strangersAmong(dropped, plans, history)];
  if (problems.length > 0) throw new MigrationNeeded(problems);
}

/**
 * Returns a sentence for each named column that cannot be dropped. A column that an earlier run dropped is no mistake,
 * because the command may be repeated.
 */
function strangersAmong(
  dropped: readonly string[],
  plans: readonly TablePlan[],
  history: readonly CompletedStep[],
): readonly string[] {
  const going = plans.flatMap(({ changes }) => changes.filter(({ effect }) => effect === "loses"));
  const removedPlaces = new Set(going.map(({ place }) => place));
  const gone = new Set(history.map(({ words }) => words));
  return dropped
    .filter((place) => !removedPlaces.has(place) && !gone.has(`${place}: ${dropWords}`))
    .map((place) => `${place} cannot be removed: it is declared, or there is no such column.`);
}

/** True if a start does not make all of the changes, so that `latchkey db migrate` must run. */
export function isMoreThanStart({ changes }: TablePlan): boolean {
  return changes.some(({ effect }) => effect !== "adds");
}

/** Returns the description of each change, for the history. */
export function describeChanges({ changes }: TablePlan): readonly string[] {
  return changes.map(({ place, words }) => `${place}: ${words}`);
}

/** The plan as operators see it: the changes of each table, and the obstacles. */
export interface Plan {
  readonly tables: readonly PlannedTable[];
  /** The problems that must be fixed first. */
  readonly obstacles: readonly string[];
  /** The columns that an operator named to be dropped and that cannot be dropped, each with the reason. */
  readonly strangers: readonly string[];
  /** New columns that may be renamed old ones. */
  readonly renames: readonly { readonly table: string; readonly from: string; readonly to: string }[];
  readonly remarks: readonly string[];
  readonly history: readonly CompletedStep[];
}

/** The plan for one table. */
export interface PlannedTable {
  readonly table: string;
  /** The number of rows. */
  readonly rows: number;
  /**
   * The estimated time in seconds, for a machine with two cores and some writes. It is not measured on this machine.
   */
  readonly seconds: number;
  readonly changes: readonly SchemaChange[];
  /**
   * The same change as SQL, to run by hand while the service is stopped. Null if a function of the declaration computes
   * values.
   */
  readonly sql: string | null;
}

/** The approximate number of rows that are checked in a second. */
const lookedAt = 500_000;

/**
 * Estimates the time to rewrite rows, in seconds. Each row goes into the table and into every index. If these are
 * larger than the memory, most of the time is reading and writing pages.
 */
function secondsToWrite(rows: number, indexes: number): number {
  const [quick, slow] = [Math.min(rows, 100_000), Math.max(rows - 100_000, 0)];
  return ((quick * 20 + slow * 60) * (1 + indexes)) / 1_000_000;
}

/**
 * Returns the whole plan before a migration starts. `isWritten` returns true if the migration rewrites the rows of a
 * table. `rows` is their number. `byHand` returns the statements to run by hand.
 */
export function* describePlan(
  schema: SchemaDialect,
  { plans, missing }: MigrationPlans,
  dropped: readonly string[],
  isWritten: (plan: TablePlan, rows: number) => boolean,
  byHand: (plan: TablePlan) => Script<readonly string[] | null>,
): Script<Plan> {
  const tables = missing.map(planMissing);
  for (const plan of plans) {
    if (plan.changes.length === 0) continue;
    const [count] = yield* ask(statement(`SELECT count(*) AS counted FROM ${quote(plan.collection.name)}`));
    const rows = Number(count!["counted"]);
    const indexes = collectIndexes(schema, plan.collection).size;
    const seconds = isWritten(plan, rows) ? secondsToWrite(rows, indexes) : rows / lookedAt;
    const steps = collectObstacles(plan).length > 0 || !isMoreThanStart(plan) ? null : yield* byHand(plan);
    tables.push({
      table: plan.collection.name,
      rows,
      seconds: Math.ceil(seconds),
      changes: plan.changes,
      sql: steps === null ? null : `${[...steps, rememberTypes(schema, plan), "COMMIT"].join(";\n")};\n`,
    });
  }
  const history = yield* readHistory(schema);
  return {
    tables,
    strangers: strangersAmong(dropped, plans, history),
    obstacles: plans.flatMap((plan) => [...plan.obstacles, ...plan.misfits.map(formatMisfit)]),
    renames: plans.flatMap(({ collection, renames }) => renames.map((each) => ({ table: collection.name, ...each }))),
    remarks: [...plans.flatMap(({ remarks }) => remarks), ...(yield* describeForgotten(schema, { plans, missing }))],
    history,
  };
}

/**
 * Returns remarks on tables that have rows but are no longer declared. This helps if the plural name of a resource was
 * changed.
 */
function* describeForgotten(schema: SchemaDialect, { plans, missing }: MigrationPlans): Script<readonly string[]> {
  if ((yield* ask(schema.findColumns("latchkey_schema"))).length === 0) return [];
  const declared = new Set([...plans.map(({ collection }) => collection.name), ...missing.map(({ name }) => name)]);
  const remembered = yield* ask(statement("SELECT collection FROM latchkey_schema ORDER BY collection"));
  const remarks: string[] = [];
  for (const name of remembered.map(({ collection }) => String(collection))) {
    if (declared.has(name) || (yield* ask(schema.findColumns(name))).length === 0) continue;
    const [count] = yield* ask(statement(`SELECT count(*) AS counted FROM ${quote(name)}`));
    const rows = Number(count!["counted"]);
    const stay = rows === 1 ? "1 row, which stays hidden" : `${rows.toLocaleString("en")} rows, which stay hidden`;
    if (rows > 0)
      remarks.push(
        `${name} is no longer declared, and has ${stay}. The table of a resource has the name of its plural.`,
      );
  }
  return remarks;
}

/** Returns the plan for a new table. */
export function planMissing({ name }: Collection): PlannedTable {
  const make: SchemaChange = { place: name, effect: "adds", words: "create the table", alone: null };
  return { table: name, rows: 0, seconds: 0, changes: [make], sql: null };
}

/**
 * Returns the SQL that records the new column types. The next start makes the rest: indexes, references, folded values.
 */
function rememberTypes(schema: SchemaDialect, { collection, found, changes }: TablePlan): string {
  const types = typesWithShape(collection, collectTypes(collection), {
    before: found,
    alone: excludesOldPrograms(changes),
  });
  return `UPDATE latchkey_schema SET types = ${schema.literal(JSON.stringify(types))} WHERE collection = ${schema.literal(collection.name)}`;
}
