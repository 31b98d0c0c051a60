/**
 * Creates many rows with SQL, which is faster than requests: users with their accounts and words, and orders. The
 * service could have written the same rows. Half of the orders belong to one user.
 */
import { DatabaseSync } from "node:sqlite";
import { askPostgres } from "../tests/harness/postgres.ts";

/**
 * Fills a database in which the service has created the tables. The only administrator gets the last id. A SQLite file
 * must not be in use.
 */
export async function fill(database: string, count: number): Promise<void> {
  const sqlite = /^sqlite:(.*)$/.exec(database)?.[1];
  if (sqlite === undefined) {
    await askPostgres(
      database,
      `SET session_replication_role = replica; ${rows(`WITH series(n) AS (SELECT generate_series(2::bigint, ${count + 1}))`, count)};
       SELECT setval('"users(id) next"', ${count + 3}); SELECT setval('"orders(id) next"', ${count + 3}); ANALYZE`,
    );
    return;
  }
  const connection = new DatabaseSync(sqlite);
  const series = `WITH RECURSIVE series(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM series WHERE n <= ${count})`;
  // Drops the indexes and builds them again from sorted rows, which takes a fraction of the time.
  const indexes = connection
    .prepare(
      "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql LIKE 'CREATE INDEX%' OR sql LIKE 'CREATE UNIQUE%'",
    )
    .all();
  const dropped = indexes.map(({ name }) => `DROP INDEX "${String(name)}"`);
  connection.exec(`PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144; BEGIN;
    ${[...dropped, rows(series, count), ...indexes.map(({ sql }) => sql)].join(";\n")};
    DELETE FROM latchkey_keys; INSERT INTO latchkey_keys VALUES ('users', ${count + 3}), ('orders', ${count + 3});
    COMMIT; PRAGMA wal_checkpoint(TRUNCATE)`);
  connection.close();
}

/** The id of the user who has half of the orders. */
export const busyUser = 2;

function rows(series: string, count: number): string {
  const number = `(10000000 + n * 7919 % ${count})`;
  const active = "(SELECT active FROM accounts WHERE id = 1)";
  const account = `SELECT n, n, 'user' || n, 'user' || n, 'user', ${active}, 1, '2026-01-01T00:00:00.000Z', 0, ${active}`;
  const accountColumns = `id, _revision, username, _username_folded, role, active, generation, created_at, role_changes, username_follows_email`;
  const words = (word: string): string =>
    `INSERT INTO "_users_words" (word, id) ${series} SELECT ${word}, n FROM series ORDER BY 1, 2`;
  return [
    `INSERT INTO users (id, _revision, name, _name_folded, _name_words, email, _email_folded, _email_words) ${series}
     SELECT n, n, 'Person ' || ${number}, 'person ' || ${number}, '["person","' || ${number} || '"]',
       'user' || n || '@example.com', 'user' || n || '@example.com', '["user' || n || '","example","com"]' FROM series`,
    words("'com'"),
    words("'example'"),
    words("'person'"),
    words(`cast(${number} AS text)`),
    words("'user' || n"),
    `INSERT INTO accounts (${accountColumns}) ${series} ${account} FROM series`,
    `INSERT INTO orders (id, _revision, user_id, status, created_at) ${series}
     SELECT n, n, CASE n % 2 WHEN 0 THEN ${busyUser} ELSE n END, CASE n % 3 WHEN 0 THEN 'open' WHEN 1 THEN 'paid' ELSE 'cancelled' END,
       cast(2000 + n * 7919 % 1000 AS text) || '-01-01T00:00:00.' || cast(100 + n % 900 AS text) || 'Z' FROM series`,
    "UPDATE accounts SET id = (SELECT max(id) + 1 FROM accounts) WHERE id = 1",
    "UPDATE users SET id = (SELECT max(id) + 1 FROM users) WHERE id = 1",
  ].join(";\n");
}
