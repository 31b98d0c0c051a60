/**
 * Measures how long other processes still accept an access token after one process has revoked it: three processes on
 * one SQLite file, then on one PostgreSQL database. The time starts with the response to the request that revokes the
 * token. It stops when the last process has refused the token, so it includes a round trip.
 */
import { parseArgs } from "node:util";
import { endings, startProcesses, watchEnding, type Seen } from "../tests/harness/many-processes.ts";
import { startPostgres } from "../tests/harness/postgres.ts";
import { median } from "./round.ts";

const options = parseArgs({ options: { times: { type: "string", default: "50" } } });
const times = Number(options.values.times);
const rows: Record<string, Record<string, string | number>> = {};

const postgres = await startPostgres();
try {
  for (const [engine, database] of [
    ["SQLite", undefined],
    ["PostgreSQL", await postgres.makeDatabase()],
  ] as const) {
    await using processes = await startProcesses(database);
    const all: Seen[] = [];
    for (const ending of Object.keys(endings)) {
      const seen: Seen[] = [];
      for (let time = 0; time < times; time++) seen.push(await watchEnding(processes, ending));
      rows[`${engine}, ${ending}`] = buildRow(seen);
      all.push(...seen);
    }
    rows[`${engine}, all`] = buildRow(all);
  }
} finally {
  await postgres.stop();
}
console.table(rows);

function buildRow(seen: readonly Seen[]): Record<string, string | number> {
  const delays = seen.map(({ delayMs }) => delayMs);
  return {
    times: seen.length,
    "median ms": median(delays).toFixed(1),
    "worst ms": Math.max(...delays).toFixed(1),
    "answered meanwhile": seen.reduce((sum, { answered }) => sum + answered, 0),
  };
}
