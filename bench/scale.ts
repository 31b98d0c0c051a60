/**
 * From one process to several, from SQLite to PostgreSQL: how fast 64 clients read and create users, and what that takes. Load,
 * service and database share the machine, so the rates are of that machine; the CPU time for a request tells more.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startPostgres } from "../tests/postgres.ts";
import { type ServiceProcess, startService } from "../tests/service-process.ts";
import { type Load, median, type Round, runRound } from "./round.ts";
import { prepareWriting } from "./scenarios.ts";

const options = parseArgs({
  options: { rounds: { type: "string", default: "3" }, seconds: { type: "string", default: "2" } },
});
const rounds = Number(options.values.rounds);
const seconds = Number(options.values.seconds);

const database = await startPostgres();
const rows: Record<string, Record<string, string | number>> = {};
try {
  const postgres = async () => ({
    LATCHKEY_DATABASE: await database.makeDatabase(),
    LATCHKEY_SECRET: "a secret for as long as the benchmark runs",
  });
  for (const workers of [1, 2]) await measure(`SQLite, ${workers} process${workers > 1 ? "es" : ""}`, workers, {});
  for (const workers of [1, 2])
    await measure(`PostgreSQL, ${workers} process${workers > 1 ? "es" : ""}`, workers, await postgres());
} finally {
  await database.stop();
}
console.table(rows);
console.log(
  `Medians of ${rounds} rounds of ${seconds} s each, 64 connections, everything on ${availableParallelism()} cores. PostgreSQL without fsync. Node ${process.version}.`,
);

async function measure(name: string, workers: number, settings: Readonly<Record<string, string>>): Promise<void> {
  const dist = [process.execPath, "dist/cli/latchkey.js"].map((part) =>
    part.startsWith("/") ? part : `${process.cwd()}/${part}`,
  );
  await using service = await startService({ LATCHKEY_WORKERS: String(workers), ...settings }, dist);
  while (processesOf(service).length < (workers > 1 ? workers + 1 : 1)) await wait(50);
  const { read, write } = await prepareWriting(service);
  const reads = await rounded(service, { request: read, status: 200, connections: 64 });
  const writes = await rounded(service, { request: write, status: 201, connections: 64 });
  rows[name] = {
    "reads/s": reads.perSecond,
    "p99 ms": reads.p99Ms,
    "CPU µs a read": reads.cpuMicroseconds,
    "writes/s": writes.perSecond,
    "write p99 ms": writes.p99Ms,
    "CPU µs a write": writes.cpuMicroseconds,
    "memory MB": Math.round(processesOf(service).reduce((sum, pid) => sum + residentKilobytes(pid), 0) / 1024),
  };
}

async function rounded(
  service: ServiceProcess,
  load: Load,
): Promise<{ readonly perSecond: number; readonly p99Ms: string; readonly cpuMicroseconds: number }> {
  const all: (Round & { readonly cpu: number })[] = [];
  for (let round = 0; round <= rounds; round++) {
    const before = cpuSeconds(service);
    const result = await runRound(service, load, seconds);
    all.push({ ...result, cpu: ((cpuSeconds(service) - before) * 1e6) / result.requests });
  }
  // The first one compiled.
  const counted = all.slice(1);
  return {
    perSecond: Math.round(median(counted.map((each) => each.requestsPerSecond))),
    p99Ms: median(counted.map((each) => each.p99Ms)).toFixed(1),
    cpuMicroseconds: Math.round(median(counted.map((each) => each.cpu))),
  };
}

/** The process and its workers. */
function processesOf({ pid }: ServiceProcess): readonly number[] {
  // It fails where there are none.
  const children = spawnSync("pgrep", ["-P", String(pid)], { encoding: "utf8" })
    .stdout.split("\n")
    .filter(Boolean);
  return [pid, ...children.map(Number)];
}

function cpuSeconds(service: ServiceProcess): number {
  return processesOf(service).reduce((sum, pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return sum + (Number(fields[11]) + Number(fields[12])) / 100;
  }, 0);
}

function residentKilobytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]);
}
