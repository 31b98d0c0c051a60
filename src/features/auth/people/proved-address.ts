import { updateAll, type ChangedIn } from "../../../http/declarations/table.ts";
import type { Change } from "../../../store/store.ts";
import { factorsCollection } from "../gate/factors.ts";
import type { GateParts } from "../gate/parts.ts";
import { accountsCollection, type Account } from "../records/accounts.ts";
import { bindingsCollection } from "../records/bindings.ts";
import { equals, ofUser, timeText } from "../records/conditions.ts";

/**
 * True if the user, or an untrusted party, chose the address and no user has proved it yet. Another person may read its
 * mailbox.
 */
export function isPrepared({ emailVerifiedAt = null, emailOrigin = null }: Account): boolean {
  return emailVerifiedAt === null && emailOrigin === "chosen";
}

/**
 * True if another person may have prepared this account for the owner of the mailbox: no user has proved the address
 * yet, and it is not known that somebody vouches for it. Accounts that an administrator, an import or the command line
 * made are never prepared.
 */
export async function mayBePrepared({ store }: Pick<GateParts, "store">, account: Account): Promise<boolean> {
  const { id, emailVerifiedAt = null, emailOrigin = null } = account;
  if (emailVerifiedAt !== null || emailOrigin === "vouched") return false;
  if (emailOrigin !== "given") return true;
  // An earlier version stored the same origin for an address from an administrator and for one from a proxy.
  const bound = await store.list({ collection: bindingsCollection, where: ofUser(id), sort: [], limit: 1 });
  return bound.length > 0;
}

/** Returns the change that stores the time of the first proof of the account's address. Empty if nothing changes. */
export function verifyEmail(
  account: Account,
  now: number,
  more: ChangedIn<typeof accountsCollection> = {},
): readonly Change[] {
  const { id, emailVerifiedAt = null } = account;
  const values = { ...more, ...(emailVerifiedAt === null ? { email_verified_at: timeText(now) } : {}) };
  if (Object.keys(values).length === 0) return [];
  return [updateAll(accountsCollection, { where: equals("id", id), values })];
}

/**
 * Returns the changes that delete the factors, passkeys, identities and password of a prepared account. `endAccount`
 * does not delete these. Put the changes after those of `endAccount`, which wait for any request that changes the
 * account at the same time.
 */
export function endPreparedLogins(
  { outsideLogins, notify }: Pick<GateParts, "outsideLogins" | "notify">,
  account: Account,
  now: number,
): readonly Change[] {
  const where = ofUser(account.id);
  return [
    { kind: "deleteAll", collection: factorsCollection, where },
    // Also deletes rows that do not count as a login method at present, for example of a provider that is no longer
    // configured.
    ...outsideLogins.map(({ collection }): Change => ({ kind: "deleteAll", collection, where })),
    // No identity from outside is bound to the account by its username again.
    ...verifyEmail(account, now, { ...noLogin, username_origin: "chosen" }),
    // The address is proved now. So the notice is not one to a stranger.
    ...notify("ways_ended", { ...account, emailVerifiedAt: timeText(now) }, now),
  ];
}

const noLogin = { factors: 0, password_hash: null, password_until: null, password_once: null } as const;

/**
 * Returns the changes of a proof of the account's address by a mail login. The first proof of a prepared account ends
 * every other login method of it, also API tokens and keys.
 */
export async function proveAddress(parts: GateParts, account: Account, now: number): Promise<readonly Change[]> {
  if (!(await mayBePrepared(parts, account))) return verifyEmail(account, now);
  return [...parts.revocations.endAccount(account, now, true), ...endPreparedLogins(parts, account, now)];
}
