import { aFunction, objectOf, optional, text, texts, type Check } from "../../../core/checking/members.ts";
import { type ChecksOf } from "../../../core/checking/options.ts";
import { ownOf } from "../../declarations.ts";
import { MigrationNeeded, type Collection } from "../../store.ts";
import { quote } from "../names.ts";
import { indexesOf, typesOf } from "../schema/definition.ts";
import { findTable } from "../schema/found-table.ts";
import { forgottenLinks } from "../schema/links.ts";
import { requireKnownVersion } from "../schema/prepare.ts";
import type { Schema } from "../schema/schema.ts";
import { ask, statement, type Script } from "../schema/script.ts";
import { typesWithShape } from "../schema/shape.ts";
import { dropWords, endsOthers, type Change } from "./changes.ts";
import { readHistory, type Done } from "./journal.ts";
import { monthNow, obstaclesOf, planTable, type TablePlan, tellMisfit } from "./plan-table.ts";

/** How a migration is made. */
export interface MigrateOptions {
  /** The version of the program, which the history keeps. */
  readonly program: string;
  /** The columns that may go with their values: `books.title`. */
  readonly dropped?: readonly string[];
  /** Is told how far the work on a table is. */
  readonly tell?: (table: string, done: number, total: number) => void;
  /** Is told once when all tables are as declared, where something is left of before that takes its time to be removed. */
  readonly settled?: () => void;
  /** Is told how many rows of that are removed. */
  readonly tellRemoved?: (done: number, total: number) => void;
}

/** How those options are checked. */
export const migrateOptions: Check = objectOf(
  {
    program: text,
    dropped: optional(texts),
    tell: optional(aFunction),
    settled: optional(aFunction),
    tellRemoved: optional(aFunction),
  } satisfies ChecksOf<MigrateOptions>,
  "it has to be an object with program: the version of the program",
);

/** What has been done to a table. */
export interface MigratedTable {
  readonly table: string;
  readonly words: readonly string[];
  readonly rows: number;
  readonly ms: number;
}

/** What is to be done to each table that is there. */
export interface Planned {
  readonly plans: readonly TablePlan[];
  /** The collections whose tables are not there. */
  readonly missing: readonly Collection[];
}

/** Compares all declarations with what is there. */
export function* planTables(
  schema: Schema,
  collections: readonly Collection[],
  dropped: readonly string[] = [],
): Script<Planned> {
  if ((yield* requireKnownVersion(schema)) === 0) return { plans: [], missing: ownOf(collections) };
  const plans: TablePlan[] = [];
  const missing: Collection[] = [];
  const own = ownOf(collections);
  for (const collection of [...own, ...(yield* forgottenLinks(schema, own))]) {
    const found = yield* findTable(schema, collection);
    if (found === null) missing.push(collection);
    else plans.push(yield* planTable(schema, collection, found, { dropped: new Set(dropped), month: monthNow() }));
  }
  return { plans, missing };
}

/** Throws where any plan cannot be kept, or where a column is to go that is not there. */
export function requirePossible(
  plans: readonly TablePlan[],
  dropped: readonly string[],
  history: readonly Done[],
): void {
  const problems = [...plans.flatMap(obstaclesOf), ...strangersAmong(dropped, plans, history)];
  if (problems.length > 0) throw new MigrationNeeded(problems);
}

/** Of the columns that may go, those that cannot, as sentences. One that has gone already is none of them: the command may be given again. */
function strangersAmong(
  dropped: readonly string[],
  plans: readonly TablePlan[],
  history: readonly Done[],
): readonly string[] {
  const going = plans.flatMap(({ changes }) => changes.filter(({ effect }) => effect === "loses"));
  const known = new Set(going.map(({ place }) => place));
  const gone = new Set(history.map(({ words }) => words));
  return dropped
    .filter((place) => !known.has(place) && !gone.has(`${place}: ${dropWords}`))
    .map((place) => `${place} is no column that could go: it is declared, or not there.`);
}

/** Whether there is more to do than a start does. */
export function isMoreThanStart({ changes }: TablePlan): boolean {
  return changes.some(({ effect }) => effect !== "adds");
}

/** What was done, for the history. */
export function wordsOf({ changes }: TablePlan): readonly string[] {
  return changes.map(({ place, words }) => `${place}: ${words}`);
}

/** A plan as it is told: what is done to each table, and what stands in the way. */
export interface Plan {
  readonly tables: readonly PlannedTable[];
  /** What has to be mended before anything begins. */
  readonly obstacles: readonly string[];
  /** Columns that were said to be allowed to go, and cannot: what is wrong with each. */
  readonly strangers: readonly string[];
  /** New columns that may be old ones under another name. */
  readonly renames: readonly { readonly table: string; readonly from: string; readonly to: string }[];
  readonly remarks: readonly string[];
  readonly history: readonly Done[];
}

/** What is done to a table. */
export interface PlannedTable {
  readonly table: string;
  /** How many rows it has. */
  readonly rows: number;
  /** About how long it takes, in seconds, as a machine of two cores does it beside some who write; this one is not measured. */
  readonly seconds: number;
  readonly changes: readonly Change[];
  /** The same as SQL to be run by hand, with the service stopped; null where a function of the declaration makes values. */
  readonly sql: string | null;
}

/** About how many rows a second are looked at. */
const lookedAt = 500_000;

/**
 * About how long it takes to write rows anew, in seconds: each goes into the table and into every index, and where these are larger than
 * what is kept in memory, most of that is reading and writing pages.
 */
function secondsToWrite(rows: number, indexes: number): number {
  const [quick, slow] = [Math.min(rows, 100_000), Math.max(rows - 100_000, 0)];
  return ((quick * 20 + slow * 60) * (1 + indexes)) / 1_000_000;
}

/**
 * Everything that is known before a migration begins. `isWritten` says whether the rows of a table, so many, are written anew; `byHand` gives
 * the statements for it.
 */
export function* tellPlan(
  schema: Schema,
  { plans, missing }: Planned,
  dropped: readonly string[],
  isWritten: (plan: TablePlan, rows: number) => boolean,
  byHand: (plan: TablePlan) => Script<readonly string[] | null>,
): Script<Plan> {
  const tables = missing.map(tellMissing);
  for (const plan of plans) {
    if (plan.changes.length === 0) continue;
    const [count] = yield* ask(statement(`SELECT count(*) AS counted FROM ${quote(plan.collection.name)}`));
    const rows = Number(count!["counted"]);
    const indexes = indexesOf(schema, plan.collection).size;
    const seconds = isWritten(plan, rows) ? secondsToWrite(rows, indexes) : rows / lookedAt;
    const steps = obstaclesOf(plan).length > 0 || !isMoreThanStart(plan) ? null : yield* byHand(plan);
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
    obstacles: plans.flatMap((plan) => [...plan.obstacles, ...plan.misfits.map(tellMisfit)]),
    renames: plans.flatMap(({ collection, renames }) => renames.map((each) => ({ table: collection.name, ...each }))),
    remarks: [...plans.flatMap(({ remarks }) => remarks), ...(yield* tellForgotten(schema, { plans, missing }))],
    history,
  };
}

/** Tables with rows that nobody declares any more: whoever has given a resource another plural finds them here. */
function* tellForgotten(schema: Schema, { plans, missing }: Planned): Script<readonly string[]> {
  if ((yield* ask(schema.findColumns("latchkey_schema"))).length === 0) return [];
  const declared = new Set([...plans.map(({ collection }) => collection.name), ...missing.map(({ name }) => name)]);
  const remembered = yield* ask(statement("SELECT collection FROM latchkey_schema ORDER BY collection"));
  const told: string[] = [];
  for (const name of remembered.map(({ collection }) => String(collection))) {
    if (declared.has(name) || (yield* ask(schema.findColumns(name))).length === 0) continue;
    const [count] = yield* ask(statement(`SELECT count(*) AS counted FROM ${quote(name)}`));
    const rows = Number(count!["counted"]);
    const stay =
      rows === 1
        ? "1 row. It stays, and nobody sees it"
        : `${rows.toLocaleString("en")} rows. They stay, and nobody sees them`;
    if (rows > 0)
      told.push(`${name} is declared no more, and has ${stay}. The table of a resource has the name of its plural.`);
  }
  return told;
}

/** A table that is to be made. */
export function tellMissing({ name }: Collection): PlannedTable {
  const make: Change = { place: name, effect: "adds", words: "make the table", alone: null };
  return { table: name, rows: 0, seconds: 0, changes: [make], sql: null };
}

/** What the columns are from now on. The next start makes what is missing yet: indexes, references, folded values. */
function rememberTypes(schema: Schema, { collection, found, changes }: TablePlan): string {
  const types = typesWithShape(collection, typesOf(collection), { before: found, alone: endsOthers(changes) });
  return `UPDATE latchkey_schema SET types = ${schema.literal(JSON.stringify(types))} WHERE collection = ${schema.literal(collection.name)}`;
}
