/**
 * Measures the cost of the service: requests per CPU second of the server, as a ratio to another server. The other one
 * is a bare `node:http` server that sends the same bytes and headers, or a server written by hand that does the same
 * work. Both run at the same time and get requests in turn, so that a slow machine affects both.
 */
import { parseArgs } from "node:util";
import { startService } from "../tests/harness/service-process.ts";
import { median, type Round, runRound, warming } from "./round.ts";
import { prepareWriting, scenarios } from "./scenarios.ts";
import {
  captureReply,
  onAnyCore,
  onServerCore,
  pinned,
  startBare,
  startByHand,
  startCommitting,
  startCreatingByHand,
} from "./servers.ts";

const options = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "1.5" },
    only: { type: "string", default: "" },
  },
});
const rounds = Number(options.values.rounds);
const seconds = Number(options.values.seconds);

await using service = await startService({}, onServerCore("dist/cli/latchkey.js"));
const rows: Record<string, Record<string, string | number>> = {};

for (const { name, prepare, beside, target, whileOthersWrite } of scenarios) {
  if (!name.includes(options.values.only)) continue;
  const request = await prepare(service);
  const reply = await captureReply(service.address, request);
  await using rival = beside === "bare" ? await startBare(reply) : await startByHand(reply, service);
  await using _others = whileOthersWrite ? await startCommitting(service) : null;
  const load = { request, status: reply.status, connections: 32 };

  for (let round = 0; round < warming; round++) {
    await runRound(service, load, seconds);
    await runRound(rival, load, seconds);
  }

  const ours: Round[] = [];
  const theirs: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(await runRound(service, load, seconds));
    theirs.push(await runRound(rival, load, seconds));
  }
  rows[name] = buildRow(ours, theirs, beside, (round) => round.requestsPerCPUSecond, target);
}

if ("creating".includes(options.values.only)) {
  // Measured in elapsed time, because a write waits for the disk, which costs no CPU time. On any core, because the
  // service writes in a second thread.
  await measureWriting("creating a user, 64 clients, per second", onAnyCore);
  if (pinned) await measureWriting("the same, the service on one core", onServerCore);
}

console.table(rows);
console.log(
  `Medians of ${rounds} rounds of ${seconds} s each, in turn${pinned ? "; server on core 0, load on core 1 (not where users are created)" : "; not pinned to cores"}. Node ${process.version}.`,
);

async function measureWriting(name: string, on: (script: string) => string[]): Promise<void> {
  await using writing = await startService({}, on("dist/cli/latchkey.js"));
  await using rival = await startCreatingByHand(writing, on);
  const { read, write } = await prepareWriting(writing);
  const reads: Round[] = [];
  const writes: Round[] = [];
  const byHand: Round[] = [];
  for (let round = 0; round < warming + rounds; round++) {
    reads.push(await runRound(writing, { request: read, status: 200, connections: 64, sleeps: true }, seconds));
    writes.push(await runRound(writing, { request: write, status: 201, connections: 64, sleeps: true }, seconds));
    byHand.push(await runRound(rival, { request: write, status: 201, connections: 64, sleeps: true }, seconds));
  }
  const rate = (round: Round): number => round.requestsPerSecond;
  rows[name] = buildRow(writes.slice(warming), byHand.slice(warming), "by hand", rate, 2);
  // No target: the ratio falls whenever reads get faster.
  rows[`${name}, compared with reading one`] = buildRow(
    writes.slice(warming),
    reads.slice(warming),
    "reading one",
    rate,
  );
}

function buildRow(
  ours: readonly Round[],
  theirs: readonly Round[],
  beside: string,
  rate: (round: Round) => number,
  target?: number,
): Record<string, string | number> {
  const ratios = ours.map((round, at) => rate(round) / rate(theirs[at]!));
  return {
    latchkey: Math.round(median(ours.map(rate))),
    beside,
    theirs: Math.round(median(theirs.map(rate))),
    ratio: median(ratios).toFixed(2),
    range: `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`,
    target: target ?? "–",
    "p50 ms": median(ours.map((round) => round.p50Ms)).toFixed(2),
    "p99 ms": median(ours.map((round) => round.p99Ms)).toFixed(2),
  };
}
