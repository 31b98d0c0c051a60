import { OVERTAKEN, type Change, type Collection, type Row, type Store } from "../../../store/store.ts";
import { equals, timeText, until } from "../conditions.ts";

/** The mails of the last hour. The key is a keyed digest of a mailbox or of a client's address. */
export const mailCountsCollection: Collection = {
  name: "mail_counts",
  key: "text",
  columns: [
    /** The times of the mails, in milliseconds since the epoch. */
    { name: "times", type: "json" },
    /** Counts the writes, so that two requests at the same time cannot exceed the limit together. */
    { name: "version", type: "integer" },
    { name: "expires_at", type: "date-time" },
  ],
  indexes: [["expires_at"]],
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A subject whose mails are counted, and the allowed number of mails. */
export interface MailLimit {
  readonly subject: string;
  readonly aMinute: number;
  /** Null: no limit. */
  readonly anHour: number | null;
}

/** One mail a minute and five an hour for each mailbox. */
export function limitOfMailbox(subject: string): MailLimit {
  return { subject, aMinute: 1, anHour: 5 };
}

/** Ten mails a minute for each address of a client. */
export function limitOfClient(subject: string): MailLimit {
  return { subject, aMinute: 10, anHour: null };
}

/**
 * Returns the changes that count one more mail against every limit. Returns null if one of them is used up. The transaction is refused as
 * `OVERTAKEN` if another request counted at the same time.
 */
export async function countMail(
  store: Store,
  limits: readonly MailLimit[],
  now: number,
): Promise<readonly Change[] | null> {
  const changes: Change[] = [];
  for (const limit of limits) {
    const row = await store.find(mailCountsCollection, limit.subject);
    const times = readTimes(row, now, limit.anHour === null ? MINUTE_MS : HOUR_MS);
    if (isUsedUp(times, limit, now)) return null;
    changes.push(...counted(limit.subject, row, [...times, now], now));
  }
  return changes;
}

/** Returns the change that deletes counts from more than an hour ago. */
export function dueCounts(now: number): Change {
  return { kind: "deleteAll", collection: mailCountsCollection, where: until("expires_at", now) };
}

/** Returns the times within `withinMs` of now. Times after now count too, because the clock of another process may be ahead. */
function readTimes(row: Row | null, now: number, withinMs: number): readonly number[] {
  const times = row === null ? [] : (row.record["times"] as readonly number[]);
  return times.filter((time) => Math.abs(now - time) < withinMs);
}

function isUsedUp(times: readonly number[], { aMinute, anHour }: MailLimit, now: number): boolean {
  if (anHour !== null && times.length >= anHour) return true;
  return times.filter((time) => time > now - MINUTE_MS).length >= aMinute;
}

function counted(key: string, row: Row | null, times: readonly number[], now: number): readonly Change[] {
  const collection = mailCountsCollection;
  const version = (row === null ? 0 : (row.record["version"] as number)) + 1;
  const expires_at = timeText(now + HOUR_MS);
  return [
    // Also creates a missing row. So if two first requests both find no row, `require` refuses the second one.
    { kind: "add", collection, key, column: "version", by: 1, values: { times: [], expires_at } },
    {
      kind: "require",
      collection,
      where: { all: [equals("id", key), equals("version", version)] },
      atLeast: 1,
      name: OVERTAKEN,
    },
    { kind: "updateAll", collection, where: equals("id", key), values: { times, expires_at } },
  ];
}
