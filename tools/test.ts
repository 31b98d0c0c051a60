import { execFileSync } from "node:child_process";
import { copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import {
  isNightly,
  isNightlyOnPostgres,
  measuresTime,
  runsAlone,
  runsOnPostgres,
  startsProcesses,
} from "./test-files.ts";
import { followRun } from "./test-progress.ts";

// Runs test files, several of them in one process, because each load of the service takes half a second of a core, and
// there are hundreds of files. Processes that tests start run a build, which this script makes first.
//
//   node tools/test.ts [--processes | --served] [--nightly] [--again] [--at-once NUMBER] [--name PATTERN] [FILE …]
//
// With `--again`, files that measure time or wait for a browser run a second time after a failure, one after another,
// while no other test runs. CI uses it: on a machine that other programs use, such a test may fail without a fault.
// Every other failure is final, because a rare failure is often a race.
//
// `--processes` runs the files that start processes (the command, a PostgreSQL, killed processes). They take as long as
// all others together.
//
// `--nightly` runs the files `*.nightly.test.ts`, and no other option does: tests that repeat a promise of a quick test
// many times, with large data or at random points.

// A test has no time limit, because a busy machine can make any test slow. If no test of the run ends for this time,
// one of them hangs. On an idle machine, each test takes at most a minute.
const LONGEST_SILENCE_MS = 1_200_000;

const { values, positionals } = parseArgs({
  options: {
    name: { type: "string" },
    processes: { type: "boolean", default: false },
    served: { type: "boolean", default: false },
    nightly: { type: "boolean", default: false },
    again: { type: "boolean", default: false },
    "at-once": { type: "string", default: "4" },
  },
  allowPositionals: true,
});
/** The number of processes that run at the same time. */
const processes = Number(values["at-once"]);
const named = positionals.length > 0 ? positionals : ["src/**/*.test.ts", "tests/**/*.test.ts"];
const files = globSync(named)
  .filter((file) => positionals.length > 0 || isAsked(file))
  .toSorted();
const missing = named.filter((each) => globSync(each).length === 0);
if (missing.length > 0) throw new Error(`No file is named by ${missing.join(" ")}.`);
if (files.length === 0) throw new Error("These options select no test file.");
// Files that start processes take long, so small groups end closer to each other.
const groups = (values.processes ? 8 : 4) * processes;

/** What each group loads first. Files that a developer names get the exact reports of `node:test`. */
const first = positionals.length > 0 ? [] : [path.join(import.meta.dirname, "untracked-promises.ts")];

let wasStopped = false;

/** The files that a group loads, by the path of the group. */
const fileGroups = new Map<string, readonly string[]>();
const cache = path.join(import.meta.dirname, "../node_modules/.cache/latchkey");
process.env["NODE_COMPILE_CACHE"] = path.join(cache, "compiled");
const folder = mkdtempSync(path.join(tmpdir(), "latchkey-tests-"));
try {
  process.env["TESTED_BUILD"] ??= build();
  process.env["TESTED_CLUSTER"] = path.join(folder, "cluster");
  let failed = await runFiles([...alone(files), ...together(files)], processes);
  const measuring =
    values.again && !wasStopped ? failed.filter((file) => measuresTime(readFileSync(file, "utf8"))) : [];
  if (measuring.length > 0) {
    const again = await runFiles(measuring, 1);
    const names = measuring.map((file) => path.relative(".", file)).join(", ");
    process.stdout.write(`Ran a second time, alone: ${names}. ${again.length} of them failed again.\n`);
    failed = [...failed.filter((file) => !measuring.includes(file)), ...again];
  }
  if (failed.length > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}
// A process that a test left running may keep the output of its group open, so this process would not end by itself.
process.exit();

/** Returns the files with a failure. A group that ended early counts with all of its files. */
async function runFiles(paths: readonly string[], concurrency: number): Promise<readonly string[]> {
  const failed = new Set<string>();
  const stopped = new AbortController();
  const stream = run({
    files: paths,
    concurrency,
    signal: stopped.signal,
    ...(values.name === undefined ? {} : { testNamePatterns: [values.name] }),
  });
  stream.on("test:fail", ({ name, file, todo }) => {
    if (todo !== undefined) return;
    const group = fileGroups.get(name) ?? (file === undefined ? undefined : fileGroups.get(file));
    if (group !== undefined && !stopped.signal.aborted) process.stderr.write(`${name} is:\n${group.join("\n")}\n`);
    for (const each of group ?? [file ?? name]) failed.add(each);
  });
  const minutes = LONGEST_SILENCE_MS / 60_000;
  const silence = setTimeout(
    () => stop(`Stopped, because no test has ended for ${minutes} minutes.`),
    LONGEST_SILENCE_MS,
  );
  const progress = followRun(stream, fileGroups, () => void silence.refresh());
  const interrupt = (): void => stop("Stopped by SIGTERM.");
  process.once("SIGTERM", interrupt);
  for await (const text of stream.compose(spec)) if (!stopped.signal.aborted) process.stdout.write(text as string);
  clearTimeout(silence);
  process.off("SIGTERM", interrupt);
  return [...failed];

  /**
   * Stops the processes of the run. The output ends here, because the reporter prints each of them with a stack trace.
   */
  function stop(reason: string): void {
    process.stderr.write(`${progress.describeUnfinished(reason)}\n`);
    wasStopped = true;
    stopped.abort();
  }
}

/** Returns true if a file runs when no file names are given: it is of the kind that the options select. */
function isAsked(file: string): boolean {
  const source = readFileSync(file, "utf8");
  if (values.served) return runsOnPostgres(source) && isNightlyOnPostgres(file, source) === values.nightly;
  if (values.nightly || isNightly(file)) return values.nightly && isNightly(file);
  return startsProcesses(source) === values.processes;
}

/**
 * Builds the package and returns its folder. The folder is inside the project, so that the build finds the packages
 * that it imports.
 */
function build(): string {
  const target = path.join(cache, "tested");
  mkdirSync(target, { recursive: true });
  copyFileSync("package.json", path.join(target, "package.json"));
  execFileSync(process.execPath, ["tools/build.ts", path.join(target, "dist")], { stdio: "inherit" });
  return target;
}

function isAlone(file: string): boolean {
  return runsAlone(readFileSync(file, "utf8"));
}

/** Returns the files that need a separate process. They take longest, so they come first. */
function alone(all: readonly string[]): string[] {
  return all.filter(isAlone).map((file) => path.resolve(file));
}

/** Writes one file for each group, which loads the test files of the group. Returns the paths of these files. */
function together(all: readonly string[]): string[] {
  const shared = all.filter((file) => !isAlone(file));
  return Array.from({ length: Math.min(groups, shared.length) }, (_, group) => {
    const members = shared.filter((_member, at) => at % groups === group).map((member) => path.resolve(member));
    const file = path.join(folder, `${group}.test.mjs`);
    fileGroups.set(file, members);
    writeFileSync(
      file,
      [...first, ...members].map((each) => `import ${JSON.stringify(pathToFileURL(each))};\n`).join(""),
    );
    return file;
  });
}
