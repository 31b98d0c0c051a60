import { setTimeout as sleep } from "node:timers/promises";
import type { Cell } from "../../sql/language/dialect.ts";
import { quote } from "../../sql/language/names.ts";
import { statement, stepsIn, type ScriptStep } from "../../sql/language/script.ts";
import { readUnfinished, digestTarget, writeUnfinished, type Unfinished } from "../../sql/migrations/journal.ts";
import type { MigrateOptions } from "../../sql/migrations/migrating.ts";
import type { TablePlan } from "../../sql/migrations/plan-table.ts";
import { keyType } from "../../sql/migrations/rows-before.ts";
import type { Key } from "../../store.ts";
import { findSQLState } from "../errors.ts";
import type { Session } from "../network/session.ts";
import { commit, transientStates, retryOnLock } from "./lock-retry.ts";
import { postgresSchema } from "./migration.ts";
import {
  createRowConversion,
  createShadowColumns,
  formatMovedTable,
  setBySQL,
  type ShadowColumn,
} from "./shadow-column.ts";

/**
 * The number of rows of the first batch, and the target time of a batch in milliseconds. Later batches have at least as
 * many rows, except when a batch is tried again.
 */
export const FIRST_BATCH = 500;
export const BATCH_MS = 100;

/** The work on one table. */
export interface Work {
  readonly session: Session;
  readonly plan: TablePlan;
  readonly options: MigrateOptions;
}

/**
 * Fills new columns while clients read and write the old ones. Returns the state of the work, with the number of rows
 * that were written.
 */
export async function fillShadowColumns(work: Work, shadows: readonly ShadowColumn[]): Promise<Unfinished> {
  const { session, plan, options } = work;
  const { name } = plan.collection;
  const target = digestTarget(plan, options.dropped ?? []);
  const [count] = await session.send(statement(`SELECT count(*) AS counted FROM ${quote(name)}`));
  let state = await session.play(readUnfinished(postgresSchema, name));
  if (state?.target !== target) {
    state = { target, cursor: null, rows: 0, filled: false };
    await retryOnLock(session, [name], createShadowColumns(plan, shadows), async () =>
      stepsIn(writeUnfinished(postgresSchema, name, state!)),
    );
  }
  let batch = FIRST_BATCH;
  while (!state.filled) {
    const start = performance.now();
    const before: Unfinished = state;
    state = await inBatch(session, (part) => fillBatch(work, shadows, before, Math.ceil(batch * part)));
    const took = performance.now() - start;
    batch = nextBatchSize(batch, took);
    options.report?.(name, state.rows, Number(count!["counted"]));
    await sleep(took / 2);
  }
  return state;
}

/** Returns the size of the next batch, from the size and the time of the last one. */
export function nextBatchSize(batch: number, tookMs: number): number {
  // On a busy machine, most of the time passes between the statements. Smaller batches would not be faster then.
  return Math.min(Math.max(Math.round((batch * BATCH_MS) / Math.max(tookMs, 1)), FIRST_BATCH), 10_000);
}

/**
 * The result of a batch, and the steps that are sent together with the COMMIT. So the rows stay locked for one round
 * trip less.
 */
export interface Batch<T> {
  readonly done: T;
  readonly last: readonly ScriptStep[];
}

/**
 * Runs a batch. If it conflicts with another transaction, the next try takes about half as many rows, so that fewer
 * rows are locked.
 */
export async function inBatch<T>(session: Session, task: (part: number) => Promise<Batch<T>>): Promise<T> {
  for (let tries = 1; ; tries++) {
    await session.run("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = 50");
    try {
      const { done, last } = await task(1 / 2 ** Math.min(tries - 1, 10));
      await commit(session, last);
      return done;
    } catch (error) {
      await session.run("ROLLBACK");
      if (!transientStates.has(findSQLState(error)) || tries === 1000) throw error;
    }
    await sleep(Math.random() * 50);
  }
}

async function fillBatch(
  work: Work,
  shadows: readonly ShadowColumn[],
  state: Unfinished,
  batch: number,
): Promise<Batch<Unfinished>> {
  const type = keyType(postgresSchema, work.plan.collection.key);
  const next = `WHERE ($1::${type} IS NULL OR "id" > $1) ORDER BY "id" LIMIT ${batch} FOR NO KEY UPDATE`;
  const { ids, renew } = await lockRows(work, shadows, next, [state.cursor]);
  // A batch that is not full ends the loop. A loop that also filled the rows that clients add might never end. The
  // trigger has recorded these rows.
  const filled = ids.length < batch;
  const cursor = ids.length === 0 ? state.cursor : (ids.at(-1) as Key);
  return buildBatch(work, { ...state, cursor, rows: state.rows + ids.length, filled }, renew);
}

/** Fills rows that have changed since they were filled. Rows that other transactions hold locked are filled later. */
export async function catchUp(
  work: Work,
  shadows: readonly ShadowColumn[],
  state: Unfinished,
  most: number,
): Promise<Batch<Unfinished>> {
  const moved = quote(formatMovedTable(work.plan.collection.name));
  // No join: the planner does not know how few rows are recorded, and might read the whole table.
  const noted = `WHERE "id" = ANY(ARRAY(SELECT "id" FROM ${moved} LIMIT ${most})) FOR NO KEY UPDATE SKIP LOCKED`;
  const { ids, renew } = await lockRows(work, shadows, noted, []);
  return buildBatch(work, { ...state, rows: state.rows + ids.length }, renew);
}

function buildBatch({ plan }: Work, state: Unfinished, renew: readonly ScriptStep[]): Batch<Unfinished> {
  return { done: state, last: [...renew, ...stepsIn(writeUnfinished(postgresSchema, plan.collection.name, state))] };
}

/**
 * Locks rows and returns the steps that set their new values and delete their entries in the table of changed rows.
 * Locks the rows first and then these entries, in the same order as writers. So there are no deadlocks, and no change
 * between the two locks is lost.
 */
async function lockRows(
  { session, plan }: Work,
  shadows: readonly ShadowColumn[],
  which: string,
  values: readonly Cell[],
): Promise<{ readonly ids: readonly Cell[]; readonly renew: readonly ScriptStep[] }> {
  const { name, key } = plan.collection;
  const [table, moved] = [name, formatMovedTable(name)].map(quote);
  const type = keyType(postgresSchema, key);
  const bySQL = setBySQL(shadows);
  const { selected, columns, make } = createRowConversion(plan, shadows);
  const taken = bySQL === null ? selected : [`"id"`];
  const rows = await session.sendForCells(statement(`SELECT ${taken.join(", ")} FROM ${table!} ${which}`, values));
  const ids = rows.map(([id]) => id as Cell);
  if (ids.length === 0) return { ids, renew: [] };
  const forget = `WITH noted AS (DELETE FROM ${moved!} WHERE "id" = ANY($1::${type}[])) UPDATE ${table!} SET`;
  if (bySQL !== null) return { ids, renew: [statement(`${forget} ${bySQL} WHERE "id" = ANY($1::${type}[])`, [ids])] };
  const made = rows.map(make);
  const names = columns.map((_, at) => `c${at}`);
  // The values are sent as text, which PostgreSQL converts to every type. An array of JSON texts is not a JSON array.
  const arrays = columns.map((_, at) => `$${at + 2}::text[]`);
  const update =
    `${forget} ${columns.map((column, at) => `${column.name} = page.c${at}::${column.type}`).join(", ")} ` +
    `FROM unnest($1::${type}[], ${arrays.join(", ")}) AS page (key, ${names.join(", ")}) WHERE "id" = page.key`;
  return {
    ids,
    renew: [statement(update, [ids, ...columns.map((_, at) => made.map((cells) => formatCell(cells[at]!)))])],
  };
}

function formatCell(cell: Cell): string | null {
  return cell === null ? null : String(cell);
}
