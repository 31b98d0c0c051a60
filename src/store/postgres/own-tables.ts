/** The version of what this file makes. A database with a higher one was written by a newer program. */
export const schemaVersion = 1;

/** The channel on which a new row of a followed collection is announced, with the collection's name. */
export const channel = "latchkey";

/** The class of our advisory locks, beside the table they are about. Any number, as long as no other program uses it. */
const lockClass = 1_818_323_051;

/** The SQLSTATE of what `latchkey_refuse` raises. */
export const refusedState = "LK001";

/** Keeps other transactions from handing out keys of a table until this one ends. The table is named as SQL names it. */
export function lockKeys(table: string): string {
  return `SELECT pg_advisory_xact_lock(${lockClass}, '${table.replaceAll("'", "''")}'::regclass::oid::integer)`;
}

/** Taken for the first tables: one process makes them, the others wait and find them made. */
export const migrationLock = `SELECT pg_advisory_xact_lock(${lockClass}, 0)`;

/** The same for tables that are there, without waiting: whether this transaction has it. */
export const migrationTurn = `SELECT pg_try_advisory_xact_lock(${lockClass}, 0) AS is_ours`;

/** Whether this connection may migrate declarations that have changed; it is alone with it until it ends. */
export const tryMigrationTurn = `SELECT pg_try_advisory_lock(${lockClass}, -1) AS is_ours`;

/**
 * The store's own tables. `rows` of a write that can be repeated are JSON, `expires_at` is in
 * milliseconds.
 *
 * Keys: the sequence of a collection hands them out, and skips those that came with a row (`latchkey_taken_keys`). Both ways
 * hold a lock of the collection to the end of their transaction: handing out shares it, naming a key has it alone, so that a
 * key that was named is known before the next one is handed out.
 *
 * A followed collection hands out its keys one transaction at a time, so its keys are in the order of the commits. A reader
 * that has read up to a key has missed none below it. The alternative, to read only below the oldest running transaction, would
 * let any long transaction of any database on the server hold up the feed.
 *
 * `latchkey_refuse` ends a transaction from within a statement, so that all statements can be sent without waiting.
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
