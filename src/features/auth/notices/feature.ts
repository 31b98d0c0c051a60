import { defineFeature, type Feature } from "../../../feature/feature.ts";
import type { Mailer } from "../../mail/contract.ts";
import type { Notice } from "../gate/contract.ts";
import type { AccountsFeature } from "../login.ts";

/** The data of a queued notice. */
type QueuedNotice = {
  readonly notice: Notice;
  readonly user: number;
  /** The time of the event, in milliseconds since the epoch. */
  readonly at: number;
  /** The address, if it is not the user's current one. Null otherwise. */
  readonly to: string | null;
};

/**
 * Sends users a mail about changes of their logins: a factor, a password, recovery codes, a token. The mail is queued in the transaction of
 * the event. It has neither a link nor a code, and it does not count for the limits of mails.
 *
 * @example
 * ```ts part
 * features: [people, events, mails, accountNotices(people, mails)],
 * ```
 */
export function accountNotices(people: AccountsFeature, mail: Feature<Mailer>): Feature {
  return defineFeature({
    name: "account-notices",
    needs: [people, mail],
    setUp(host) {
      const { users, notices } = host.use(people);
      const queue = host.use(mail).kind<QueuedNotice>({
        name: "notice",
        async compose({ notice, user, at, to }, { store }) {
          const row = await store.find(users.collection, user);
          const address = to ?? row?.record["email"];
          if (row === null || typeof address !== "string") return null;
          return { to: address, template: notice, values: { at: formatNoticeTime(at) } };
        },
      });
      notices((notice, { id }, now, to) => queue({ notice, user: id, at: now, to: to ?? null }, now));
      return { offer: null };
    },
  });
}

/** Returns a time as `2026-11-26 18:22 UTC`. */
function formatNoticeTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
