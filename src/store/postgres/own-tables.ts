/** The version of the tables in this file. A database with a higher version was written by a newer program. */
export const schemaVersion = 1;

/** The channel for notifications about new rows of a followed collection. The payload is the name of the collection. */
export const channel = "latchkey";

/**
 * The first number of each advisory lock of this store. The second number identifies the table. No other program should
 * use this first number.
 */
const lockClass = 1_818_323_051;

/** The SQLSTATE of the errors that `latchkey_refuse` raises. */
export const refusedState = "LK001";

/**
 * Returns SQL that prevents other transactions from issuing keys of a table until this transaction ends. `table` is the
 * name as SQL.
 */
export function lockKeys(table: string): string {
  return `SELECT pg_advisory_xact_lock(${lockClass}, '${table.replaceAll("'", "''")}'::regclass::oid::integer)`;
}

/** The lock for the first start: one process makes the tables, and the others wait until they exist. */
export const migrationLock = `SELECT pg_advisory_xact_lock(${lockClass}, 0)`;

/**
 * The same lock, for changes of tables that already exist. Does not wait. `is_ours` is true if this transaction has it.
 */
export const tryTableLock = `SELECT pg_try_advisory_xact_lock(${lockClass}, 0) AS is_ours`;

/**
 * The lock for migrations of changed declarations. The connection holds it until it closes. `is_ours` is true if this
 * connection has it.
 */
export const tryMigrationLock = `SELECT pg_try_advisory_lock(${lockClass}, -1) AS is_ours`;

/**
 * The store's own tables. The `rows` of an idempotency record are JSON, and its `expires_at` is in milliseconds.
 *
 * Keys: the sequence of a collection issues them, and skips keys that came with a row (`latchkey_taken_keys`). A
 * transaction that issues a key holds a shared advisory lock of the collection until it ends. A transaction that
 * inserts a row with a given key holds the same lock exclusively. So this row is committed before the sequence issues
 * the next key.
 *
 * In a followed collection, one transaction at a time issues keys, so the keys have the order of the commits. A reader
 * that has read up to a key has missed no lower one. A reader could also stop at the oldest running transaction, but
 * then a long transaction in any database of the server would hold up the feed.
 *
 * `latchkey_refuse` ends a transaction from within a statement, so that all statements can be sent without waiting for
 * answers.
 */
export const ownTables = `
  CREATE TABLE latchkey_version (version integer NOT NULL);
  INSERT INTO latchkey_version (version) VALUES (${schemaVersion});
  CREATE TABLE latchkey_schema (
    collection text COLLATE "C" PRIMARY KEY,
    declaration text NOT NULL,
    types json NOT NULL,
    followed boolean NOT NULL DEFAULT FALSE
  );
  CREATE TABLE latchkey_taken_keys (collection text COLLATE "C" NOT NULL, key bigint NOT NULL, PRIMARY KEY (collection, key));
  CREATE TABLE latchkey_idempotency (
    key text COLLATE "C" PRIMARY KEY,
    fingerprint text NOT NULL,
    rows text,
    expires_at bigint NOT NULL
  );
  CREATE INDEX latchkey_idempotency_expiry ON latchkey_idempotency (expires_at);
  CREATE SEQUENCE latchkey_revision;

  CREATE FUNCTION latchkey_refuse(reason text) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $function$
  BEGIN
    RAISE EXCEPTION USING ERRCODE = '${refusedState}', MESSAGE = reason;
  END $function$;

  CREATE FUNCTION latchkey_next_key(name text, in_table regclass, in_sequence regclass) RETURNS bigint
  LANGUAGE plpgsql VOLATILE AS $function$
  DECLARE
    upcoming bigint;
  BEGIN
    IF (SELECT followed FROM latchkey_schema WHERE collection = name) THEN
      PERFORM pg_advisory_xact_lock(${lockClass}, in_table::oid::integer);
      PERFORM pg_notify('${channel}', name);
    ELSE
      PERFORM pg_advisory_xact_lock_shared(${lockClass}, in_table::oid::integer);
    END IF;
    LOOP
      upcoming := nextval(in_sequence);
      DELETE FROM latchkey_taken_keys AS taken WHERE taken.collection = name AND taken.key = upcoming;
      IF NOT FOUND THEN
        RETURN upcoming;
      END IF;
    END LOOP;
  END $function$;

  CREATE FUNCTION latchkey_take_key(name text, in_table regclass, in_sequence regclass, wanted bigint) RETURNS bigint
  LANGUAGE plpgsql VOLATILE AS $function$
  DECLARE
    upcoming bigint;
  BEGIN
    PERFORM pg_advisory_xact_lock(${lockClass}, in_table::oid::integer);
    EXECUTE format('SELECT CASE WHEN is_called THEN last_value + 1 ELSE last_value END FROM %s', in_sequence) INTO upcoming;
    IF wanted = upcoming THEN
      -- Rows that come with their keys in order (an import) need no memory but the counter.
      PERFORM setval(in_sequence, wanted);
    ELSIF wanted > upcoming THEN
      INSERT INTO latchkey_taken_keys (collection, key) VALUES (name, wanted) ON CONFLICT DO NOTHING;
    END IF;
    RETURN wanted;
  END $function$;
`;
