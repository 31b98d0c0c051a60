/**
 * What a start, a deletion, a demotion and a creation cost at `--few` users and at `--many`, on both databases. The users are made with
 * SQL; the one administrator comes last, where a search through all would find it at the end.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import { createLatchkey, type Latchkey } from "../src/service/latchkey.ts";
import { readSettings } from "../src/service/settings/settings.ts";
import { askPostgres, startPostgres } from "../tests/postgres.ts";
import { median } from "./round.ts";

const { values: options } = parseArgs({
  options: { few: { type: "string", default: "1000" }, many: { type: "string", default: "1000000" } },
});
const folder = mkdtempSync(path.join(tmpdir(), "latchkey-rows-"));
const postgres = await startPostgres();
const told: Record<string, Record<string, string>> = {};

try {
  for (const count of [Number(options.few), Number(options.many)]) {
    const file = path.join(folder, `${count}.db`);
    await measure(`SQLite, ${count}`, `sqlite:${file}`, async () => {
      const database = new DatabaseSync(file);
      const series = `WITH RECURSIVE series(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM series WHERE n <= ${count})`;
      database.exec(`PRAGMA foreign_keys = OFF; ${fill(series)};
        UPDATE latchkey_keys SET next = ${count + 2}; PRAGMA wal_checkpoint(TRUNCATE)`);
      database.close();
    });
    const url = await postgres.makeDatabase();
    await measure(`PostgreSQL, ${count}`, url, async () => {
      await askPostgres(
        url,
        `SET session_replication_role = replica; ${fill(`WITH series(n) AS (SELECT generate_series(2, ${count + 1}))`)};
         SELECT setval('"users(id) next"', ${count + 2}); ANALYZE`,
      );
    });
  }
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
console.table(told);

/** Users and their accounts; the administrator, who is first, becomes the last. */
function fill(series: string): string {
  const account = `SELECT n, n, 'user' || n, 'user' || n, 'user', role_active, 1, '2026-01-01T00:00:00.000Z', 0, role_active`;
  const columns = `id, _revision, username, _username_folded, role, active, generation, created_at, role_changes, username_follows_email`;
  return `
    INSERT INTO users (id, _revision, name, email, _email_folded) ${series} SELECT n, n, 'User ' || n, 'user' || n || '@example.com', 'user' || n || '@example.com' FROM series;
    INSERT INTO accounts (${columns}) ${series} ${account.replaceAll("role_active", "(SELECT active FROM accounts WHERE id = 1)")} FROM series;
    UPDATE accounts SET id = (SELECT max(id) + 1 FROM accounts) WHERE id = 1;
    UPDATE users SET id = (SELECT max(id) + 1 FROM users) WHERE id = 1`;
}

async function measure(name: string, database: string, run: () => Promise<void>): Promise<void> {
  await (await start(database)).close();
  await run();
  // The first start after it looks at what was made.
  await (await start(database)).close();
  const starts = await times(5, async () => {
    const begun = performance.now();
    const service = await start(database);
    const took = performance.now() - begun;
    await service.close();
    return took;
  });
  const service = await start(database);
  const headers = {
    authorization: `Basic ${Buffer.from("admin:for this benchmark only").toString("base64")}`,
    "content-type": "application/json",
  };
  const ask = async (method: string, target: string, body?: unknown): Promise<number> => {
    const begun = performance.now();
    const answer = await service.fetch(
      new Request(`http://127.0.0.1${target}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
      { peer: "127.0.0.1" },
    );
    if (!answer.ok) throw new Error(`${method} ${target}: ${answer.status} ${await answer.text()}`);
    return performance.now() - begun;
  };
  await ask("GET", "/users?limit=1");
  const creates = await times(50, (at) =>
    ask("POST", "/users", { name: "New", email: `${name}-${at}@example.org`.replaceAll(/[ ,]/g, "") }),
  );
  const deletes = await times(50, (at) => ask("DELETE", `/users/${at + 2}`));
  const demotions = await times(50, async (at) => {
    await ask("PATCH", `/users/${at + 100}/account`, { role: "admin" });
    return ask("PATCH", `/users/${at + 100}/account`, { role: "user" });
  });
  await service.close();
  told[name] = { "start ms": starts, "create ms": creates, "delete ms": deletes, "demote ms": demotions };
  console.log(name, told[name]);
}

function start(database: string): Promise<Latchkey> {
  return createLatchkey({
    settings: readSettings({
      LATCHKEY_DATABASE: database,
      LATCHKEY_SECRET: "a secret for as long as the benchmark runs",
      LATCHKEY_ADMIN_PASSWORD: "for this benchmark only",
    }),
  });
}

async function times(count: number, work: (at: number) => Promise<number>): Promise<string> {
  const took: number[] = [];
  for (let at = 0; at < count; at++) took.push(await work(at));
  return median(took).toFixed(2);
}
