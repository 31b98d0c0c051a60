// Decides which command runs a test file, by its name and by what it imports. So no list has to be maintained by hand.

/**
 * A test that changes the whole process, or measures it, needs a separate process. Mocked timers end with their test. A
 * suite (`describe`) in a group of files starts before the hooks of its file.
 */
const wantsProcess =
  /\bprocess\.(?:chdir|exit|on|once|cpuUsage|memoryUsage|threadCpuUsage)\(|\bprocess\.env\[.*?\] = |\bgetHeapSpaceStatistics\b|\/(?:array-pieces|busiest-piece|second-copy)\.ts"|\bmock\.method\b|\bdescribe\(|\bglobalThis\.\w+ = /;

const measures = /\/(?:array-pieces|busiest-piece|least-cpu|slowness)\.ts"|"playwright-core"|\bthreadCpuUsage\b/;

const startsProcess =
  /"node:child_process"|"LATCHKEY_TEST_STORE"|\/(?:both-databases|cli|command|doors-of-source|from-source|language-service|many-processes|migrating|older-node|postgres|postgres-contract|postgres-server|service-process)\.ts"/;

/** Finds a file that itself runs on both databases. */
const hasBoth = /\/(?:both-databases|existing|postgres)\.ts"/;

/** Finds a file whose store comes from the harness. With `LATCHKEY_TEST_STORE=postgres`, that store is PostgreSQL. */
const isServed = /\/(?:mail-flows|own-logins|own-service|raw-socket|serve|test-store|verified-emails)\.ts"/;

/** Finds the comment of a file whose promise needs no database, and takes long on PostgreSQL. */
const isSlowThere = /^\/\/ Nightly on PostgreSQL: /m;

/** Returns true if `npm run verify -- long-tests` runs the file, and no other command does. */
export function isNightly(file: string): boolean {
  return file.endsWith(".nightly.test.ts");
}

/** Returns true if `npm run verify -- long-tests` runs the file on PostgreSQL, and no other command does. */
export function isNightlyOnPostgres(file: string, source: string): boolean {
  return isNightly(file) || isSlowThere.test(source);
}

/** Returns true if the file compares a measured time with a limit, or waits for a browser until a limit. */
export function measuresTime(source: string): boolean {
  return measures.test(source);
}

export function runsAlone(source: string): boolean {
  return wantsProcess.test(source);
}

/** Returns true if `npm run test:processes` runs the file, and `npm test` does not. */
export function startsProcesses(source: string): boolean {
  return startsProcess.test(source);
}

/** Returns true if `npm run test:postgres` runs the file on PostgreSQL. */
export function runsOnPostgres(source: string): boolean {
  return isServed.test(source) && !startsProcess.test(source) && !hasBoth.test(source);
}

/** Returns true if the tests of the file run on both databases, in one command or in two. */
export function seesBothDatabases(source: string): boolean {
  return hasBoth.test(source) || runsOnPostgres(source);
}
