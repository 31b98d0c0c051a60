import { defineFeature, type Feature, type LinkUser } from "../../../feature/feature.ts";
import { storedOf } from "../../../http/declarations/table.ts";
import type { Context } from "../../../http/request/exchange.ts";
import type { Mailbox } from "../mailbox/contract.ts";
import type { AccountsFeature } from "../people/people.ts";
import { confirmEndpoint } from "./confirming.ts";
import { emailPurposes, notices, readNewcomer, storedNewcomer, type EmailPurposes } from "./purposes.ts";
import { requestEndpoints } from "./requesting.ts";

/**
 * Proves the addresses of users by mail: sign-ups (`accounts({ registration: "verified" })`), invitations
 * (`accounts({ invitations: true })`) and changed addresses. Serves `POST /api/email/confirm/`,
 * `POST /users/{id}/invitation` and `POST /users/{id}/email`. Users then change their own address only by proving it.
 *
 * @example
 * ```ts
 * import { accounts, sessionLogin } from "latchkey";
 * import { accountNotices, mailbox, verifiedEmail } from "latchkey/auth";
 * import { mail, mailFiles, outbox } from "latchkey/features";
 *
 * const people = accounts({ registration: "verified", invitations: true });
 * const events = outbox();
 * const from = "no-reply@example.com";
 * const mails = mail(events, { send: mailFiles("mails"), from, publicURL: "https://api.example" });
 * const box = mailbox(people, mails);
 * const mailed = [events, mails, box, accountNotices(people, mails), verifiedEmail(people, box)];
 * export const features = [people, sessionLogin(people), ...mailed];
 * ```
 */
export function verifiedEmail(people: AccountsFeature, mailbox: Feature<Mailbox>): Feature {
  return defineFeature({
    name: "verified-email",
    needs: [people, mailbox],
    setUp(host) {
      const { accounts, changing, confirming } = host.use(people);
      const box = host.use(mailbox);
      const purposes = emailPurposes(box);
      const { store, ownOrigins } = host;
      const parts = { accounts, changing, confirming, mailbox: box, purposes, store, ownOrigins };
      changing.registerAddressVerifier({
        async signUp(context, newcomer) {
          const data = storedNewcomer(newcomer);
          const existing = await host.store.findBy(accounts.users.collection, "email", newcomer.email);
          // For a known address, the mail goes to the stored spelling. Another spelling may be another mailbox.
          const address = existing === null ? newcomer.email : storedOf(existing).email;
          const notice = existing === null ? {} : { notice: notices.known };
          await purposes.signUp.send(context, { address, user: null, data, ...notice });
        },
        invite: (context, { email, user }) => purposes.invitation.request(context, { address: email, user }),
        endLinks: (account, from) => [...box.end(account), ...purposes.invitation.end({ address: from })],
      });
      return {
        offer: null,
        findLinkUser: async ({ page, token, call }) => (page === "verify" ? findUser(purposes, { call }, token) : null),
        endpoints: [confirmEndpoint(parts), ...requestEndpoints(parts)],
        tags: { email: "Sign-up with a verified address, invitations and changed addresses." },
      };
    },
  });
}

/** Returns the user who chooses a password with a link. A changed address has none, because it keeps the password. */
async function findUser(
  { signUp, invitation }: EmailPurposes,
  context: Pick<Context, "call">,
  token: string,
): Promise<LinkUser | null> {
  const newcomer = await signUp.find(context, { token });
  if (newcomer !== null) {
    const { name } = readNewcomer(newcomer.address, newcomer.data);
    return { username: newcomer.address, isNew: true, name };
  }
  const account = (await invitation.find(context, { token }))?.user ?? null;
  // An invitation no longer counts if the user has a password.
  return account === null || account.passwordHash !== null ? null : { username: account.username, isNew: false };
}
