import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import {
  countersOf,
  formatFamilies,
  makeMetrics,
  mergeFamilies,
  seriesOf,
  watchEventLoop,
  type MetricFamily,
} from "../../src/door/ops.ts";
import { readExposition, readMetric, type ScrapedFamily } from "../harness/metrics-format.ts";
import { basicHeader, serve, type API } from "../harness/serve.ts";
import { testsOnPostgres } from "../harness/test-store.ts";

async function scrape(api: API): Promise<ReadonlyMap<string, ScrapedFamily>> {
  const { status, text } = await api.get("/metrics", api.admin);
  assert.equal(status, 200);
  return readExposition(text);
}

test("shows metrics in Prometheus' format to administrators only, for every Accept", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const accept = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;q=0.8,text/plain;q=0.5";

  const metrics = await api.get("/metrics", { ...api.admin, accept });

  assert.equal(metrics.status, 200);
  assert.equal(metrics.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  assert.equal(metrics.headers.get("cache-control"), "no-store");
  assert.ok(readExposition(metrics.text).size > 10);
  assert.equal((await api.get("/metrics", ann.headers)).status, 403);
  assert.equal((await api.get("/metrics")).status, 401);
});

test("counts requests by route, method and status, with their latency", async (t) => {
  const api = await serve(t);
  const users = { method: "GET", route: "/users/{id}", status: "200" };
  const before = await scrape(api);

  for (let times = 0; times < 3; times++) await api.get("/users/1", api.admin);
  await api.get("/users/77", api.admin);
  const after = await scrape(api);

  assert.equal(
    readMetric(after, "latchkey_requests_total", users) - readMetric(before, "latchkey_requests_total", users),
    3,
  );
  assert.equal(readMetric(after, "latchkey_requests_total", { ...users, status: "404" }), 1);
  const latency = { method: "GET", route: "/users/{id}" };
  assert.equal(readMetric(after, "latchkey_request_duration_seconds_count", latency), 4);
  assert.equal(readMetric(after, "latchkey_request_duration_seconds_bucket", { ...latency, le: "+Inf" }), 4);
  assert.ok(readMetric(after, "latchkey_request_duration_seconds_sum", latency) > 0);
});

test("makes no series for values that callers invent", async (t) => {
  const api = await serve(t);
  for (const method of ["BREW", "WHEN"]) await api.ask(method, "/users");
  for (const path of ["/a", '/b"\\']) await api.get(path);

  const families = await scrape(api);

  assert.equal(readMetric(families, "latchkey_requests_total", { method: "other", route: "/users", status: "405" }), 2);
  assert.equal(readMetric(families, "latchkey_requests_total", { method: "GET", route: "none", status: "404" }), 2);
});

test("counts refusals by scheme and code, and problems by code", async (t) => {
  const api = await serve(t);
  await api.get("/protected/", { authorization: "Bearer x.y.z" });
  await api.get("/protected/", basicHeader("admin", "a wrong password"));
  await api.get("/protected/");

  const families = await scrape(api);

  assert.equal(
    readMetric(families, "latchkey_refusals_total", { scheme: "bearer", code: "token_not_valid", reason: "malformed" }),
    1,
  );
  assert.equal(readMetric(families, "latchkey_refusals_total", { scheme: "basic", code: "invalid_credentials" }), 1);
  assert.equal(readMetric(families, "latchkey_problems_total", { code: "token_not_valid" }), 1);
  assert.equal(readMetric(families, "latchkey_problems_total", { code: "invalid_credentials" }), 1);
  assert.equal(readMetric(families, "latchkey_problems_total", { code: "not_authenticated" }), 1);
});

test("counts faults", async (t) => {
  const api = await serve(t, {
    config: {
      endpoints: [
        {
          method: "GET",
          path: "/broken",
          access: "open",
          handle() {
            throw new Error("a bug");
          },
        },
      ],
    },
  });
  await api.get("/broken");

  const families = await scrape(api);

  assert.equal(readMetric(families, "latchkey_faults_total"), 1);
  assert.equal(readMetric(families, "latchkey_problems_total", { code: "internal" }), 1);
});

test("reports active requests and hashes", async (t) => {
  const open = Promise.withResolvers<void>();
  const api = await serve(t, {
    config: {
      endpoints: [
        {
          method: "GET",
          path: "/slow",
          access: "open",
          handle: async () => open.promise.then(() => ({ status: 204 })),
        },
      ],
    },
  });
  // The service caches the checked password from here on, so a scrape computes no hash.
  await scrape(api);

  const slow = api.get("/slow");
  const logins = Array.from({ length: 4 }, (_, at) => api.get("/protected/", basicHeader(`nobody ${at}`, "password")));
  let during: Awaited<ReturnType<typeof scrape>>;
  let looks = 0;
  do {
    await wait(1);
    during = await scrape(api);
  } while (readMetric(during, "latchkey_password_hashes", { state: "running" }) === 0 && ++looks < 100);
  open.resolve();
  await Promise.all([slow, ...logins]);
  const behind = await scrape(api);

  assert.ok(readMetric(during, "latchkey_requests_in_flight") >= 2);
  assert.ok(readMetric(during, "latchkey_password_hashes", { state: "running" }) >= 1);
  // With PostgreSQL, the scrape itself is an active request, because it waits for an answer over the network.
  assert.equal(readMetric(behind, "latchkey_requests_in_flight"), testsOnPostgres ? 1 : 0);
  assert.equal(readMetric(behind, "latchkey_password_hashes"), 0);
});

test("reports the process under the usual names of Prometheus, and the versions of Latchkey and Node", async (t) => {
  const api = await serve(t);

  const families = await scrape(api);

  assert.ok(readMetric(families, "process_cpu_seconds_total") > 0);
  assert.ok(readMetric(families, "process_resident_memory_bytes") > 10_000_000);
  const started = readMetric(families, "process_start_time_seconds");
  assert.ok(Math.abs(started * 1000 - performance.timeOrigin) < 1);
  const { labels } = families.get("latchkey_build_info")!.samples[0]!;
  const { version } = JSON.parse(readFileSync(path.join(import.meta.dirname, "../../package.json"), "utf8"));
  assert.deepEqual(labels, { version, node: process.versions.node });
  assert.equal(readMetric(families, "latchkey_processes"), 1);
  const age = readMetric(families, "latchkey_revocation_feed_age_seconds");
  assert.ok(testsOnPostgres ? age >= 0 && age < 5 : age === 0, String(age));
});

test("shows a busy event loop in its delay and in its active time", async (t) => {
  const watch = watchEventLoop();
  t.after(watch.start());
  await wait(150);

  const end = performance.now() + 300;
  while (performance.now() < end);
  await wait(1);
  const families = readExposition(formatFamilies(watch.read()));

  const name = "latchkey_event_loop_delay_seconds";
  assert.ok(readMetric(families, `${name}_count`) > readMetric(families, `${name}_bucket`, { le: "0.1" }));
  assert.ok(readMetric(families, "latchkey_event_loop_seconds_total", { state: "active" }) >= 0.3);
});

test("escapes quotes, backslashes and line breaks in the labels", () => {
  const route = 'a "quoted" \\ path\nof two lines';
  const text = formatFamilies([
    { name: "odd", help: "Two\nlines \\", type: "gauge", samples: [[seriesOf("odd", { route }), 1.5]] },
  ]);

  const families = readExposition(text);

  assert.equal(families.get("odd")!.samples[0]!.labels["route"], route);
  assert.equal(text.split("\n").length, 4);
});

test("adds up the metrics of several processes, and reports the greatest age of all", () => {
  const of = (count: number, age: number): MetricFamily[] => [
    { name: "n_total", help: "N.", type: "counter", samples: [[seriesOf("n_total", { of: "all" }), count]] },
    { name: "age", help: "Age.", type: "gauge", together: "max", samples: [["age", age]] },
    { name: "busy", help: "Busy.", type: "gauge", samples: [["busy", 1]] },
  ];

  const merged = readExposition(formatFamilies(mergeFamilies([of(1, 5), of(2, 7), countersOf(of(4, 9))])));

  assert.equal(readMetric(merged, "n_total", { of: "all" }), 7);
  assert.equal(readMetric(merged, "age"), 7);
  assert.equal(readMetric(merged, "busy"), 2);
});

test("reports no series for an unused metric, and does not reset a count when it is read", () => {
  const metrics = makeMetrics();

  const untouched = readExposition(formatFamilies(metrics.read()));
  metrics.observe({ kind: "notice", level: "error", message: "The store does not answer" });
  metrics.observe({ kind: "notice", level: "info", message: "The store answers again" });

  assert.equal(untouched.has("latchkey_requests_total"), false);
  assert.equal(readMetric(readExposition(formatFamilies(metrics.read())), "latchkey_errors_total"), 1);
  assert.equal(readMetric(readExposition(formatFamilies(metrics.read())), "latchkey_errors_total"), 1);
});
