/**
 * Measures the CPU time that the service on PostgreSQL needs to read a user by id. Compares its requests per CPU second
 * with those of a bare `node:http` server. The bare server runs the same prepared query through a pool of the same
 * size, and answers with the same bytes. The CPU time of PostgreSQL does not count.
 */
import assert from "node:assert/strict";
import { parseArgs } from "node:util";
import { startPostgres } from "../tests/harness/postgres.ts";
import { startService } from "../tests/harness/service-process.ts";
import { median, type Round, runRound } from "./round.ts";
import { prepareWriting } from "./scenarios.ts";
import { captureReply, onServerCore, pinned, startBarePostgres } from "./servers.ts";

const options = parseArgs({
  options: { rounds: { type: "string", default: "5" }, seconds: { type: "string", default: "1.5" } },
});
const rounds = Number(options.values.rounds);
const seconds = Number(options.values.seconds);

const database = await startPostgres();
try {
  const url = await database.makeDatabase();
  await measure(url);
} finally {
  await database.stop();
}

async function measure(url: string): Promise<void> {
  const settings = { LATCHKEY_DATABASE: url, LATCHKEY_SECRET: "a secret for as long as the benchmark runs" };
  await using service = await startService(settings, onServerCore("dist/cli/latchkey.js"));
  const { read: request } = await prepareWriting(service);
  const reply = await captureReply(service.address, request);
  await using bare = await startBarePostgres(reply, url);
  assert.equal((await captureReply(bare.address, request)).body, reply.body);
  const load = { request, status: 200, connections: 32 };

  const ours: Round[] = [];
  const theirs: Round[] = [];
  for (let round = 0; round <= rounds; round++) {
    ours.push(await runRound(service, load, seconds));
    theirs.push(await runRound(bare, load, seconds));
  }
  // The first round does not count, because V8 compiles the code of both servers in it.
  const ratios = ours.slice(1).map((round, at) => round.requestsPerCPUSecond / theirs[at + 1]!.requestsPerCPUSecond);
  const rate = (all: readonly Round[]): number =>
    Math.round(median(all.slice(1).map((each) => each.requestsPerCPUSecond)));
  console.table({
    "a user by id, PostgreSQL": {
      latchkey: rate(ours),
      bare: rate(theirs),
      ratio: median(ratios).toFixed(2),
      range: `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`,
      target: 0.8,
      "p50 ms": median(ours.slice(1).map((round) => round.p50Ms)).toFixed(2),
      "p99 ms": median(ours.slice(1).map((round) => round.p99Ms)).toFixed(2),
    },
  });
  console.log(
    `Medians of ${rounds} rounds of ${seconds} s each, in turn${pinned ? "; servers on core 0, load on core 1" : "; not pinned to cores"}. Node ${process.version}.`,
  );
}
