import { guessStreaksCollection, knownAddressesCollection } from "../src/access/throttle/records.ts";
import { guessesCollection } from "../src/access/throttle/window.ts";
import {
  deadFamiliesCollection,
  familiesCollection,
  refreshUsesCollection,
  revocationsCollection,
  sessionsCollection,
} from "../src/door/auth.ts";
import type { Collection, Transaction, Where } from "../src/door/stores.ts";
import { requestCountsCollection } from "../src/features/rate-limit/counter.ts";

/** A kind of data that expires. */
export interface Kind {
  readonly name: string;
  /** The SQL condition of the expired rows. Finds no rows when all of them are deleted. */
  readonly left: { readonly table: string; readonly condition: string };
  /** The same condition for a store. Null if upkeep does not delete the rows. */
  readonly due: { readonly collection: Collection; readonly where: Where } | null;
  /** Returns the statement that creates rows that expired long ago. */
  fill(count: number, isSQLite: boolean): string;
  /** The engines to measure. */
  readonly engines: readonly ("SQLite" | "PostgreSQL")[];
  /** Returns the write that a client makes during the deletion, with a different id each time. */
  write(id: string): Transaction;
}

const both = ["SQLite", "PostgreSQL"] as const;
const future = "2999-01-01T00:00:00.000Z";

/** All kinds of expired data that a service deletes, in its upkeep or together with a write. */
export const kinds: readonly Kind[] = [
  expiring(refreshUsesCollection, "expires_at"),
  nonces(),
  expiring(deadFamiliesCollection, "expires_at"),
  expiring(familiesCollection, "idle_until"),
  expiring(revocationsCollection, "expires_at"),
  expiring(sessionsCollection, "expires_at"),
  expiring(guessesCollection, "at"),
  expiring(guessStreaksCollection, "at"),
  expiring(knownAddressesCollection, "at"),
  expiring(requestCountsCollection, "ends_at"),
  repeatable(),
  takenKeys(),
];

/** Inserts one row, without an idempotency record. */
export function plainWrite(id: string): Transaction {
  return {
    changes: [{ kind: "insert", collection: deadFamiliesCollection, key: id, values: { expires_at: future } }],
  };
}

/** Data whose rows upkeep deletes when the time in a column has passed. */
function expiring(collection: Collection, column: string): Kind {
  const isText = collection.columns.find(({ name }) => name === column)!.type === "date-time";
  // The time of each row is its number, in milliseconds since 1970, so all times are long ago.
  const value = isText ? "2100-01-01T00:00:00.000Z" : 1e9;
  const condition = `"${column}" <= ${isText ? `'${value}'` : value}`;
  return {
    name: collection.name,
    left: { table: collection.name, condition },
    due: { collection, where: { column, operator: "lte", value } },
    fill: (count, isSQLite) => compileFill(collection, count, isSQLite),
    engines: both,
    write: plainWrite,
  };
}

/**
 * Uses of refresh tokens that are stored for much longer, but whose nonces upkeep erases because their grace windows
 * have closed.
 */
function nonces(): Kind {
  const collection = refreshUsesCollection;
  return {
    ...expiring(collection, "expires_at"),
    name: "nonces",
    left: { table: collection.name, condition: `"nonce" > ''` },
    due: { collection, where: { column: "nonce", operator: "gt", value: "" } },
    fill: (count, isSQLite) =>
      compileFill(collection, count, isSQLite, { nonce: randomText(isSQLite), expires_at: `'${future}'` }),
  };
}

/** Idempotency records. Each write with an idempotency key deletes some expired ones. */
function repeatable(): Kind {
  const table = "latchkey_idempotency";
  return {
    name: table,
    left: { table, condition: `"expires_at" <= 1000000000` },
    due: null,
    fill: (count, isSQLite) =>
      `INSERT INTO ${table} (key, fingerprint, rows, expires_at) ${seriesTo(count, isSQLite)} ` +
      `SELECT '7 ' || ${randomText(isSQLite)}, ${randomText(isSQLite)}, ` +
      `'[{"revision":1,"record":{"id":1,"status":"open","created_at":"2001-01-01T00:00:00.000Z"}}]', n FROM series`,
    engines: both,
    write: (id) => ({
      ...plainWrite(id),
      idempotency: {
        key: `7 ${id}`,
        columns: ["id"],
        erasable: false,
        fingerprint: id,
        expiresAt: future,
        now: new Date().toISOString(),
      },
    }),
  };
}

/**
 * A series of keys without a gap that earlier writes have named. The client's first write without a key must skip all
 * of them.
 */
function takenKeys(): Kind {
  const table = "latchkey_taken_keys";
  return {
    name: table,
    left: { table, condition: "TRUE" },
    due: null,
    fill: (count, isSQLite) =>
      `INSERT INTO ${table} (collection, key) ${seriesTo(count, isSQLite)} SELECT 'guesses', n FROM series`,
    // Not PostgreSQL: its store skips the keys one by one. Only writes that need such a key wait, but a million keys
    // end in a time-out.
    engines: ["SQLite"],
    write: (id) => ({
      changes: [{ kind: "insert", collection: guessesCollection, values: { subject: id, at: Date.now() } }],
    }),
  };
}

/**
 * Returns a statement that inserts rows in the order of their times, with random keys and references. So rows that are
 * neighbours in one index are not neighbours in another.
 */
function compileFill(
  { name: table, key, columns }: Collection,
  count: number,
  isSQLite: boolean,
  fixedValues: Readonly<Record<string, string>> = {},
): string {
  const at = isSQLite
    ? "strftime('%Y-%m-%dT%H:%M:%fZ', 978307200 + n, 'unixepoch')"
    : `to_char(to_timestamp(978307200 + n) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  const value = ({ name, type, nullable }: Collection["columns"][number]): string => {
    if (fixedValues[name] !== undefined) return fixedValues[name];
    if (nullable === true) return "NULL";
    if (type === "date-time") return at;
    if (name === "at" || name === "ends_at") return "n";
    if (type === "integer") return isSQLite ? "abs(random() % 100000)" : "floor(random() * 100000)";
    return randomText(isSQLite);
  };
  const names = ["id", "_revision", ...columns.map(({ name }) => name)].map((each) => `"${each}"`).join(", ");
  const cells = [key === "integer" ? "n" : randomText(isSQLite), "1", ...columns.map(value)].join(", ");
  return `INSERT INTO "${table}" (${names}) ${seriesTo(count, isSQLite)} SELECT ${cells} FROM series`;
}

function randomText(isSQLite: boolean): string {
  return isSQLite ? "lower(hex(randomblob(16)))" : "md5(random()::text || n)";
}

function seriesTo(count: number, isSQLite: boolean): string {
  return isSQLite
    ? `WITH RECURSIVE series(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < ${count})`
    : `WITH series(n) AS (SELECT generate_series(1, ${count}))`;
}
