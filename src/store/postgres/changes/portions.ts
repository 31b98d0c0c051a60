import { setTimeout as sleep } from "node:timers/promises";
import { readUnfinished, targetOf, writeUnfinished, type Unfinished } from "../../sql/changes/journal.ts";
import type { MigrateOptions } from "../../sql/changes/migrating.ts";
import type { TablePlan } from "../../sql/changes/plan-table.ts";
import { keyType } from "../../sql/changes/rows-before.ts";
import type { Cell } from "../../sql/dialect.ts";
import { quote } from "../../sql/names.ts";
import { statement, stepsIn, type Script } from "../../sql/schema/script.ts";
import type { Key } from "../../store.ts";
import { stateOf } from "../errors.ts";
import { postgresSchema } from "../migration.ts";
import type { Session } from "../network/session.ts";
import { madeByProgram, makeBeside, movedOf, setBySQL, type Beside } from "./beside.ts";
import { passing, patiently } from "./patiently.ts";

/** How many rows a portion begins with, and how long it may take in milliseconds. */
export const firstPortion = 500;
const portionMs = 100;
/** What is left is no more beside others when it is expected to take so long, in milliseconds. */
const momentMs = 10;
/** So many rounds in which nothing is gained: others write faster than rows are filled, and are let wait in the end. */
const vainRounds = 5;
/** How many rows are filled at a time while nobody else may write: at first, and at most. */
const lockedPortion = 500;
const mostLocked = 5000;

/** The work on one table. */
export interface Work {
  readonly session: Session;
  readonly plan: TablePlan;
  readonly options: MigrateOptions;
  play<T>(script: Script<T>): Promise<T>;
}

/** Fills new columns beside those that are read and written, until hardly any row is left. Gives how many rows were written. */
export async function fillBeside(work: Work, besides: readonly Beside[]): Promise<Unfinished> {
  const { session, plan, options, play } = work;
  const { name } = plan.collection;
  const target = targetOf(plan, options.dropped ?? []);
  const [count] = await session.send(statement(`SELECT count(*) FROM ${quote(name)}`));
  let state = await play(readUnfinished(postgresSchema, name));
  if (state?.target !== target) {
    state = { target, cursor: null, rows: 0, filled: false };
    await patiently(session, makeBeside(plan, besides), async () =>
      stepsIn(writeUnfinished(postgresSchema, name, state!)),
    );
  }
  let portion = firstPortion;
  while (!state.filled) {
    const start = performance.now();
    const before: Unfinished = state;
    state = await inPortion(session, (part) => fill(work, besides, before, Math.ceil(portion * part)));
    const took = performance.now() - start;
    portion = nextPortion(portion, took);
    options.tell?.(name, state.rows, Number(count![0]));
    await sleep(took / 2);
  }
  return catchUpBeside(work, besides, state);
}

/** Fills rows that have changed, until the rest takes a moment, or nobody could say when that would be. */
export async function catchUpBeside(work: Work, besides: readonly Beside[], state: Unfinished): Promise<Unfinished> {
  let now = state;
  let portion = firstPortion;
  let rowMs = portionMs / firstPortion;
  let fewest = Infinity;
  for (let vain = 0; vain < vainRounds;) {
    const left = await waiting(work);
    if (left * rowMs <= momentMs) break;
    vain = left < fewest ? 0 : vain + 1;
    fewest = Math.min(fewest, left);
    for (const until = now.rows + left; now.rows < until;) {
      const [before, start, most] = [now, performance.now(), Math.min(portion, until - now.rows)];
      now = await inPortion(work.session, (part) => catchUp(work, besides, before, Math.ceil(most * part)));
      const took = performance.now() - start;
      rowMs = took / Math.max(now.rows - before.rows, 1);
      portion = nextPortion(most, took);
      // All that were asked for are somebody's just now.
      if (now.rows === before.rows) break;
      // The others' turn is shorter where they change more in it than is filled.
      if (vain === 0) await sleep(took / 2);
    }
  }
  return now;
}

/** Fills rows that have changed for so long, in milliseconds. Nobody else may write meanwhile. Tells whether none is left. */
export async function catchUpFor(
  work: Work,
  besides: readonly Beside[],
  state: Unfinished,
  longestMs: number,
): Promise<{ readonly state: Unfinished; readonly isDone: boolean }> {
  const due = performance.now() + longestMs;
  const { name, key } = work.plan.collection;
  const moved = quote(movedOf(name));
  let [rows, portion] = [state.rows, lockedPortion];
  for (let left = longestMs; left > 0; left = due - performance.now()) {
    const start = performance.now();
    const taken = await work.session.send(
      statement(
        `DELETE FROM ${moved} WHERE "id" = ANY(ARRAY(SELECT "id" FROM ${moved} LIMIT ${portion})) RETURNING "id"`,
      ),
    );
    const among = `"id" = ANY($1::${keyType(postgresSchema, key)}[])`;
    if (taken.length > 0) rows += await set(work, besides, among, [taken.map(([id]) => id as Cell)]);
    if (taken.length < portion) return { state: { ...state, rows }, isDone: true };
    // As many as half of what is left of the time is enough for, as it looks.
    const fitting = (portion * (due - performance.now())) / 2 / Math.max(performance.now() - start, 1);
    portion = Math.min(Math.max(Math.floor(fitting), 1), mostLocked);
  }
  const now = { ...state, rows };
  await work.play(writeUnfinished(postgresSchema, name, now));
  return { state: now, isDone: false };
}

/** How many rows the next portion has, when one of so many took so long. */
export function nextPortion(portion: number, tookMs: number): number {
  // On a busy machine most of the time goes by between the statements; fewer rows would take as long.
  return Math.min(Math.max(Math.round((portion * portionMs) / Math.max(tookMs, 1)), firstPortion), 10_000);
}

/** Whoever is in the way goes first; the next try is about half as many rows, of which fewer are anybody's just then. */
export async function inPortion<T>(session: Session, task: (part: number) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    await session.run("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = 50");
    try {
      const done = await task(1 / 2 ** Math.min(tries - 1, 10));
      await session.run("COMMIT");
      return done;
    } catch (error) {
      await session.run("ROLLBACK");
      if (!passing.has(stateOf(error)) || tries === 1000) throw error;
    }
    await sleep(Math.random() * 50);
  }
}

async function fill(work: Work, besides: readonly Beside[], state: Unfinished, portion: number): Promise<Unfinished> {
  const { session, plan, play } = work;
  const { name, key } = plan.collection;
  const type = keyType(postgresSchema, key);
  const behind = `($1::${type} IS NULL OR "id" > $1)`;
  const [last] = await session.send(
    statement(
      `SELECT max("id"), count(*) FROM (SELECT "id" FROM ${quote(name)} WHERE ${behind} ORDER BY "id" LIMIT ${portion}) AS t`,
      [state.cursor],
    ),
  );
  const to = last![0] as Key | null;
  const rows = to === null ? 0 : await set(work, besides, `${behind} AND "id" <= $2`, [state.cursor, to]);
  // Rows that are made from now on are noted: whoever went after them would never come to an end.
  const filled = Number(last![1]) < portion;
  const next = { ...state, cursor: to ?? state.cursor, rows: state.rows + rows, filled };
  await play(writeUnfinished(postgresSchema, name, next));
  return next;
}

/** Fills rows that have changed since they were filled; those that others are changing just now come later. */
export async function catchUp(
  work: Work,
  besides: readonly Beside[],
  state: Unfinished,
  most: number,
): Promise<Unfinished> {
  const { session, plan, play } = work;
  const { name, key } = plan.collection;
  const [table, moved] = [name, movedOf(name)].map(quote);
  // First the rows and then what was noted of them, as those do who write: so nobody waits for one who waits for him.
  const taken = await session.send(
    statement(
      // Not as a join: nobody has told the planner how few they are, and it might read the whole table for them.
      `SELECT "id" FROM ${table!} WHERE "id" = ANY(ARRAY(SELECT "id" FROM ${moved!} LIMIT ${most})) FOR NO KEY UPDATE SKIP LOCKED`,
    ),
  );
  const ids = taken.map(([id]) => id as Cell);
  const among = `"id" = ANY($1::${keyType(postgresSchema, key)}[])`;
  await session.send(statement(`DELETE FROM ${moved!} WHERE ${among}`, [ids]));
  const rows = state.rows + (await set(work, besides, among, [ids]));
  const next = { ...state, rows };
  await play(writeUnfinished(postgresSchema, name, next));
  return next;
}

/** Gives rows their new values. */
async function set(
  { session, plan }: Work,
  besides: readonly Beside[],
  where: string,
  values: readonly Cell[],
): Promise<number> {
  const table = quote(plan.collection.name);
  const bySQL = setBySQL(besides);
  if (bySQL !== null) {
    const [count] = await session.send(
      statement(
        `WITH done AS (UPDATE ${table} SET ${bySQL} WHERE ${where} RETURNING 1) SELECT count(*) FROM done`,
        values,
      ),
    );
    return Number(count![0]);
  }
  const { selected, columns, make } = madeByProgram(plan, besides);
  const rows = await session.send(
    statement(`SELECT ${selected.join(", ")} FROM ${table} WHERE ${where} ORDER BY "id" FOR NO KEY UPDATE`, values),
  );
  const made = rows.map(make);
  const type = keyType(postgresSchema, plan.collection.key);
  const names = columns.map((_, at) => `c${at}`);
  // As texts, which every type reads: an array of JSON texts is none of JSON.
  const arrays = columns.map((_, at) => `$${at + 2}::text[]`);
  await session.send(
    statement(
      `UPDATE ${table} SET ${columns.map((column, at) => `${column.name} = page.c${at}::${column.type}`).join(", ")} ` +
        `FROM unnest($1::${type}[], ${arrays.join(", ")}) AS page (key, ${names.join(", ")}) WHERE "id" = page.key`,
      [rows.map(([id]) => id as Cell), ...columns.map((_, at) => made.map((cells) => textOf(cells[at]!)))],
    ),
  );
  return rows.length;
}

function textOf(cell: Cell): string | null {
  return cell === null ? null : String(cell);
}

/** How many rows have changed since they were filled. */
async function waiting({ session, plan }: Pick<Work, "session" | "plan">): Promise<number> {
  const [count] = await session.send(statement(`SELECT count(*) FROM ${quote(movedOf(plan.collection.name))}`));
  return Number(count![0]);
}
