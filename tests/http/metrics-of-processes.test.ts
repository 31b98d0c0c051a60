import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { logSink, makeMetrics } from "../../src/door/ops.ts";
import { walFamilies } from "../../src/features/ops/prometheus.ts";
import { readExposition, readMetric, type ScrapedFamily } from "../harness/metrics-format.ts";
import { startPostgres } from "../harness/postgres.ts";
import { basicHeader, serve, withMail, type API } from "../harness/serve.ts";
import { startService } from "../harness/service-process.ts";

async function scrape(api: API): Promise<ReadonlyMap<string, ScrapedFamily>> {
  const { status, text } = await api.get("/metrics", api.admin);
  assert.equal(status, 200);
  return readExposition(text);
}

test("reports exactly the metrics of docs/operation/monitoring.md, with the connection pool and the revocation feed on PostgreSQL", async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  const api = await serve(t, {
    settings: {
      LATCHKEY_DATABASE: await server.makeDatabase(),
      LATCHKEY_SECRET: "a secret that all processes of the service know",
      ...withMail,
    },
  });

  await api.get("/protected/", { authorization: "Bearer x.y.z" });
  const families = await scrape(api).then(() => scrape(api));

  const page = readFileSync(path.join(import.meta.dirname, "../../docs/operation/monitoring.md"), "utf8");
  const documented = [
    ...page.matchAll(/^\| `((?:latchkey|process)_\w+)` \| (counter|gauge|histogram|summary)\b/gm),
  ].map(([, name, type]) => `${name} ${type}`);
  const reportedFamilies = [
    ...[...families].map(([name, { type }]) => ({ name, type })),
    ...logSink(new PassThrough()).read(),
    ...makeMetrics().read(),
    ...walFamilies(0),
  ];
  assert.deepEqual(
    documented.toSorted(),
    [...new Set(reportedFamilies.map(({ name, type }) => `${name} ${type}`))].toSorted(),
  );
  assert.equal(readMetric(families, "latchkey_store_connections_max"), 10);
  assert.ok(readMetric(families, "latchkey_store_connections", { state: "idle" }) >= 1);
  assert.equal(readMetric(families, "latchkey_store_connections_awaited"), 0);
  const age = readMetric(families, "latchkey_revocation_feed_age_seconds");
  assert.ok(age > 0 && age < 5, String(age));
});

test("reports all workers in one scrape, including the counts of a worker that hangs or has died", async () => {
  await using service = await startService({ LATCHKEY_WORKERS: "2" });
  const authorization = basicHeader("admin", service.password);
  const workers = (): number[] =>
    spawnSync("pgrep", ["-P", String(service.pid)], { encoding: "utf8" })
      .stdout.split("\n")
      .filter(Boolean)
      .map(Number);
  // Each request has a separate connection, so both workers receive some of the requests.
  const ask = async (target: string): Promise<string> =>
    (await fetch(`${service.address}${target}`, { headers: { ...authorization, connection: "close" } })).text();
  const scrape = async () => readExposition(await ask("/metrics"));
  await untilProcesses(scrape, 2);
  const users = { route: "/users/{id}" };

  for (let times = 0; times < 20; times++) await ask("/users/1");
  const counted = await scrape();
  const [victim] = workers();
  process.kill(victim!, "SIGSTOP");
  // Half of the connections go to the worker that hangs, so the test uses the first of four responses.
  const duringHang = await Promise.any(Array.from({ length: 4 }, scrape));
  process.kill(victim!, "SIGKILL");
  while (workers().includes(victim!)) await wait(20);
  const afterDeath = await untilProcesses(scrape, 2);

  assert.equal(readMetric(counted, "latchkey_requests_total", users), 20);
  assert.equal(readMetric(duringHang, "latchkey_processes"), 1);
  assert.equal(readMetric(duringHang, "latchkey_requests_total", users), 20);
  assert.equal(readMetric(afterDeath, "latchkey_requests_total", users), 20);
  assert.equal(readMetric(afterDeath, "latchkey_request_duration_seconds_count", users), 20);
});

/**
 * Repeats the scrape until this many processes report. Ignores a failed scrape, because a process that has just died
 * does not respond.
 */
async function untilProcesses(
  scrape: () => Promise<ReadonlyMap<string, ScrapedFamily>>,
  count: number,
): Promise<ReadonlyMap<string, ScrapedFamily>> {
  for (;;) {
    const families = await scrape().catch(() => null);
    if (families !== null && readMetric(families, "latchkey_processes") === count) return families;
    await wait(50);
  }
}
