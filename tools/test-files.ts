// Which command runs a test file: decided by what the file imports, so that no list is kept by hand.

/** A test that reads or changes the whole process, or measures it, needs a separate process. */
const wantsProcess =
  /\bprocess\.(?:chdir|exit|on|once|env|cpuUsage|memoryUsage|threadCpuUsage)\b|\bgetHeapSpaceStatistics\b|\/busiest-piece\.ts"|\bmock\.|\bglobalThis\b/;

const measures = /\/(?:busiest-piece|least-cpu|slowness)\.ts"|\bthreadCpuUsage\b/;

const startsProcess =
  /"node:child_process"|"LATCHKEY_TEST_STORE"|\/(?:both-databases|cli|command|doors-of-source|from-source|language-service|many-processes|migrating|older-node|postgres|postgres-contract|postgres-server|service-process)\.ts"/;

/** Runs on both databases in every run. */
const hasBoth = /\/(?:both-databases|existing|postgres)\.ts"/;

/** Takes its store from the harness, which has it in PostgreSQL with `LATCHKEY_TEST_STORE=postgres`. */
const isServed = /\/(?:mail-flows|own-logins|own-service|raw-socket|serve|test-store|verified-emails)\.ts"/;

/** Compares a time of this machine with a limit. */
export function measuresTime(source: string): boolean {
  return measures.test(source);
}

export function runsAlone(source: string): boolean {
  return wantsProcess.test(source);
}

/** Whether `npm run test:processes` runs the file, and not `npm test`. */
export function startsProcesses(source: string): boolean {
  return startsProcess.test(source);
}

/** Whether `npm run test:postgres` runs the file on PostgreSQL. */
export function runsOnPostgres(source: string): boolean {
  return isServed.test(source) && !startsProcess.test(source) && !hasBoth.test(source);
}

/** Whether the tests of the file see both databases, by one command or by two. */
export function seesBothDatabases(source: string): boolean {
  return hasBoth.test(source) || runsOnPostgres(source);
}
