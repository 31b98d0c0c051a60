// Takes the place of `node:test` in the process that tries the changes, because that process runs each test many times.

/** The parameters of a test. */
export interface CollectedContext {
  readonly name: string;
  after(work: () => unknown): void;
  /** Says something to a person. It is left out here. */
  diagnostic(message: string): void;
  /** Runs a part of the test. */
  test(title: string, run: (t: CollectedContext) => unknown): Promise<void>;
}

interface CollectedTest {
  readonly title: string;
  readonly run: (t: CollectedContext) => unknown;
}

/** The tests that the test files have declared. */
interface Collected {
  readonly tests: CollectedTest[];
  readonly starts: (() => unknown)[];
  readonly ends: (() => unknown)[];
}

let collected: Collected = { tests: [], starts: [], ends: [] };

/** Starts an empty collection. Returns a function that goes back to the current one. */
export function collectAgain(): () => void {
  const before = collected;
  collected = { tests: [], starts: [], ends: [] };
  return () => void (collected = before);
}

export function collectedTests(): readonly CollectedTest[] {
  return collected.tests;
}

type Run = CollectedTest["run"];

/** Collects a test. */
export function test(title: string, options: Run | { readonly skip?: unknown }, run?: Run): void {
  if (typeof options === "function") collected.tests.push({ title, run: options });
  else if (run !== undefined && (options.skip ?? false) === false) collected.tests.push({ title, run });
}

export function before(work: () => unknown): void {
  collected.starts.push(work);
}

export function after(work: () => unknown): void {
  collected.ends.push(work);
}

/** Runs what the files do before their first test. */
export async function begin(): Promise<void> {
  for (const work of collected.starts) await work();
}

/** Runs what the files do after their last test. */
export async function end(): Promise<void> {
  for (const work of collected.ends) await work();
}
