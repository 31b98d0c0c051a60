import { digest } from "../../../core/crypto/secret.ts";
import { problem } from "../../../core/problem/problem.ts";
import { insert, storedOf, table, update, type StoredIn } from "../../../http/declarations/table.ts";
import { dateTime, integer } from "../../../resource/kinds/fields.ts";
import { array } from "../../../resource/kinds/lists.ts";
import type { Change, Row, Store } from "../../../store/store.ts";
import { timeText, until } from "../records/conditions.ts";

/**
 * Wrong second-factor codes. The key is a digest of the account, and also of the client's network if the account logged
 * in from it before.
 */
export const factorTriesCollection = table({
  name: "factor_tries",
  id: "text",
  fields: {
    /**
     * The times of the wrong tries of the last day, in milliseconds since the epoch. A right code removes its own try.
     */
    times: array(integer()),
    expires_at: dateTime(),
  },
  indexes: [["expires_at"]],
});

type TriesRecord = StoredIn<typeof factorTriesCollection>;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LEEWAY_MS = 60_000;
const MOST_AN_HOUR = 10;
const MOST_A_DAY = 30;

/** The maximum number of attempts to write the counter, if other requests change it at the same time. */
const MOST_ROUNDS = 40;

/**
 * Counts wrong codes. Counts every try before its code is checked, so that concurrent tries cannot exceed the limit
 * together.
 */
export interface FactorTries {
  /** Counts one try. Ends the request with 429 if there are too many. `isLast` is true for the tenth try in an hour. */
  count(subject: string, now: number): Promise<{ readonly isLast: boolean }>;
  /** Removes a try, because its code was right. */
  takeBack(subject: string, at: number): Promise<void>;
  /** Returns the changes that delete every try of these subjects. */
  forget(subjects: readonly string[]): readonly Change[];
  due(now: number): readonly Change[];
}

/** Returns the counters of a store. Processes that share the store share the counters. */
export function makeFactorTries(store: Store): FactorTries {
  const collection = factorTriesCollection;
  // Tries up to a minute in the future count too, because the clock of another process may be ahead. Later ones are of
  // a clock that was set back, and would refuse every code until their time is reached.
  const read = (row: Row<TriesRecord> | null, now: number): readonly number[] =>
    (row === null ? [] : storedOf(row).times).filter((time) => time > now - DAY_MS && time <= now + LEEWAY_MS);

  async function write(
    key: string,
    row: Row<TriesRecord> | null,
    times: readonly number[],
    now: number,
  ): Promise<boolean> {
    const values = { times, expires_at: timeText(now + DAY_MS) };
    const change =
      row === null ? insert(collection, { key, values }) : update(collection, { key, values, revision: row.revision });
    return (await store.write({ changes: [change] })).kind === "written";
  }

  return {
    async count(subject, now) {
      const key = hashSubject(subject);
      for (let round = 0; round < MOST_ROUNDS; round++) {
        const row = await store.find(collection, key);
        const times = read(row, now);
        requireRoom(times, now);
        const counted = [...times, now];
        if (await write(key, row, counted, now)) return { isLast: withinHour(counted, now).length === MOST_AN_HOUR };
      }
      throw tooMany(1000);
    },
    async takeBack(subject, at) {
      const key = hashSubject(subject);
      for (let round = 0; round < MOST_ROUNDS; round++) {
        const row = await store.find(collection, key);
        if (row === null) return;
        const times = [...storedOf(row).times];
        const place = times.indexOf(at);
        if (place === -1) return;
        times.splice(place, 1);
        if (await write(key, row, times, at)) return;
      }
    },
    forget: (subjects) =>
      subjects.map((subject) => ({
        kind: "deleteAll",
        collection,
        where: { column: "id", operator: "eq", value: hashSubject(subject) },
      })),
    due: (now) => [{ kind: "deleteAll", collection, where: until("expires_at", now) }],
  };
}

function withinHour(times: readonly number[], now: number): readonly number[] {
  return times.filter((time) => time > now - HOUR_MS);
}

function requireRoom(times: readonly number[], now: number): void {
  const hour = withinHour(times, now);
  if (hour.length >= MOST_AN_HOUR) throw tooMany(hour.at(-MOST_AN_HOUR)! + HOUR_MS - now);
  if (times.length >= MOST_A_DAY) throw tooMany(times.at(-MOST_A_DAY)! + DAY_MS - now);
}

function tooMany(waitMs: number) {
  const seconds = String(Math.max(1, Math.ceil(waitMs / 1000)));
  return problem("too_many_attempts", {
    detail: "Too many wrong codes for this account. Try again later.",
    headers: [["Retry-After", seconds]],
  });
}

/** Hashes the subject, so that the table does not show which account was attacked from which address. */
function hashSubject(subject: string): string {
  return digest(`factor ${subject}`).toString("base64url");
}
