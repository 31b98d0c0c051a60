import { isObject } from "../../../core/checking/members.ts";
import type { Actor } from "../../../core/identity.ts";
import type { Account, Accounts } from "../records/accounts.ts";
import type { RevocableClaims } from "../records/revoked.ts";

/** The lifetime of a token that acts for a user, in seconds. */
export const ACTING_SECONDS = 900;

/** The administrator who acts for a user. */
export interface ActingAccount {
  readonly account: Account;
  /** The token family of the administrator's own login. Null if it is not a token login. */
  readonly family: string | null;
}

/**
 * Returns the claims that name the administrator (RFC 8693 §4.1). They also contain the state of the administrator's
 * account, so that later revocations of that account end the token.
 */
export function actingClaims({ account, family }: ActingAccount): Readonly<Record<string, unknown>> {
  const { id, generation, roleChanges } = account;
  return { act: { sub: String(id) }, act_gen: generation, act_rch: roleChanges, act_fam: family ?? "" };
}

/**
 * Reads the claims of `actingClaims`. Returns undefined if the token acts for no user, and null if they are not valid.
 */
export function readActing({
  act,
  act_gen: gen,
  act_rch: roleChanges,
  act_fam: fam,
}: Readonly<Record<string, unknown>>): RevocableClaims | null | undefined {
  if (act === undefined) return undefined;
  const sub = isObject(act) && typeof act["sub"] === "string" && /^[1-9]\d{0,15}$/.test(act["sub"]) ? act["sub"] : null;
  if (sub === null || typeof fam !== "string") return null;
  if (!Number.isSafeInteger(gen) || !Number.isSafeInteger(roleChanges)) return null;
  return { sub: Number(sub), gen: gen as number, role: "admin", roleChanges: roleChanges as number, fam };
}

/**
 * Returns the administrator of these claims. Returns null if the account is no longer an active administrator, or if
 * its logins or its role have changed since the token was made.
 */
export async function findActor(
  { sub, gen, roleChanges, fam }: RevocableClaims,
  accounts: Pick<Accounts, "find"> | undefined,
): Promise<Actor | null> {
  const account = (await accounts?.find(sub)) ?? null;
  if (account === null || !account.active || account.role !== "admin") return null;
  const isSameLogin = gen === account.generation || (fam !== "" && fam === account.remainingFamily);
  if (!isSameLogin || roleChanges !== account.roleChanges) return null;
  return Object.freeze({ id: account.id, username: account.username });
}
