import { add, storedOf, table, updateAll, type StoredIn } from "../../../http/declarations/table.ts";
import { dateTime, integer } from "../../../resource/kinds/fields.ts";
import { array } from "../../../resource/kinds/lists.ts";
import { OVERTAKEN, type Change, type Row, type Store } from "../../../store/store.ts";
import { equals, timeText, until } from "../records/conditions.ts";

/** The mails of the last hour. The key is a keyed digest of a mailbox or of a client's address. */
export const mailCountsCollection = table({
  name: "mail_counts",
  id: "text",
  fields: {
    /** The times of the mails, in milliseconds since the epoch. */
    times: array(integer()),
    /** Counts the writes, so that two requests at the same time cannot exceed the limit together. */
    version: integer(),
    expires_at: dateTime(),
  },
  indexes: [["expires_at"]],
});

type CountRecord = StoredIn<typeof mailCountsCollection>;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A subject whose mails are counted, and the allowed number of mails. */
export interface MailLimit {
  readonly subject: string;
  readonly aMinute: number;
  /** Null: no limit. */
  readonly anHour: number | null;
}

/** The limits of one mail. */
export interface MailLimits {
  /** The mailbox that gets the mail. */
  readonly mailbox: MailLimit;
  /** The client that asks for the mail, and its site. Empty if the mail does not count for a client. */
  readonly client: readonly MailLimit[];
}

/** The result of counting one more mail: the changes that count it, and whether the mailbox may get it. */
export interface CountedMail {
  readonly isAllowed: boolean;
  readonly changes: readonly Change[];
}

/** One mail a minute and five an hour for each mailbox and purpose. */
export function limitOfMailbox(subject: string): MailLimit {
  return { subject, aMinute: 1, anHour: 5 };
}

/** Ten mails a minute for each address of a client. */
export function limitOfClient(subject: string): MailLimit {
  return { subject, aMinute: 10, anHour: null };
}

/**
 * Sixty mails a minute for the site (/48) of a client. A site has many networks and could use a new network for each
 * mail.
 */
export function limitOfSite(subject: string): MailLimit {
  return { subject, aMinute: 60, anHour: null };
}

/**
 * Counts one more mail. Returns null if a limit of the client is used up. If the limit of the mailbox is used up, the
 * result has as many changes as for an allowed mail, so the response time does not reveal that the mailbox has just got
 * a mail. The transaction is refused as `OVERTAKEN` if another request counted at the same time.
 */
export async function countMail(store: Store, limits: MailLimits, now: number): Promise<CountedMail | null> {
  const changes: Change[] = [];
  for (const limit of limits.client) {
    const { row, times } = await readCount(store, limit, now);
    if (isUsedUp(times, limit, now)) return null;
    changes.push(...counted(limit.subject, row, [...times, now], now));
  }
  const { row, times } = await readCount(store, limits.mailbox, now);
  const isAllowed = !isUsedUp(times, limits.mailbox, now);
  const { subject } = limits.mailbox;
  changes.push(...(isAllowed ? counted(subject, row, [...times, now], now) : uncounted(subject, now)));
  return { isAllowed, changes };
}

/** Returns the change that deletes counts from more than an hour ago. */
export function dueCounts(now: number): Change {
  return { kind: "deleteAll", collection: mailCountsCollection, where: until("expires_at", now) };
}

async function readCount(
  store: Store,
  { subject, anHour }: MailLimit,
  now: number,
): Promise<{ readonly row: Row<CountRecord> | null; readonly times: readonly number[] }> {
  const row = await store.find(mailCountsCollection, subject);
  const times = row === null ? [] : storedOf(row).times;
  const since = now - (anHour === null ? MINUTE_MS : HOUR_MS);
  // A time more than a minute after now is from a clock that was ahead. It does not count, because it would block the
  // mailbox until the clock reaches it. A shorter difference is that of two requests at the same time, or of the clocks
  // of two processes.
  return { row, times: times.filter((time) => time > since && time <= now + MINUTE_MS) };
}

function isUsedUp(times: readonly number[], { aMinute, anHour }: MailLimit, now: number): boolean {
  if (anHour !== null && times.length >= anHour) return true;
  return times.filter((time) => time > now - MINUTE_MS).length >= aMinute;
}

function counted(key: string, row: Row<CountRecord> | null, times: readonly number[], now: number): readonly Change[] {
  const collection = mailCountsCollection;
  const version = (row === null ? 0 : storedOf(row).version) + 1;
  const expires_at = timeText(now + HOUR_MS);
  return [
    // Also creates a missing row. So if two first requests both find no row, `require` refuses the second one.
    add(collection, { key, column: "version", by: 1, values: { times: [], expires_at } }),
    {
      kind: "require",
      collection,
      where: { all: [equals("id", key), equals("version", version)] },
      atLeast: 1,
      name: OVERTAKEN,
    },
    updateAll(collection, { where: equals("id", key), values: { times, expires_at } }),
  ];
}

/**
 * Returns as many changes as `counted`, which count nothing. They are never refused, because many requests may come at
 * the same time.
 */
function uncounted(key: string, now: number): readonly Change[] {
  const collection = mailCountsCollection;
  const where = equals("id", key);
  const expires_at = timeText(now + HOUR_MS);
  return [
    add(collection, { key, column: "version", by: 0, values: { times: [], expires_at } }),
    { kind: "require", collection, where, atLeast: 1, name: OVERTAKEN },
    updateAll(collection, { where, values: { expires_at } }),
  ];
}

/**
 * Returns a change that writes a row and counts nothing. A try of a code without a mail writes it, so that it takes the
 * same time as a try that counts.
 */
export function writeNothing(key: string, now: number): Change {
  const values = { times: [], expires_at: timeText(now + HOUR_MS) };
  return add(mailCountsCollection, { key, column: "version", by: 1, values });
}
