import type { Call } from "../../../../core/call/call.ts";
import type { Identity } from "../../../../core/identity.ts";
import { problem } from "../../../../core/problem/problem.ts";
import { invalid, type Context } from "../../../../http/exchange.ts";
import type { UsersParts } from "../parts.ts";
import type { Account } from "../stored-accounts.ts";

/** How long a login counts as fresh. */
const FRESH_MS = 600_000;

/** Ends the request unless the caller has just shown who they are: a credential must not make others that outlive it. */
export async function requireFreshLogin(parts: UsersParts, context: Context, proof: string | undefined): Promise<void> {
  const identity = context.requireIdentity();
  if (proof === undefined && isFresh(identity, context.call.now)) return;
  if (proof === undefined)
    throw wrongProof("required", "The login is not fresh. Send your own password, or log in again.");
  const account = await parts.accounts.find(identity.id);
  await requirePassword(parts, context.call, account, proof);
}

/** A login that lies ahead is none of now: the clock was set back since. */
function isFresh({ authTime }: Identity, now: number): boolean {
  return authTime !== undefined && Math.abs(now - authTime) < FRESH_MS;
}

/**
 * The end of what is made through a login that others vouch for, in milliseconds since the epoch; null where it needs none. Ends the
 * request where nothing may be made through such a login.
 */
export function outsideEnd({ outsideCredentialsSeconds }: UsersParts, context: Context): number | null {
  const { scheme, issuer } = context.requireIdentity();
  if (scheme !== "remote-user" && issuer === undefined) return null;
  if (outsideCredentialsSeconds === 0)
    throw problem("permission_denied", { detail: "A login that others vouch for makes no credentials here." });
  return context.call.now + outsideCredentialsSeconds * 1000;
}

/** Whoever changes their own login shows that they know it: a session left open must not be enough. */
export async function requireProof(
  parts: Pick<UsersParts, "passwords">,
  { call, identity }: Context,
  account: Account,
  proof: string | undefined,
): Promise<void> {
  if (identity === null || identity.id !== account.id) return;
  if (proof === undefined) throw wrongProof("required", "The current password is needed for this change.");
  await requirePassword(parts, call, account, proof);
}

/** Ends the request where it is not the account's password, which counts as a guess. */
async function requirePassword(
  parts: Pick<UsersParts, "passwords">,
  call: Call,
  account: Account | null,
  password: string,
): Promise<void> {
  const hasPassword = account !== null && account.passwordHash !== null;
  const verified = hasPassword ? await parts.passwords.prove(call, account.username, password) : null;
  if (verified === null) throw wrongProof("invalid", "The current password is wrong.");
}

function wrongProof(code: string, detail: string): Error {
  return invalid([{ pointer: "/current_password", code, detail }]);
}
