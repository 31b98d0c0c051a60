import type { Change, Collection, Key, Row, Where, WrittenValues } from "../../store/store.ts";

/**
 * Failures of one account in a row, and when they were forgiven. The key is the subject that the tries count against, so
 * a name that nobody has leaves the same row as one that somebody has.
 */
export const guessStreaksCollection: Collection = {
  name: "guess_streaks",
  key: "text",
  columns: [
    { name: "count", type: "integer" },
    /** The latest of them, in milliseconds since the epoch. */
    { name: "at", type: "integer" },
    /** What came before was forgiven; in milliseconds since the epoch, null for never. */
    { name: "since", type: "integer", nullable: true },
  ],
  indexes: [["at"]],
};

/** Networks from which an account has logged in. The key is a keyed digest of both: the table tells nobody's whereabouts. */
export const knownAddressesCollection: Collection = {
  name: "known_addresses",
  key: "text",
  columns: [
    /** The subject of the account. */
    { name: "account", type: "text" },
    { name: "count", type: "integer" },
    /** The latest login (within a day), in milliseconds since the epoch. */
    { name: "at", type: "integer" },
  ],
  indexes: [["account", "at"], ["at"]],
};

const dayMs = 24 * 3600 * 1000;

/** Failures in a row, as they are stored. */
export interface Streak {
  readonly count: number;
  readonly since: number | null;
}

export function streakOf(row: Row | null): Streak {
  return row === null
    ? { count: 0, since: null }
    : { count: Number(row.record["count"]), since: row.record["since"] as number | null };
}

/** One failure more. Processes that do it at once both count. */
export function addToStreak(subject: string, now: number): readonly Change[] {
  return counted(guessStreaksCollection, subject, { at: now, since: null }, now);
}

/** A right one ends the row. */
export function endStreak(subject: string): Change {
  return { kind: "updateAll", collection: guessStreaksCollection, where: isRow(subject), values: { count: 0 } };
}

/** Ends the rows of an account, from everywhere. What other processes remember of the last minute is older than `since`. */
export function forgive(account: string, now: number): readonly Change[] {
  const collection = guessStreaksCollection;
  const values = { at: now, since: now };
  return [
    { kind: "deleteAll", collection, where: { column: "id", operator: "starts", value: `${account} ` } },
    { kind: "add", collection, key: account, column: "count", by: 0, values },
    { kind: "updateAll", collection, where: isRow(account), values: { ...values, count: 0 } },
  ];
}

/** One login more from there. */
export function addLogin(key: string, account: string, now: number): readonly Change[] {
  return counted(knownAddressesCollection, key, { account, at: now }, now);
}

/** `add` makes the row where there is none; it leaves the other columns of one that is there as they are. */
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
 * Removes what has been over for long. A row that has begun costs little to make (a try under any name), so it goes after a
 * day of quiet: whoever waits for that gets fewer tries than the ceiling allows.
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
