import type { Cell } from "../cell.ts";

/** What is sent: SQL with places for the values. */
export interface Statement {
  readonly text: string;
  readonly values: readonly Cell[];
}

export function statement(text: string, values: readonly Cell[] = []): Statement {
  return { text, values };
}

/** What comes back: rows, each the values of its columns. */
export type Rows = readonly (readonly unknown[])[];

/** A step of a script: a statement, or SQL of several without values and without rows. */
export type Step = Statement | { readonly run: string };

/**
 * Work of several steps that says what is to be sent and goes on with what comes back. It is written once for drivers
 * that answer at once (`play`) and for those that have to wait (`playAsync`).
 */
export type Script<T> = Generator<Step, T, Rows>;

export function* ask(asked: Statement): Script<Rows> {
  return yield asked;
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
