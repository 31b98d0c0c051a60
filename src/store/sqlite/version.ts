import { ask, run, statement, type Script } from "../sql/language/script.ts";

/**
 * The version of the tables that `makeOwnTables` creates. A database with a higher version was written by a newer
 * program.
 */
export const version = 1;

/**
 * Returns the version of Latchkey's tables in a file. Returns 0 if there are none. The version is in `latchkey_version`
 * and not in `user_version`, which other programs with tables in the file may use for themselves. Files of the first
 * releases do not have `latchkey_version`.
 */
export function* findVersion(): Script<number> {
  const [found] = yield* ask(
    statement(
      "SELECT count(*) FILTER (WHERE name = 'latchkey_schema') AS schemas, count(*) FILTER (WHERE name = 'latchkey_version') AS versions FROM sqlite_schema WHERE type = 'table'",
    ),
  );
  if (found!["schemas"] === 0) return 0;
  const [row] = yield* ask(
    statement(
      found!["versions"] === 0
        ? "SELECT user_version AS version FROM pragma_user_version"
        : "SELECT version FROM latchkey_version",
    ),
  );
  return row!["version"] as number;
}

/**
 * Creates the tables that the store needs in addition to the collections. In `latchkey_idempotency`, `rows` is JSON and
 * `expires_at` is in milliseconds.
 */
export function* makeOwnTables(): Script<void> {
  const [others] = yield* ask(
    statement(
      "SELECT (SELECT count(*) FROM sqlite_schema) AS objects, (SELECT user_version FROM pragma_user_version) AS version",
    ),
  );
  // The first releases read `user_version`. It is set only in a new file, because other programs may use it.
  const isOurs = others!["objects"] === 0 && others!["version"] === 0;
  yield* run(`
    CREATE TABLE latchkey_schema (collection TEXT NOT NULL PRIMARY KEY, declaration TEXT NOT NULL, types TEXT NOT NULL) WITHOUT ROWID, STRICT;
    CREATE TABLE latchkey_revision (revision INTEGER NOT NULL) STRICT;
    INSERT INTO latchkey_revision (revision) VALUES (0);
    CREATE TABLE latchkey_keys (collection TEXT NOT NULL PRIMARY KEY, next INTEGER NOT NULL) WITHOUT ROWID, STRICT;
    CREATE TABLE latchkey_taken_keys (collection TEXT NOT NULL, key INTEGER NOT NULL, PRIMARY KEY (collection, key)) WITHOUT ROWID, STRICT;
    CREATE TABLE latchkey_idempotency (key TEXT NOT NULL PRIMARY KEY, fingerprint TEXT NOT NULL, rows TEXT NOT NULL, expires_at INTEGER NOT NULL) STRICT;
    CREATE INDEX latchkey_idempotency_expiry ON latchkey_idempotency (expires_at);
    CREATE TABLE latchkey_version (version INTEGER NOT NULL) STRICT;
    INSERT INTO latchkey_version (version) VALUES (${version});
    ${isOurs ? `PRAGMA user_version = ${version};` : ""}
  `);
}
