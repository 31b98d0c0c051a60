/**
 * Removes each call of the gate (see `mutants.ts`), one at a time, in a copy of the sources, and runs the tests of
 * logins. Reports the share of removed calls that a test notices, and lists the calls that no test notices. Run by hand
 * or at night:
 *
 * npm run verify -- gate-mutations [--only PATTERN] [--list]
 */
import { spawn } from "node:child_process";
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { collectMutants, gateFunctions, type Mutant } from "./mutants.ts";

const LEAST_SHARE = 0.95;
const LONGEST_MS = 120_000;

const { values } = parseArgs({ options: { only: { type: "string" }, list: { type: "boolean", default: false } } });
const root = path.join(import.meta.dirname, "../..");

/** Files with calls of the gate. */
const files = [
  ...globSync("src/features/auth/**/*.ts", { cwd: root, exclude: ["**/*.test.ts", "**/mailbox/**"] }),
  "src/access/permission/permission.ts",
  "src/access/scheme/joining.ts",
  "src/access/scheme/assurance.ts",
];
/** Files with refusals of the gate: each `if … throw` in them is removed too. */
const refusing = /^src\/features\/auth\/(gate|factors)\/|\/people\/fresh-proof\.ts$/;

/** The fast tests of logins. The tests that notice most removed calls come first. */
const tests = [
  "tests/auth/gate-admissions.test.ts",
  "tests/auth/second-factor.test.ts",
  "tests/auth/gate-ways-in.test.ts",
  "tests/auth/confirmed.test.ts",
  "tests/auth/second-factor-rule.test.ts",
  "tests/auth/passkeys.test.ts",
  "tests/auth/auth-fresh-logins.test.ts",
  "tests/auth/factor-limits.test.ts",
  "tests/auth/never-locked-out.test.ts",
  "tests/auth/gate-refusals.test.ts",
  "tests/auth/waiting-logins.test.ts",
  "tests/auth/waiting-of-networks.test.ts",
  "tests/auth/deleted-ways.test.ts",
  "tests/auth/users-writes.test.ts",
  "tests/auth/one-time-passwords.test.ts",
  "tests/auth/auth-named-keys.test.ts",
  "tests/auth/auth-api-tokens.test.ts",
  "tests/auth/acting.test.ts",
  "tests/auth/vouching.test.ts",
  "tests/auth/enrolment-by-mail.test.ts",
  "tests/auth/confirming-without-password.test.ts",
  "tests/auth/changes-of-logins.test.ts",
  "tests/auth/identity-providers.test.ts",
  "tests/auth/mail-login.test.ts",
  "tests/auth/password-reset.test.ts",
  "tests/auth/verified-addresses.test.ts",
  "tests/auth/prepared-accounts.test.ts",
  "tests/auth/failing-writes.test.ts",
];

const pattern = values.only === undefined ? null : new RegExp(values.only);
const all = files.flatMap((file) => collectMutants(root, file, refusing.test(file)));
// Without this check, the calls of a renamed function would be left out without a message.
const missing = gateFunctions.filter((name) => !all.some(({ removed }) => removed.includes(`${name}(`)));
if (missing.length > 0) throw new Error(`No file calls ${missing.join(", ")}. Name the functions in mutants.ts anew.`);
const mutants = all
  .filter((mutant) => pattern === null || pattern.test(describeMutant(mutant)))
  // The calls come first, and then the refusals.
  .toSorted((one, other) => Number(one.removed.startsWith("if ")) - Number(other.removed.startsWith("if ")));
if (values.list) {
  for (const mutant of mutants) process.stdout.write(`${describeMutant(mutant)}\n`);
  process.exit();
}

const place = mkdtempSync(path.join(tmpdir(), "latchkey-mutations-"));
const survivors: Mutant[] = [];
try {
  for (const each of ["src", "tests", "package.json", "tsconfig.json"])
    cpSync(path.join(root, each), path.join(place, each), { recursive: true });
  symlinkSync(path.join(root, "node_modules"), path.join(place, "node_modules"));
  cheapenHashes();
  // Runs the tests a second time after a failure, because a test may fail once on a busy machine.
  const failing = (await findFailure()) === null ? null : await findFailure();
  if (failing !== null) throw new Error(`A test fails without a change. Mend it first: ${failing}`);
  for (const [at, mutant] of mutants.entries()) {
    const file = path.join(place, mutant.file);
    const before = readFileSync(file, "utf8");
    writeFileSync(file, mutant.source);
    const failure = await findFailure();
    writeFileSync(file, before);
    // If a whole test file fails, it could not load the changed code, so no test has noticed the change.
    if (failure?.endsWith(".test.ts") === true)
      throw new Error(`${describeMutant(mutant)}: the change is not valid code. Mend tools/gate/mutants.ts.`);
    if (failure === null) survivors.push(mutant);
    const result = failure === null ? "SURVIVED" : "noticed ";
    process.stdout.write(`${at + 1}/${mutants.length} ${result} ${describeMutant(mutant)}\n`);
    if (failure !== null) process.stdout.write(`  by ${failure}\n`);
  }
} finally {
  rmSync(place, { recursive: true, force: true });
}
const share = mutants.length === 0 ? 0 : (mutants.length - survivors.length) / mutants.length;
process.stdout.write(`The tests notice ${(share * 100).toFixed(1)} % of ${mutants.length} removed calls.\n`);
for (const mutant of survivors) process.stdout.write(`Survived: ${describeMutant(mutant)}\n`);
process.exitCode = share >= LEAST_SHARE ? 0 : 1;

function describeMutant({ file, line, removed }: Mutant): string {
  return `${file}:${line} ${removed}`;
}

/**
 * Makes password hashes cheap, because these tests would spend most of their time on them and do not test their cost.
 */
function cheapenHashes(): void {
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
async function findFailure(): Promise<string | null> {
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
