import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** One change of one source file. */
export interface Mutant {
  /** Relative to the root. */
  readonly file: string;
  readonly line: number;
  /** The removed code, on one line. */
  readonly removed: string;
  /** The file with the change. */
  readonly source: string;
}

/** Changes, and the test files that have to notice them. */
interface Mutants {
  readonly mutants: readonly Mutant[];
  readonly tests: readonly string[];
}

const LONGEST_MS = 120_000;

export function describeMutant({ file, line, removed }: Mutant): string {
  return `${file}:${line} ${removed}`;
}

/**
 * Makes each change alone, in a copy of the sources, and runs the tests in a new process until the first one fails.
 * Prints each result, and returns the changes that no test notices.
 */
export async function findSurvivors(root: string, { mutants, tests }: Mutants): Promise<readonly Mutant[]> {
  const place = copySources(root);
  const survivors: Mutant[] = [];
  try {
    // Runs the tests a second time after a failure, because a test may fail once on a busy machine.
    const failing = (await findFailure(place, tests)) === null ? null : await findFailure(place, tests);
    if (failing !== null) throw new Error(`A test fails without a change. Mend it first: ${failing}`);
    for (const [at, mutant] of mutants.entries()) {
      const file = path.join(place, mutant.file);
      const before = readFileSync(file, "utf8");
      writeFileSync(file, mutant.source);
      const failure = await findFailure(place, tests);
      writeFileSync(file, before);
      // If a whole test file fails, it could not load the changed code, so no test has noticed the change.
      if (failure?.endsWith(".test.ts") === true)
        throw new Error(`${describeMutant(mutant)}: the change is not valid code. Mend the tool that makes it.`);
      if (failure === null) survivors.push(mutant);
      const result = failure === null ? "SURVIVED" : "noticed ";
      process.stdout.write(`${at + 1}/${mutants.length} ${result} ${describeMutant(mutant)}\n`);
      if (failure !== null) process.stdout.write(`  by ${failure}\n`);
    }
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
  return survivors;
}

/** Copies the sources and the tests into a new folder. */
export function copySources(root: string): string {
  const place = mkdtempSync(path.join(tmpdir(), "latchkey-mutations-"));
  for (const each of ["src", "tests", "package.json", "tsconfig.json"])
    cpSync(path.join(root, each), path.join(place, each), { recursive: true });
  symlinkSync(path.join(root, "node_modules"), path.join(place, "node_modules"));
  cheapenHashes(place);
  return place;
}

/**
 * Makes password hashes cheap, because these tests would spend most of their time on them and do not test their cost.
 */
function cheapenHashes(place: string): void {
  const file = path.join(place, "src/core/crypto/password-hash.ts");
  const source = readFileSync(file, "utf8");
  const cheap = source
    .replace(
      "{ memoryKiB: memoryCost, passes: timeCost, lanes: parallelism } = cost;",
      "{ lanes: parallelism } = cost, memoryCost = 64, timeCost = 1;",
    )
    .replace(/(export function needsUpgrade\([^{]*\{)/, "$1\n  return false;");
  if (cheap.split("\n").length === source.split("\n").length)
    throw new Error(`${file} has changed: adapt cheapenHashes.`);
  writeFileSync(file, cheap);
}

/** Runs the tests in one process until the first one fails. Returns its title, or null if all pass. */
async function findFailure(place: string, tests: readonly string[]): Promise<string | null> {
  const args = ["--test", "--test-isolation=none", "--test-reporter=tap", "--test-force-exit", ...tests];
  const child = spawn(process.execPath, args, { cwd: place, stdio: ["ignore", "pipe", "ignore"] });
  const timer = setTimeout(() => child.kill("SIGKILL"), LONGEST_MS);
  let output = "";
  child.stdout.setEncoding("utf8");
  const ended = new Promise<string | null>((resolve) => {
    child.stdout.on("data", (chunk: string) => {
      output += chunk;
      const failed = /^\s*not ok (.*)\n/m.exec(output);
      if (failed !== null) resolve(failed[0].trim());
      output = output.slice(output.lastIndexOf("\n") + 1);
    });
    child.on("close", (status) => resolve(status === 0 ? null : `status ${status}`));
  });
  const failure = await ended;
  clearTimeout(timer);
  child.kill("SIGKILL");
  return failure;
}
