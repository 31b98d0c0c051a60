import { randomBytes } from "node:crypto";
import { defineFeature, type Feature } from "../../../feature/feature.ts";
import { storedOf } from "../../../http/declarations/table.ts";
import type { Mailer } from "../../mail/contract.ts";
import type { Notice } from "../gate/contract.ts";
import type { AccountsFeature } from "../people/people.ts";
import { isPrepared } from "../people/proved-address.ts";
import type { Account } from "../records/accounts.ts";
import { countEvent, noteMail, noticeCountsCollection } from "./counts.ts";

/** The data of a queued notice. */
type QueuedNotice = {
  readonly notice: Notice;
  readonly user: number;
  /** The time of the event, in milliseconds since the epoch. */
  readonly at: number;
  /** The address, if it is not the user's current one. Null otherwise. */
  readonly to: string | null;
  /** The random id of the event. Left out by processes of earlier versions. */
  readonly event?: string;
  /** The state of the old address, if `to` is one. */
  readonly was?: Pick<Account, "emailOrigin"> & { readonly emailVerifiedAt: string | null };
};

/**
 * Sends users a mail about changes of their logins: a factor, a password, recovery codes, a token. The mail is queued
 * in the transaction of the event. It has neither a link nor a code. An account gets one mail a minute of each kind,
 * and the next one names the number of events. An address that its user chose and never proved gets none.
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
      const { accounts, confirming } = host.use(people);
      const queue = host.use(mail).kind<QueuedNotice>({
        name: "notice",
        async compose({ notice, user, at, to, event, was }, { store, now }) {
          const row = await store.find(accounts.users.collection, user);
          const account = await accounts.find(user);
          if (row === null || account === null) return null;
          if (isPrepared({ ...account, ...was })) return null;
          const times = event === undefined ? 1 : await noteMail(store, { user, notice, event }, now);
          if (times === null) return null;
          const values = { at: formatNoticeTime(at), ...(times > 1 ? { times: String(times) } : {}) };
          return { to: to ?? storedOf(row).email, template: notice, values };
        },
      });
      confirming.registerNotices((notice, account, now, to) => {
        const { id: user, emailVerifiedAt = null, emailOrigin = "given" } = account;
        const event = randomBytes(12).toString("base64url");
        // After the event, the account no longer shows whether its old address was proved.
        const old = to === undefined ? { to: null } : { to, was: { emailVerifiedAt, emailOrigin } };
        return [countEvent({ user, notice }), ...queue({ notice, user, at: now, event, ...old }, now)];
      });
      return { offer: null, collections: [noticeCountsCollection] };
    },
  });
}

/** Returns a time as `2026-11-26 18:22 UTC`. */
function formatNoticeTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
