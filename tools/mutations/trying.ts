import { fork, type ChildProcess } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Condition } from "./conditions.ts";
import { withSwitches, type Numbered } from "./switching.ts";
import type { Known, Loading, Order, Report } from "./worker.ts";

/** The result of the tests for a change. `failure` is null if none of them notices it. */
export interface Tried {
  readonly change: Condition;
  readonly failure: string | null;
  /** The number of tests that run the changed code. */
  readonly tests: number;
}

/** The longest time for all tests. */
const LONGEST_MS = 600_000;

/** The number of changes after which the process is checked: a change may leave something that breaks later tests. */
const CHECKED_TOGETHER = 12;

const NOT_REACHED: Report = { kind: "tried", failure: null, by: null };

/**
 * Tries each change on its own in the copy of the sources in `folder`: runs the tests that reach its code, the quickest
 * first, until one fails.
 */
export async function* tryChanges(
  folder: string,
  { changes, tests }: { readonly changes: readonly Condition[]; readonly tests: readonly string[] },
  env: Readonly<Record<string, string>>,
): AsyncGenerator<Tried> {
  const numbered = changes.map((change, at) => ({ ...change, id: at + 1 }));
  for (const [file, ofFile] of Map.groupBy(numbered, (change) => change.file)) {
    const at = path.join(folder, file);
    writeFileSync(at, withSwitches(readFileSync(at, "utf8"), ofFile));
  }
  const runner = new Runner([folder, ...tests], env);
  try {
    await runner.learn();
    for (let from = 0; from < numbered.length; from += CHECKED_TOGETHER) {
      const some = numbered.slice(from, from + CHECKED_TOGETHER);
      const results: Result[] = [];
      for (const change of some) results.push(await runner.attempt(change));
      if (await runner.isClean(results)) yield* results;
      else {
        await runner.restart();
        for (const change of some) yield await runner.attemptAlone(change);
      }
    }
  } finally {
    runner.stop();
  }
}

/** A result with the place of the test that failed. */
interface Result extends Tried {
  readonly by: number | null;
}

/** Runs tests in a separate process, and starts a new one if a change breaks it. */
class Runner {
  #process: ChildProcess | null = null;
  #known: readonly Known[] = [];
  #loading: Loading = { sources: [], tests: [] };
  /** True if the test files were loaded with a change, so that the process is useful for this change only. */
  #isStale = false;
  readonly #args: readonly string[];
  readonly #env: Readonly<Record<string, string>>;

  constructor(args: readonly string[], env: Readonly<Record<string, string>>) {
    this.#args = args;
    this.#env = env;
  }

  /** Starts a new process, which loads the test files with this change. Returns why they cannot be loaded, or null. */
  async restart(id = 0): Promise<string | null> {
    this.stop();
    this.#isStale = false;
    const program = path.join(import.meta.dirname, "worker.ts");
    const switches = pathToFileURL(path.join(import.meta.dirname, "switches.ts")).href;
    this.#process = fork(program, this.#args, {
      cwd: this.#args[0],
      env: { ...process.env, ...this.#env, NODE_OPTIONS: `--import=${switches}`, MUTATION: String(id) },
      execArgv: [],
      stdio: ["ignore", "ignore", id === 0 ? "inherit" : "ignore", "ipc"],
      // So that `stop` also ends the databases that the tests have started.
      detached: true,
    });
    const report = await this.#next(LONGEST_MS);
    if (typeof report !== "string") return null;
    if (id === 0) throw new Error(`The tests cannot be loaded: ${report}.`);
    return `${report} while the tests were loaded`;
  }

  /** Runs all tests without a change, and remembers what they reach. */
  async learn(): Promise<void> {
    await this.restart();
    const report = await this.#ask("learn", LONGEST_MS);
    if (typeof report === "string" || report.kind !== "known")
      throw new Error(`A test fails without a change. Mend it first: ${JSON.stringify(report)}`);
    this.#known = report.tests;
    this.#loading = report.loading;
  }

  /** Tries a change. If its code runs while files are loaded, loads them again with the change. */
  async attempt(change: Numbered): Promise<Result> {
    if (this.#loading.sources.includes(change.id)) return this.#attemptFromStart(change);
    await this.#restartIfStale();
    if (!this.#loading.tests.includes(change.id))
      return this.#tryTests(
        change,
        this.#quickestFirst(({ reached }) => reached.includes(change.id)),
      );
    return this.#tryTests(
      change,
      this.#quickestFirst(() => true),
      true,
    );
  }

  /** Tries a change whose code runs while the sources are loaded. */
  async #attemptFromStart(change: Numbered): Promise<Result> {
    const failure = await this.restart(change.id);
    this.#isStale = true;
    const tests = this.#quickestFirst(() => true).map(({ at }) => at);
    const report = failure ?? (await this.#ask({ id: change.id, tests }, LONGEST_MS));
    const found = typeof report === "string" ? report : report.kind === "tried" ? report.failure : null;
    return { change, tests: tests.length, failure: found, by: null };
  }

  async #restartIfStale(): Promise<void> {
    if (this.#isStale) await this.restart();
  }

  /** Tries a change, and again in a new process if this change or an earlier one has broken a test for good. */
  async attemptAlone(change: Numbered): Promise<Result> {
    const result = await this.attempt(change);
    if (await this.isClean([result])) return result;
    await this.restart();
    const again = await this.attempt(change);
    if (!(await this.isClean([again]))) await this.restart();
    return again;
  }

  async #tryTests(
    change: Numbered,
    chosen: readonly (Known & { readonly at: number })[],
    isLoadedAgain = false,
  ): Promise<Result> {
    const longest = 10_000 + chosen.reduce((sum, { milliseconds }) => sum + 10 * milliseconds, 0);
    const tests = chosen.map(({ at }) => at);
    const order = { id: change.id, tests, isLoadedAgain };
    const report = tests.length === 0 ? NOT_REACHED : await this.#ask(order, longest);
    const isLost = typeof report === "string" || report.kind !== "tried";
    if (isLost) await this.restart();
    return {
      change,
      tests: tests.length,
      ...(isLost ? { failure: String(report), by: null } : { failure: report.failure, by: report.by }),
    };
  }

  #quickestFirst(isChosen: (test: Known) => boolean): readonly (Known & { readonly at: number })[] {
    return this.#known
      .map((test, at) => ({ ...test, at }))
      .filter(isChosen)
      .toSorted((one, other) => one.milliseconds - other.milliseconds);
  }

  /** Returns true if the tests that have failed pass again without a change. */
  async isClean(results: readonly Result[]): Promise<boolean> {
    const tests = [...new Set(results.flatMap(({ by }) => by ?? []))];
    if (tests.length === 0) return true;
    await this.#restartIfStale();
    const report = await this.#ask({ id: 0, tests }, LONGEST_MS);
    return typeof report !== "string" && report.kind === "tried" && report.failure === null;
  }

  stop(): void {
    if (this.#process?.exitCode === null && this.#process.pid !== undefined)
      process.kill(-this.#process.pid, "SIGKILL");
    this.#process = null;
  }

  async #ask(order: Order | "learn", longestMs: number): Promise<Report | string> {
    this.#process!.send(order);
    return this.#next(longestMs);
  }

  /** Waits for the next report. Returns a text if the process ends, or is too slow. */
  async #next(longestMs: number): Promise<Report | string> {
    const worker = this.#process!;
    const { promise, resolve } = Promise.withResolvers<Report | string>();
    const onMessage = (report: unknown): void => resolve(report as Report);
    const onExit = (): void => resolve("the process ended");
    const timer = setTimeout(() => resolve("the tests do not end"), longestMs);
    worker.once("message", onMessage).once("exit", onExit);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      worker.off("exit", onExit).off("message", onMessage);
    }
  }
}
