import { add, jsonOf, storedOf, table, update } from "../../../http/declarations/table.ts";
import { integer } from "../../../resource/kinds/fields.ts";
import type { Change, Store } from "../../../store/store.ts";
import type { Notice } from "../gate/contract.ts";
import { ofAccount } from "../records/accounts.ts";

/** The events of each account that notices report. The key is the account and the kind of the notice. */
export const noticeCountsCollection = table({
  name: "notice_counts",
  id: "text",
  fields: {
    user_id: ofAccount,
    /** The number of events. */
    events: integer(),
    /** The number of events that a mail has reported. */
    reported: integer(),
    /** The mails of the last hour: `[{ event, at, times }]`. */
    sent: jsonOf<readonly SentNotice[]>(),
  },
  indexes: [["user_id"]],
});

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The maximum number of attempts to note a mail, if other events change the count at the same time. */
const MOST_ATTEMPTS = 40;

/** A mail that was composed for an event. */
interface SentNotice {
  /** The random id of the event. */
  readonly event: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The number of events that the mail reports. */
  readonly times: number;
}

/** An event that waits for its mail. */
export interface NoticedEvent {
  readonly user: number;
  readonly notice: Notice;
  /** The random id of the event. */
  readonly event: string;
}

/** Returns the change that counts an event, for its transaction. */
export function countEvent({ user, notice }: Pick<NoticedEvent, "user" | "notice">): Change {
  const values = { user_id: user, reported: 0, sent: [] };
  return add(noticeCountsCollection, { key: formatKey({ user, notice }), column: "events", by: 1, values });
}

/**
 * Notes that the mail of an event is sent now. Returns the number of events that it reports: its own, and those whose
 * mails were not sent. Returns null if no mail is sent: another one reports the event, or the last one of this kind is
 * less than a minute old. Returns the same number again if the mail is tried again.
 */
export async function noteMail(store: Store, noticed: NoticedEvent, now: number): Promise<number | null> {
  const key = formatKey(noticed);
  for (let round = 0; round < MOST_ATTEMPTS; round++) {
    const row = await store.find(noticeCountsCollection, key);
    if (row === null) return null;
    const { events, reported, sent: all } = storedOf(row);
    const sent = all.filter(({ at }) => Math.abs(now - at) < HOUR_MS);
    const again = sent.find(({ event }) => event === noticed.event);
    if (again !== undefined) return again.times;
    const times = events - reported;
    // A mail after now is from a clock that was ahead. It does not block later ones.
    if (times < 1 || sent.some(({ at }) => at <= now && now - at < MINUTE_MS)) return null;
    const values = { reported: events, sent: [...sent, { event: noticed.event, at: now, times }] };
    const noted = update(noticeCountsCollection, { key, values, revision: row.revision });
    if ((await store.write({ changes: [noted] })).kind === "written") return times;
  }
  throw new Error("The count of a notice changes all the time.");
}

function formatKey({ user, notice }: Pick<NoticedEvent, "user" | "notice">): string {
  return `${user} ${notice}`;
}
