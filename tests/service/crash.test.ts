import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { makeLedger } from "../harness/ledger.ts";
import { postgresServers, formatURL, type PostgresServer } from "../harness/postgres-server.ts";
import { startService, type ServiceProcess } from "../harness/service-process.ts";

// `npm run test:processes` kills the service a few times, `npm run verify -- crash` and
// `npm run verify -- crash-postgres` fifty times.
const rounds = Number(process.env["CRASH_ROUNDS"] ?? 3);
const onPostgres = process.env["CRASH_STORE"] === "postgres";
const password = "outlives every kill";

/**
 * The pause of each client after a request, in milliseconds. A caller may make 10,000 writes with an idempotency key a
 * day. The load on PostgreSQL takes longer, because the server restarts, and would exceed this limit without the pause.
 */
const pauseMs = onPostgres ? 10 : 0;

test(`survives ${rounds} kills under load: no acknowledged write is lost, torn or repeated, and no deleted record or ended login comes back`, async (t) => {
  const { database, server } = await (onPostgres ? inPostgres(t) : inSQLite(t));
  const settings = {
    LATCHKEY_DATABASE: database,
    LATCHKEY_ADMIN_PASSWORD: password,
    // A revoked credential must be refused for its revocation, not for its expiry.
    LATCHKEY_ACCESS_SECONDS: "3600",
    ...(onPostgres ? { LATCHKEY_SECRET: "known to every process of it, at any time" } : {}),
  };
  const ledger = makeLedger(password);
  const slowest = { start: 0, recovery: 0 };

  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now();
    await using service = await startService(settings);
    await ready(service);
    slowest.start = Math.max(slowest.start, performance.now() - startedAt);
    await ledger.settle(service);

    const load = ledger.load(service, pauseMs);
    await load.begun;
    await wait((round * 7) % 100);
    // Kills the process in every round. On PostgreSQL, also kills the server: before the process, together with the
    // process, or not at all.
    if (server !== null && round % 3 === 0)
      slowest.recovery = Math.max(slowest.recovery, await restart(server, service));
    const killed = server !== null && round % 3 === 1 ? server.kill() : null;
    process.kill(service.pid, "SIGKILL");
    await killed;
    await load.stop();
    if (killed !== null) await server?.start();
  }

  await using service = await startService(settings);
  await ledger.settle(service);
  await ledger.verify(service);
  t.diagnostic(
    `${ledger.summary()}; slowest start until ready ${Math.round(slowest.start)} ms` +
      (server === null
        ? ""
        : `, slowest return to ready ${Math.round(slowest.recovery)} ms after the restart of the server`),
  );
});

/**
 * Kills and restarts the PostgreSQL server. Returns the time from its restart until the service was ready, in
 * milliseconds.
 */
async function restart(server: PostgresServer, service: ServiceProcess): Promise<number> {
  await server.kill();
  await wait(200);
  assert.equal((await fetch(`${service.address}/readyz`)).status, 503);
  await server.start();
  const back = performance.now();
  await ready(service);
  return performance.now() - back;
}

async function ready({ address }: ServiceProcess): Promise<void> {
  while ((await fetch(`${address}/readyz`)).status !== 200) await wait(10);
}

async function inSQLite(t: TestContext): Promise<{ database: string; server: null }> {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-crash-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return { database: `sqlite:${path.join(folder, "latchkey.db")}`, server: null };
}

async function inPostgres(t: TestContext): Promise<{ database: string; server: PostgresServer }> {
  const servers = await postgresServers();
  t.after(() => servers[Symbol.asyncDispose]());
  const server = await servers.primary();
  return { database: formatURL(server), server };
}
