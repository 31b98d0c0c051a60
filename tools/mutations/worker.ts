// The process that tries changes: node worker.ts FOLDER TEST-FILE …
// It first runs each test without a change, and reports which changes it reaches. Then it runs, for each change that it
// is asked for, the named tests until the first one fails.
import { readdirSync } from "node:fs";
import { registerHooks } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { begin, collectAgain, collectedTests, end, type CollectedContext } from "./collected-tests.ts";
import { switchOn, takeReached } from "./switches.ts";

/** The result of a test without a change. */
export interface Known {
  readonly title: string;
  readonly milliseconds: number;
  /** The changes whose code the test runs. */
  readonly reached: readonly number[];
}

/** The changes whose code runs while the program is loaded: its sources, or the test files. */
export interface Loading {
  readonly sources: readonly number[];
  readonly tests: readonly number[];
}

export type Report =
  | { readonly kind: "loaded" }
  | { readonly kind: "known"; readonly tests: readonly Known[]; readonly loading: Loading }
  | { readonly kind: "broken"; readonly failure: string }
  /** `by` is the test that failed. */
  | { readonly kind: "tried"; readonly failure: string | null; readonly by: number | null };

export interface Order {
  readonly id: number;
  readonly tests: readonly number[];
  /** True if the test files are loaded again with the change. The sources are not. */
  readonly isLoadedAgain?: boolean;
}

// A test file that cannot be loaded ends the process, because nothing else reports it.
let fail: (error: unknown) => void = () => process.exit(1);
process.on("uncaughtException", (error) => fail(error));
process.on("unhandledRejection", (error) => fail(error));

const [folder = "", ...files] = process.argv.slice(2);
const testsFolder = pathToFileURL(path.join(folder, "tests/")).href;
/** The number of times that the test files were loaded again. */
let version = 0;
const ofTests = pathToFileURL(path.join(import.meta.dirname, "collected-tests.ts")).href;
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === "node:test") return { url: ofTests, shortCircuit: true };
    const found = next(specifier, context);
    const isOfTests = found.url.startsWith(testsFolder) || found.url.includes(".test.ts");
    return version > 0 && isOfTests ? { ...found, url: `${found.url.split("?")[0]}?${version}` } : found;
  },
});

const run = async (work: () => unknown): Promise<unknown> => work();

async function runTest(at: number, id: number): Promise<string | null> {
  const { title, run: body } = collectedTests()[at]!;
  const works: (() => unknown)[] = [];
  const broken = new Promise<never>((_resolve, reject) => (fail = reject));
  broken.catch(() => undefined);
  switchOn(id);
  try {
    const context: CollectedContext = {
      name: title,
      after: (work) => void works.push(work),
      diagnostic: () => undefined,
      test: async (_title, part) => void (await part(context)),
    };
    await Promise.race([body(context), broken]);
    return null;
  } catch (error) {
    return `${title}: ${String(error).split("\n")[0]}`;
  } finally {
    switchOn(0);
    for (const work of works) await run(work).catch(() => undefined);
  }
}

async function learn(): Promise<Report> {
  const loading: Loading = { sources: ofSources, tests: takeReached() };
  const tests: Known[] = [];
  for (const [at, { title }] of collectedTests().entries()) {
    // Runs a test a second time after a failure, because a test may fail once on a busy machine.
    const start = performance.now();
    const failure = (await runTest(at, 0)) === null ? null : await runTest(at, 0);
    if (failure !== null) return { kind: "broken", failure };
    tests.push({ title, milliseconds: performance.now() - start, reached: takeReached() });
  }
  return { kind: "known", tests, loading };
}

async function attempt({ id, tests, isLoadedAgain = false }: Order): Promise<Report> {
  if (!isLoadedAgain) return tryTests(id, tests);
  const goBack = collectAgain();
  version++;
  switchOn(id);
  try {
    await load();
    return await tryTests(id, tests);
  } catch (error) {
    const failure = `${String(error).split("\n")[0]} while the tests were loaded`;
    return { kind: "tried", failure, by: null };
  } finally {
    switchOn(0);
    await run(end).catch(() => undefined);
    goBack();
    takeReached();
  }
}

async function tryTests(id: number, tests: readonly number[]): Promise<Report> {
  for (const at of tests) {
    const failure = await runTest(at, id);
    if (failure !== null) return { kind: "tried", failure, by: at };
  }
  return { kind: "tried", failure: null, by: null };
}

async function load(): Promise<void> {
  const broken = new Promise<never>((_resolve, reject) => (fail = reject));
  broken.catch(() => undefined);
  const loading = async (): Promise<void> => {
    for (const file of files) await import(pathToFileURL(path.join(folder, file)).href);
    await begin();
  };
  await Promise.race([loading(), broken]);
}

const say = (report: Report): unknown => process.send!(report);
for (const door of readdirSync(path.join(folder, "src/door")))
  if (!door.includes(".test.")) await import(pathToFileURL(path.join(folder, "src/door", door)).href);
const ofSources = takeReached();
await load();
fail = () => undefined;
process.on("message", (order: Order | "learn") => void (order === "learn" ? learn() : attempt(order)).then(say));
process.on("disconnect", () => void end().finally(() => process.exit()));
say({ kind: "loaded" });
