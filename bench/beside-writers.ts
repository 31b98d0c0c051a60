/**
 * Measures how 64 writing clients affect readers: the latency of reading a user by id, alone and during the writes, on
 * the normal disk and on a disk that takes 5 ms longer to sync. The service runs on core 0. The processes that measure
 * and that write share core 1. The one that measures has a higher priority, so that it never waits for the core.
 */
import { execFile, spawnSync } from "node:child_process";
import path from "node:path";
import { promisify, parseArgs } from "node:util";
import { type ServiceProcess, startService } from "../tests/harness/service-process.ts";
import { makeFaultyDisk } from "../tools/disk/faults.ts";
import type { Reads } from "./reads.ts";
import { type Load, type LoadResult, median, warming } from "./round.ts";
import { prepareWriting } from "./scenarios.ts";
import { onLoadCore, onServerCore, pinned } from "./servers.ts";

const options = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "2" },
    command: { type: "string", default: "dist/cli/latchkey.js" },
  },
});
const rounds = Number(options.values.rounds);
const seconds = Number(options.values.seconds);
const syncDelaysMs = [0, 5];
const ways = { "8 clients, 800 reads a second": 800, "8 clients, as fast as they are answered": 0 };
const run = promisify(execFile);
const canGiveWay = spawnSync("nice", ["-n", "19", "true"]).status === 0;

using disk = makeFaultyDisk();
const rows: Record<string, Record<string, string | number>> = {};
for (const syncMs of syncDelaysMs) {
  await using service = await startService(
    { ...disk.environment, LATCHKEY_DATABASE: `sqlite:${path.join(disk.folder, `slow-${syncMs}.db`)}` },
    onServerCore(options.values.command),
  );
  const { read, write } = await prepareWriting(service);
  const writing: Load = { request: write, status: 201, connections: 64 };
  disk.slow(syncMs);
  for (const [way, perSecond] of Object.entries(ways)) {
    const reads: Reads = {
      address: service.address,
      path: read.path,
      headers: read.headers,
      clients: 8,
      perSecond,
      seconds,
    };
    const quiet: LoadResult[] = [];
    const beside: LoadResult[] = [];
    const written: number[] = [];
    for (let round = 0; round < warming + rounds; round++) {
      const alone = await measure(reads);
      const load = write64(service, writing);
      const together = await measure(reads);
      const { requests } = await load;
      if (round < warming) continue;
      quiet.push(alone);
      beside.push(together);
      written.push(requests / (seconds + 0.5));
    }
    rows[`${syncMs === 0 ? "the disk as it is" : `${syncMs} ms a sync`}: ${way}`] = buildRow(quiet, beside, written);
  }
  disk.heal();
}

console.table(rows);
console.log(
  `Medians of ${rounds} rounds of ${seconds} s each, quiet and beside in turn${pinned ? "; server on core 0, load on core 1" : "; not pinned to cores"}${canGiveWay ? "" : "; the writing load shares the core of the measuring process at the same priority"}. Node ${process.version}.`,
);

async function measure(reads: Reads): Promise<LoadResult> {
  const [file = "", ...args] = onLoadCore("bench/reads.ts", JSON.stringify(reads));
  return JSON.parse((await run(file, args)).stdout) as LoadResult;
}

/** Runs the writing load for half a second longer than the reads, which run at the same time. */
async function write64({ address }: ServiceProcess, load: Load): Promise<LoadResult> {
  const command = onLoadCore("bench/load.ts", JSON.stringify({ ...load, address, seconds: seconds + 0.5 }));
  const [file = "", ...args] = canGiveWay ? ["nice", "-n", "19", ...command] : command;
  return JSON.parse((await run(file, args)).stdout) as LoadResult;
}

function buildRow(
  quiet: readonly LoadResult[],
  beside: readonly LoadResult[],
  written: readonly number[],
): Record<string, string | number> {
  const ratios = quiet.map(({ p99Ms }, at) => beside[at]!.p99Ms / p99Ms);
  const ms = (results: readonly LoadResult[], what: "p50Ms" | "p99Ms"): string =>
    median(results.map((each) => each[what])).toFixed(2);
  return {
    "quiet p50 ms": ms(quiet, "p50Ms"),
    "quiet p99 ms": ms(quiet, "p99Ms"),
    "beside p50 ms": ms(beside, "p50Ms"),
    "beside p99 ms": ms(beside, "p99Ms"),
    "p99 ratio": median(ratios).toFixed(1),
    range: `${Math.min(...ratios).toFixed(1)}–${Math.max(...ratios).toFixed(1)}`,
    target: "below 3",
    "writes a second": Math.round(median(written)),
  };
}
