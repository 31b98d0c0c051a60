import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { askPostgres, startPostgres } from "../harness/postgres.ts";

// `npm run verify -- outbox` and `npm run verify -- outbox-postgres` kill two hundred times.
const KILLS = Number(process.env["OUTBOX_KILLS"] ?? 3);
const onPostgres = process.env["OUTBOX_STORE"] === "postgres";
const writer = path.join(import.meta.dirname, "../harness/outbox-writer.ts");

/** The database of the service, and a way for a test to query it directly. */
interface Database {
  readonly address: string;
  ask(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

test(`delivers the event of every write, and no event without a write, over ${KILLS} kills`, async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-outbox-kills-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const { address, ask } = await (onPostgres ? inPostgres(t) : inSQLite(folder));
  const effects = path.join(folder, "effects");
  const acknowledged = new Set<number>();

  for (let kill = 0; kill < KILLS; kill++) {
    const child = spawn(process.execPath, [writer, address, effects], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = once(child, "exit");
    let said = "";
    child.stdout.on("data", (chunk) => (said += String(chunk)));
    await Promise.race([once(child.stdout, "data"), ended]);
    assert.equal(child.exitCode, null, "the writer ended before it was killed");
    await wait(20 + 180 * Math.random());
    child.kill("SIGKILL");
    await ended;
    for (const id of said.split("\n").slice(0, -1)) acknowledged.add(Number(id));
    // Deletes the lease of the killed process. Otherwise the next process would deliver only after the lease has
    // expired.
    await ask("DELETE FROM outbox_leases");
  }
  const drained = spawnSync(process.execPath, [writer, address, effects, "drain"], { encoding: "utf8" });

  assert.equal(drained.status, 0, drained.stderr);
  const written = new Set((await ask("SELECT id FROM notes")).map(({ id }) => Number(id)));
  const [waiting] = await ask("SELECT count(*) AS count FROM outbox");
  const lines = readFileSync(effects, "utf8").trim().split("\n").map(Number);
  const deliveredIds = new Set(lines);
  t.diagnostic(`${written.size} written, ${lines.length - deliveredIds.size} of them delivered again`);
  assert.deepEqual(
    [...written].filter((id) => !deliveredIds.has(id)),
    [],
    "written and not delivered",
  );
  assert.deepEqual(
    [...deliveredIds].filter((id) => !written.has(id)),
    [],
    "delivered and not written",
  );
  assert.equal(Number(waiting?.["count"]), 0);
  for (const id of acknowledged) assert.ok(written.has(id), String(id));
  assert.ok(written.size > KILLS);
});

function inSQLite(folder: string): Database {
  const address = path.join(folder, "latchkey.db");
  return {
    address,
    async ask(sql) {
      const database = new DatabaseSync(address, { timeout: 5000 });
      try {
        return database.prepare(sql).all();
      } finally {
        database.close();
      }
    },
  };
}

async function inPostgres(t: TestContext): Promise<Database> {
  const server = await startPostgres();
  t.after(() => server.stop());
  const address = await server.makeDatabase();
  return { address, ask: (sql) => askPostgres(address, sql) };
}
