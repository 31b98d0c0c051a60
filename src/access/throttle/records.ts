import type { Change, Collection, Key, Row, Where, WrittenValues } from "../../store/store.ts";

/**
 * The consecutive failures of each account (its streak), and the time up to which its failures are forgiven. The key is
 * a digest of the login name. A name without an account also has a row, so that the throttle does not reveal which
 * accounts exist.
 */
export const guessStreaksCollection: Collection = {
  name: "guess_streaks",
  key: "text",
  columns: [
    { name: "count", type: "integer" },
    /** The time of the latest failure, in milliseconds since the epoch. */
    { name: "at", type: "integer" },
    /**
     * The time up to which failures are forgiven, in milliseconds since the epoch. Null if no failures are forgiven.
     */
    { name: "since", type: "integer", nullable: true },
  ],
  indexes: [["at"]],
};

/**
 * The networks from which each account has logged in. The key is a keyed digest of the account and the network, so the
 * table does not reveal locations.
 */
export const knownAddressesCollection: Collection = {
  name: "known_addresses",
  key: "text",
  columns: [
    /** The key of the account, as `accountSubject` returns it. */
    { name: "account", type: "text" },
    { name: "count", type: "integer" },
    /** The time of the latest login, in milliseconds since the epoch. Updated at most once a day. */
    { name: "at", type: "integer" },
  ],
  indexes: [["account", "at"], ["at"]],
};

const dayMs = 24 * 3600 * 1000;

/** The stored form of the consecutive failures of an account. */
export interface Streak {
  readonly count: number;
  readonly since: number | null;
}

export function readStreak(row: Row | null): Streak {
  return row === null
    ? { count: 0, since: null }
    : { count: Number(row.record["count"]), since: row.record["since"] as number | null };
}

/** Returns the changes that add one failure. Concurrent failures in several processes are all counted. */
export function addToStreak(subject: string, now: number): readonly Change[] {
  return counted(guessStreaksCollection, subject, { at: now, since: null }, now);
}

/** Returns the change that ends a streak after a success. */
export function endStreak(subject: string): Change {
  return { kind: "updateAll", collection: guessStreaksCollection, where: isRow(subject), values: { count: 0 } };
}

/**
 * Returns the changes that end the streaks of an account, from every address. Other processes may still have failures
 * of the current window in memory, so each process ignores failures up to `since`.
 */
export function forgive(account: string, now: number): readonly Change[] {
  const collection = guessStreaksCollection;
  const values = { at: now, since: now };
  return [
    { kind: "deleteAll", collection, where: { column: "id", operator: "starts", value: `${account} ` } },
    { kind: "add", collection, key: account, column: "count", by: 0, values },
    { kind: "updateAll", collection, where: isRow(account), values: { ...values, count: 0 } },
  ];
}

/** Returns the changes that add one login from an address. */
export function addLogin(key: string, account: string, now: number): readonly Change[] {
  return counted(knownAddressesCollection, key, { account, at: now }, now);
}

/**
 * Returns the changes that increase a counter and set its time. `add` creates a missing row, but does not change the
 * other columns of an existing row. So a second change sets `at`.
 */
function counted(collection: Collection, key: Key, values: WrittenValues, now: number): readonly Change[] {
  return [
    { kind: "add", collection, key, column: "count", by: 1, values },
    { kind: "updateAll", collection, where: isRow(key), values: { at: now } },
  ];
}

function isRow(key: Key): Where {
  return { column: "id", operator: "eq", value: key };
}

/**
 * Returns the changes that delete old rows. A client could fill the table with short streaks, because each new login
 * name creates a row. So a streak below `ceiling` is deleted after a day without tries. An attacker who waits for this
 * gets fewer than `ceiling` tries per day.
 */
export function pruneRecords(now: number, ceiling: number, knownMs: number): readonly Change[] {
  const isQuiet = (forMs: number): Where => ({ column: "at", operator: "lte", value: now - forMs });
  const isCheap: Where = { column: "count", operator: "lt", value: ceiling };
  return [
    { kind: "deleteAll", collection: guessStreaksCollection, where: isQuiet(30 * dayMs) },
    { kind: "deleteAll", collection: guessStreaksCollection, where: { all: [isQuiet(dayMs), isCheap] } },
    { kind: "deleteAll", collection: knownAddressesCollection, where: isQuiet(knownMs) },
  ];
}
