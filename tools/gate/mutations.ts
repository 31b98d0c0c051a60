/**
 * Removes each call of the gate (see `mutants.ts`), one at a time, in a copy of the sources, and runs the tests of
 * logins. Reports the share of removed calls that a test notices, and lists the calls that no test notices. Run by hand
 * or at night:
 *
 * npm run verify -- gate-mutations [--only PATTERN] [--list]
 */
import { globSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { describeMutant, findSurvivors } from "../mutations/running.ts";
import { collectMutants, gateFunctions } from "./mutants.ts";

const LEAST_SHARE = 0.95;

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
  "tests/auth/provider-proofs.test.ts",
  "tests/auth/auth-issuers.test.ts",
  "tests/auth/credentials.test.ts",
  "src/access/scheme/joining.test.ts",
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

const survivors = await findSurvivors(root, { mutants, tests });
const share = mutants.length === 0 ? 0 : (mutants.length - survivors.length) / mutants.length;
process.stdout.write(`The tests notice ${(share * 100).toFixed(1)} % of ${mutants.length} removed calls.\n`);
for (const mutant of survivors) process.stdout.write(`Survived: ${describeMutant(mutant)}\n`);
process.exitCode = share >= LEAST_SHARE ? 0 : 1;
