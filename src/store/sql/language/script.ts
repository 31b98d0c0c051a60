/**
 * A value that is sent to a database or received from it. The `Dialect` decides which of these types a driver accepts.
 */
export type Cell = string | number | bigint | boolean | null | readonly Cell[];

/** SQL with placeholders, and the values for them. */
export interface Statement {
  readonly text: string;
  readonly values: readonly Cell[];
}

/** Creates a statement. */
export function statement(text: string, values: readonly Cell[] = []): Statement {
  return { text, values };
}

/** A row by column name. */
export type NamedRow = Readonly<Record<string, unknown>>;

/**
 * A row as a list of values, in the order of the statement's columns. For statements that are built from the columns of
 * a table.
 */
export type CellRow = readonly unknown[];

/** The result rows of a step. */
export type Rows = readonly NamedRow[] | readonly CellRow[];

/**
 * A step of a script: a statement whose rows come by name or as cells, or SQL text of several statements without values
 * or rows.
 */
export type ScriptStep = Statement | { readonly cells: Statement } | { readonly run: string };

/**
 * Work of several steps as a generator: it yields the next step and receives the result. So the same code runs on
 * synchronous drivers (`play`) and on asynchronous ones (`playAsync`).
 */
export type Script<T> = Generator<ScriptStep, T, Rows>;

/** Asks for rows by name. */
export function* ask(query: Statement): Script<readonly NamedRow[]> {
  return (yield query) as readonly NamedRow[];
}

/** Asks for rows as cells. They cost half as much as rows by name. */
export function* askCells(cells: Statement): Script<readonly CellRow[]> {
  return (yield { cells }) as readonly CellRow[];
}

/** Runs SQL text without values. It returns no rows. */
export function* run(sql: string): Script<void> {
  yield { run: sql };
}

/** Returns the steps of a script that needs no results. They can be sent without waiting. */
export function stepsIn(script: Script<void>): readonly ScriptStep[] {
  const steps: ScriptStep[] = [];
  for (let step = script.next(); step.done !== true; step = script.next([])) steps.push(step.value);
  return steps;
}

/** Runs a script. If it fails, rolls back its transaction and throws the error again. */
export function* orUndone<T>(script: Script<T>): Script<T> {
  try {
    return yield* script;
  } catch (error) {
    try {
      yield* run("ROLLBACK");
    } catch {
      // No transaction was open, or the connection was lost together with it.
    }
    throw error;
  }
}

/** Runs a script with synchronous results. */
export function play<T>(script: Script<T>, send: (step: ScriptStep) => Rows): T {
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

/** Runs a script and waits for each result. */
export async function playAsync<T>(script: Script<T>, send: (step: ScriptStep) => Promise<Rows>): Promise<T> {
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
