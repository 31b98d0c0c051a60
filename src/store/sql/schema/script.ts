import type { Cell } from "../cell.ts";

/** What is sent: SQL with places for the values. */
export interface Statement {
  readonly text: string;
  readonly values: readonly Cell[];
}

export function statement(text: string, values: readonly Cell[] = []): Statement {
  return { text, values };
}

/** A row by the names of its columns. */
export type NamedRow = Readonly<Record<string, unknown>>;

/** A row as the values of its columns, in the order in which the statement names them: for statements that are made from the columns of a table. */
export type CellRow = readonly unknown[];

/** The rows that answer a step. */
export type Rows = readonly NamedRow[] | readonly CellRow[];

/** A step of a script: a statement whose rows come by name or as cells, or SQL of several without values and without rows. */
export type Step = Statement | { readonly cells: Statement } | { readonly run: string };

/**
 * Work of several steps that says what is to be sent and goes on with what comes back. It is written once for drivers
 * that answer at once (`play`) and for those that have to wait (`playAsync`).
 */
export type Script<T> = Generator<Step, T, Rows>;

export function* ask(asked: Statement): Script<readonly NamedRow[]> {
  return (yield asked) as readonly NamedRow[];
}

/** Asks for rows as cells: they cost half as much as rows by name. */
export function* askCells(cells: Statement): Script<readonly CellRow[]> {
  return (yield { cells }) as readonly CellRow[];
}

export function* run(sql: string): Script<void> {
  yield { run: sql };
}

/** The steps of a script that asks nothing: they may be sent without waiting. */
export function stepsIn(script: Script<void>): readonly Step[] {
  const steps: Step[] = [];
  for (let step = script.next(); step.done !== true; step = script.next([])) steps.push(step.value);
  return steps;
}

/** The same, rolled back where it fails. */
export function* orUndone<T>(script: Script<T>): Script<T> {
  try {
    return yield* script;
  } catch (error) {
    try {
      yield* run("ROLLBACK");
    } catch {
      // Nothing was begun, or the connection is gone and all that was begun with it.
    }
    throw error;
  }
}

/** Plays a script where every answer is there at once. */
export function play<T>(script: Script<T>, send: (step: Step) => Rows): T {
  let step = script.next();
  while (step.done !== true) {
    let rows: Rows;
    try {
      rows = send(step.value);
    } catch (error) {
      step = script.throw(error);
      continue;
    }
    step = script.next(rows);
  }
  return step.value;
}

/** Plays a script, waiting for each answer. */
export async function playAsync<T>(script: Script<T>, send: (step: Step) => Promise<Rows>): Promise<T> {
  let step = script.next();
  while (step.done !== true) {
    let rows: Rows;
    try {
      rows = await send(step.value);
    } catch (error) {
      step = script.throw(error);
      continue;
    }
    step = script.next(rows);
  }
  return step.value;
}
