// Takes the place of `node:test` in the process that tries the changes, because that process runs each test many times.

/** The parameters of a test. */
export interface CollectedContext {
  readonly name: string;
  after(work: () => unknown): void;
  /** Runs a part of the test. */
  test(title: string, run: (t: CollectedContext) => unknown): Promise<void>;
}

interface CollectedTest {
  readonly title: string;
  readonly run: (t: CollectedContext) => unknown;
}

export const collectedTests: CollectedTest[] = [];
const starts: (() => unknown)[] = [];
const ends: (() => unknown)[] = [];

type Run = CollectedTest["run"];

/** Collects a test. */
export function test(title: string, options: Run | { readonly skip?: unknown }, run?: Run): void {
  if (typeof options === "function") collectedTests.push({ title, run: options });
  else if (run !== undefined && (options.skip ?? false) === false) collectedTests.push({ title, run });
}

export function before(work: () => unknown): void {
  starts.push(work);
}

export function after(work: () => unknown): void {
  ends.push(work);
}

/** Runs what the files do before their first test. */
export async function begin(): Promise<void> {
  for (const work of starts) await work();
}

/** Runs what the files do after their last test. */
export async function end(): Promise<void> {
  for (const work of ends) await work();
}
