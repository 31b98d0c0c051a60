/**
 * Runs checks that need much time or other programs: `npm run verify -- NAME …`. Without a name, lists them.
 * `npm run verify:nightly` runs every check that `.ci/run` does not run.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";

interface Check {
  /** One line for the list. */
  readonly about: string;
  /** Commands, run in this order. Options of the call are added to the last one. */
  readonly commands: readonly (readonly string[])[];
  readonly env?: Readonly<Record<string, string>>;
  /** `.ci/run` runs it at every submission. */
  readonly everySubmission?: true;
}

const install = (folder: string, ...options: readonly string[]): readonly string[] => [
  "npm",
  "ci",
  ...options,
  "--prefix",
  `tools/${folder}`,
];
const build = ["npm", "run", "build"] as const;
const tests = (...args: readonly string[]): readonly string[] => ["node", "--test", ...args];
/** Node runs one file at a time on two cores. These files mostly wait for programs and pages, and measure no time. */
const sideBySide = Math.max(2, availableParallelism() - 1);

const checks: Readonly<Record<string, Check>> = {
  queries: {
    about:
      "Asks 10,000 lists and records on both databases and compares them with a model. Takes --queries and --seed.",
    commands: [["node", "tests/lists/lists-model.test.ts", "--queries", "10000"]],
  },
  openapi: {
    about: "Validates the OpenAPI document with redocly and generates clients.",
    commands: [install("openapi"), tests(`--test-concurrency=${sideBySide}`, "tools/openapi/!(*.nightly).test.ts")],
    everySubmission: true,
  },
  create: {
    about: "Installs both packed packages, creates a project and runs `latchkey dev`. Needs `npm run build`.",
    commands: [["node", "tools/create/build.ts"], tests("--test-concurrency=1", "tools/create/*.test.ts")],
    everySubmission: true,
  },
  browser: {
    about:
      "Drives the console and `/docs` in Chromium, by mouse and keyboard, with passkeys and axe. Needs Debian's chromium.",
    commands: [
      install("browser"),
      ["tsc", "-p", "tools/browser"],
      // A busy machine can make a browser miss any limit, so a failed file runs a second time, alone.
      [
        "node",
        "tools/test.ts",
        "--again",
        `--at-once=${sideBySide}`,
        "tools/browser/{account-pages,accounts,browser,console,forms,invitations,librarian,no-script,passkeys}.test.ts",
      ],
    ],
    everySubmission: true,
  },
  "long-tests": {
    about:
      "Runs the test files `*.nightly.test.ts`, which repeat promises of quick tests with more data, and slow files on PostgreSQL.",
    commands: [
      ["node", "tools/test.ts", "--nightly"],
      ["node", "tools/on-postgres.ts", "--nightly"],
      install("openapi"),
      tests("tools/openapi/*.nightly.test.ts"),
    ],
  },
  "gate-mutations": {
    about:
      "Removes each call of the gate, one at a time, and counts what the tests of logins notice. Takes --only, --list.",
    commands: [["node", "tools/gate/mutations.ts"]],
  },
  "rule-mutations": {
    about:
      "Changes each condition of rules for fields, unique sets, default orders and labels, one at a time. Takes --kind, --only, --list.",
    commands: [["node", "tools/mutations/rules.ts"]],
  },
  "prove-mutations": {
    about:
      "Changes 40 drawn conditions that decide who sees or changes what, one at a time, and counts what `latchkey prove` finds in the examples. Takes --seed, --count, --only, --list.",
    commands: [["node", "tools/mutations/prove.ts"]],
  },
  sbom: {
    about: "Writes latchkey.cdx.json, the bill of materials in CycloneDX, from the lock file.",
    commands: [
      install("supply"),
      [
        "node",
        "tools/supply/node_modules/@cyclonedx/cyclonedx-npm/bin/cyclonedx-npm-cli.js",
        "--package-lock-only",
        "--omit",
        "dev",
        "--output-reproducible",
        "--output-format",
        "JSON",
        "--output-file",
        "latchkey.cdx.json",
      ],
      tests("tools/supply/*.test.ts"),
    ],
  },
  audit: {
    about: "Reports known weaknesses and the age of the dependencies.",
    commands: [["node", "tools/supply/dependencies.ts"]],
  },
  operations: {
    about: "Runs every operation of the API from `/docs` in Chromium. Needs Debian's chromium.",
    commands: [install("browser"), tests("tools/browser/operations.test.ts")],
  },
  disk: {
    about: "Runs the service on disks that are full, slow or failing. Needs root on Linux, Debian's gcc and libc6-dev.",
    commands: [tests("--test-concurrency=1", "tools/disk/*.test.ts")],
  },
  proxies: {
    about: "Runs behind nginx, haproxy and PgBouncer. Needs Debian's nginx, haproxy and pgbouncer.",
    commands: [tests("tools/proxies/*.test.ts")],
  },
  deploy: {
    about: "Checks alerts, dashboard, manifests and the systemd unit. Needs Debian's prometheus and systemd.",
    commands: [install("deploy"), tests("tools/deploy/*.test.ts")],
  },
  frameworks: {
    about: "Mounts the service in Express, Fastify, Hono, NestJS and Next.js.",
    commands: [
      build,
      install("frameworks"),
      ["node", "tools/frameworks/prepare.ts"],
      ["tsc", "-p", "tools/frameworks"],
      tests("tools/frameworks/*.test.ts"),
    ],
  },
  runtimes: {
    about: "Runs the service in Bun and Deno.",
    commands: [build, install("runtimes", "--ignore-scripts"), tests("tools/runtimes/*.test.ts")],
  },
  tutorial: {
    about: "Runs every command of docs/tutorial/shop.md from an empty folder. Needs bash and curl.",
    commands: [build, tests("tools/tutorial/*.test.ts")],
  },
  failover: {
    about: "Stops and replaces PostgreSQL under load and during migrations.",
    commands: [tests("tools/failover/*.test.ts")],
  },
  rolling: {
    about: "Runs the released version beside this one on one database. Needs the history of Git.",
    commands: [tests("tools/rolling/rolling.test.ts")],
  },
  replay: {
    about: "Replays two years of changed declarations on both databases, with traffic and kills.",
    commands: [tests("--test-reporter=spec", "tools/replay/replay.test.ts")],
  },
  workers: {
    about: "Kills fifty workers under load.",
    commands: [tests("tests/service/worker-deaths.test.ts")],
    env: { WORKER_KILLS: "50" },
  },
  migrations: {
    about: "Kills a migration of a million rows beside 64 writers.",
    commands: [tests("tests/migrations/migration-kills.test.ts")],
    env: { MIGRATION_ROWS: "1000000", MIGRATION_KILLS: "10", MIGRATION_WRITERS: "64", MIGRATION_LIFE_MS: "20000" },
  },
  locks: {
    about: "Measures how long a migration of a million rows locks its table on PostgreSQL.",
    commands: [tests("--test-reporter=spec", "tests/migrations/migration-locks.test.ts")],
    env: { LOCKS_ROWS: "1000000", LOCKS_WRITERS: "8", LOCKS_LIMIT_MS: "200" },
  },
  outbox: {
    about: "Kills 200 processes that write and deliver events, on SQLite.",
    commands: [tests("tests/service/outbox-kills.test.ts")],
    env: { OUTBOX_KILLS: "200" },
  },
  "outbox-postgres": {
    about: "Kills 200 processes that write and deliver events, on PostgreSQL.",
    commands: [tests("tests/service/outbox-kills.test.ts")],
    env: { OUTBOX_KILLS: "200", OUTBOX_STORE: "postgres" },
  },
  "mail-kills": {
    about:
      "Kills 200 processes that request and send mails, on each database, and searches the databases for links and codes.",
    commands: [tests("tests/service/mail-kills.test.ts")],
    env: { MAIL_KILLS: "200" },
  },
  timing: {
    about:
      "Measures whether the time of an answer shows that an account has an address. Takes 2,000 pairs of requests.",
    commands: [build, tests("--test-reporter=spec", "--test-concurrency=1", "tools/timing/*.test.ts")],
  },
  crash: {
    about: "Kills the service 50 times under load and compares a ledger, on SQLite.",
    commands: [tests("tests/service/crash.test.ts")],
    env: { CRASH_ROUNDS: "50" },
  },
  "crash-postgres": {
    about: "Kills the service 50 times under load and compares a ledger, on PostgreSQL.",
    commands: [tests("tests/service/crash.test.ts")],
    env: { CRASH_ROUNDS: "50", CRASH_STORE: "postgres" },
  },
  soak: {
    about: "Runs the service for SOAK_MINUTES (15) under traffic, kills and backups. Needs Linux.",
    commands: [build, tests("tools/soak/soak.test.ts")],
  },
  docs: {
    about: "Builds the searchable site of the docs in tools/site/generated/site, and asks its search ten questions.",
    commands: [install("site"), ["node", "tools/site/build.ts"], tests("tools/site/search.test.ts")],
  },
  reference: {
    about: "Builds the API reference with typedoc.",
    commands: [
      build,
      install("reference"),
      ["node", "tools/reference/node_modules/typedoc/bin/typedoc", "--options", "tools/reference"],
    ],
  },
};

// Passes everything from the first option on to the check.
const words = process.argv.slice(2).filter((word) => word !== "--nightly");
const option = words.findIndex((word) => word.startsWith("--"));
const extra = option === -1 ? [] : words.slice(option);
const named = process.argv.includes("--nightly")
  ? Object.keys(checks).filter((name) => checks[name]!.everySubmission !== true)
  : words.slice(0, option === -1 ? undefined : option);
const unknown = named.filter((name) => !(name in checks));
if (named.length === 0 || unknown.length > 0) {
  if (unknown.length > 0) process.stderr.write(`There is no check ${unknown.join(", ")}.\n`);
  for (const [name, { about }] of Object.entries(checks)) process.stdout.write(`${name.padEnd(16)} ${about}\n`);
  process.exit(unknown.length > 0 ? 1 : 0);
}

const failed: string[] = [];
for (const name of named) {
  const began = Date.now();
  const ok = await runCheck(checks[name]!);
  if (!ok) failed.push(name);
  process.stdout.write(`verify ${name}: ${ok ? "passed" : "FAILED"} in ${Math.round((Date.now() - began) / 1000)} s\n`);
}
process.stdout.write(`${named.length - failed.length} passed, ${failed.length} failed\n`);
process.exitCode = failed.length > 0 ? 1 : 0;

async function runCheck({ commands, env }: Check): Promise<boolean> {
  for (const [at, [command, ...args]] of commands.entries()) {
    const all = at === commands.length - 1 ? [...args, ...extra] : args;
    const child = spawn(command === "node" ? process.execPath : command!, all, {
      env: { ...process.env, ...env },
      stdio: "inherit",
    });
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
    const [status] = (await once(child, "exit")) as [number | null];
    if (status !== 0) return false;
  }
  return true;
}
