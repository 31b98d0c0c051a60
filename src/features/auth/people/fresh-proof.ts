import type { Call } from "../../../core/call/call.ts";
import { isKnownFormat } from "../../../core/crypto/password-hash.ts";
import type { Identity, Proof } from "../../../core/identity.ts";
import { confirmedLevel, stepUpChallenge } from "../../../core/levels.ts";
import { problem } from "../../../core/problem/problem.ts";
import { invalid, type Context } from "../../../http/request/exchange.ts";
import { admit, type Admission } from "../gate/admission.ts";
import type { GateParts } from "../gate/parts.ts";
import { neededByIdentity } from "../gate/policy.ts";
import { isStillAdministrator, type Account } from "../records/accounts.ts";
import { CREDENTIALS_SCOPE, mayChangeLogins } from "../requests/access.ts";
import { allowChange, type LoginChange, type LoginPart } from "./login-change.ts";
import type { AccountsParts } from "./parts.ts";

/** The time for which a login is fresh, in milliseconds. */
const FRESH_MS = 600_000;

interface ConfirmationOptions {
  /** False: recovery codes, and the factors that they added less than a day ago, do not count. Default: true. */
  readonly allowsRecovery?: boolean;
}

/**
 * Ends the request unless the caller's login is fresh, because a credential must not create credentials that outlive
 * it. If the caller's account needs a second factor, the login must have been confirmed with one (401
 * `confirmation_required`). Otherwise, the caller's own password replaces a fresh login (400 at `/current_password`).
 */
export async function requireFreshLogin(
  parts: GateParts,
  context: Context,
  password?: string,
  options: ConfirmationOptions = {},
): Promise<void> {
  requireNotActing(context);
  const identity = context.requireIdentity();
  const { now } = context.call;
  const account = identity.id === 0 ? null : await parts.accounts.find(identity.id);
  if (needsLevel2(parts, identity, account)) return requireConfirmed(context, identity, options);
  if (password === undefined && confirmedAt(identity, now) >= 1) return;
  if (account !== null && !hasPassword(account, now)) return requireRecent(context, identity);
  if (password === undefined)
    throw wrongPassword("required", "The login is not fresh. Send your own password, or log in again.");
  await requirePassword(parts, context.call, account, password);
}

/** Ends the request unless the caller's login was confirmed with a second factor in the last ten minutes. */
export function requireConfirmed(
  context: Context,
  identity: Identity,
  { allowsRecovery = true }: ConfirmationOptions = {},
): void {
  const { now, realm } = context.call;
  if (isConfirmed(identity, now, { allowsRecovery })) return;
  throw problem("confirmation_required", {
    headers: [["WWW-Authenticate", stepUpChallenge(realm, FRESH_MS / 1000, 2)]],
  });
}

/**
 * Returns true if the caller's login was confirmed with a second factor in the last ten minutes. Without
 * `allowsRecovery`, recovery codes and the factors that they added less than a day ago do not count.
 */
export function isConfirmed(
  identity: Identity,
  now: number,
  { allowsRecovery }: { readonly allowsRecovery: boolean },
): boolean {
  const counts = ({ method, isHeld }: Proof): boolean => allowsRecovery || (method !== "recovery" && isHeld !== true);
  return confirmedLevel((identity.proofs ?? []).filter(counts), now - FRESH_MS) === 2 && !isAhead(identity, now);
}

/**
 * Creates an `Admission` for tokens and keys that are made from an existing login. The other way to create one is
 * `beginLogin`. Checks the freshness and the level of the caller's login. Only an administrator may act for another
 * user, and no caller for another administrator (403).
 */
export async function vouch(
  parts: GateParts,
  context: Context,
  account: Account,
  password?: string,
): Promise<Admission> {
  const identity = context.requireIdentity();
  const isOwn = identity.id === account.id;
  if (!isOwn && identity.role !== "admin")
    throw problem("permission_denied", { detail: "Only administrators make tokens and keys for another user." });
  if (!account.active) throw problem("conflict", { detail: "The account is not active." });
  if (!isOwn && identity.id !== 0 && isStillAdministrator(account, context.call.now))
    throw problem("permission_denied", { detail: "Administrators make their own tokens and keys." });
  if (!isOwn) requirePerson(identity);
  await requireFreshLogin(parts, context, password);
  const notices = isOwn ? [] : parts.notify("token_made", account, context.call.now);
  return admit(account, identity.proofs ?? [], notices);
}

/**
 * Returns the expiry of a credential that is made through an external login, in milliseconds since the epoch. Returns
 * null if it needs none. Ends the request (403) if nothing may be made through such a login.
 */
export function outsideEnd({ outsideCredentialsSeconds }: AccountsParts, context: Context): number | null {
  const { scheme, issuer, proofs = [] } = context.requireIdentity();
  const isVouched = proofs.some(({ method }) => method === "fed");
  if (scheme !== "remote-user" && issuer === undefined && !isVouched) return null;
  if (outsideCredentialsSeconds === 0)
    throw problem("permission_denied", {
      detail: "A login through a proxy or another issuer cannot create credentials here.",
    });
  return context.call.now + outsideCredentialsSeconds * 1000;
}

/**
 * Returns the right to change these parts of an account's login. Ends the request if the caller may not change them
 * now. For their own password, username and e-mail, users prove their identity again, because an open session alone
 * must not be enough. Another user's login is changed by an administrator with a recent login.
 */
export async function requireMayChange(
  parts: GateParts,
  context: Context,
  account: Account,
  changed: readonly LoginPart[],
  password?: string,
): Promise<LoginChange> {
  if (changed.length > 0) {
    requireNotActing(context);
    if (context.requireIdentity().id !== account.id)
      await requireMayChangeOther(parts, context, account, changed, password);
    else if (changed.some((part) => part !== "role")) await requireOwnProof(parts, context, account, password);
  }
  return allowChange(account.id, changed);
}

/**
 * Ends the request if a user does not prove their identity again. With a second factor, a confirmed login is required.
 * An account without a password needs a login of the last ten minutes. Otherwise, the proof is the password.
 */
async function requireOwnProof(
  parts: GateParts,
  context: Context,
  account: Account,
  password: string | undefined,
): Promise<void> {
  const identity = context.requireIdentity();
  if (needsLevel2(parts, identity, account)) return requireConfirmed(context, identity);
  if (!hasPassword(account, context.call.now)) return requireRecent(context, identity);
  if (password === undefined) throw wrongPassword("required", "The current password is needed for this change.");
  await requirePassword(parts, context.call, account, password);
}

/** Ends the request unless the caller is an administrator who may change these parts of another user's login now. */
async function requireMayChangeOther(
  parts: GateParts,
  context: Context,
  account: Account,
  changed: readonly LoginPart[],
  password: string | undefined,
): Promise<void> {
  const identity = context.requireIdentity();
  const { now } = context.call;
  if (identity.role !== "admin")
    throw problem("permission_denied", { detail: "Only administrators change the login of another user." });
  // The command has the rights of the machine.
  if (identity.id === 0 && identity.proofs?.some(({ method }) => method === "operator") === true) return;
  if (isStillAdministrator(account, now) && changed.some((part) => part !== "role"))
    throw problem("permission_denied", {
      detail:
        "Administrators change their own password, e-mail and username. Another administrator cannot, also in the 24 hours after the role was taken away.",
    });
  if (mayChangeLogins(identity)) return;
  requirePerson(identity);
  const caller = await parts.accounts.find(identity.id);
  if (needsLevel2(parts, identity, caller)) return requireConfirmed(context, identity);
  if (confirmedAt(identity, now) >= 1) return;
  if (password === undefined || !hasPassword(caller, now)) return requireRecent(context, identity);
  await requirePassword(parts, context.call, caller, password);
}

/** Ends the request (403) if the caller is a program, which has no proofs that a person could repeat. */
function requirePerson(identity: Identity): void {
  if (identity.proofs !== undefined && identity.scopes === null && identity.keyId === undefined) return;
  throw problem("permission_denied", {
    detail: `Programs cannot change or create the logins of other users. A key with the scopes write and ${CREDENTIALS_SCOPE} may change them.`,
  });
}

/**
 * Ends the request with 401 `confirmation_required` unless the caller has proved their identity in the last ten
 * minutes.
 */
function requireRecent(context: Context, identity: Identity): void {
  const { now, realm } = context.call;
  if (confirmedAt(identity, now) >= 1) return;
  throw problem("confirmation_required", {
    headers: [["WWW-Authenticate", stepUpChallenge(realm, FRESH_MS / 1000, 1)]],
  });
}

/**
 * Ends the request (403) for an administrator who acts for a user, because such a token makes and changes no
 * credentials.
 */
export function requireNotActing(context: Context): void {
  if (context.identity?.actor !== undefined)
    throw problem("permission_denied", { detail: "A token that acts for a user cannot create or change credentials." });
}

function needsLevel2({ rule }: GateParts, identity: Identity, account: Account | null): boolean {
  if (identity.id === 0) return false;
  const needs = (account?.factors ?? 0) > 0 ? 2 : 1;
  return neededByIdentity(account ?? identity, needs, rule) === 2;
}

/**
 * Returns the level that the caller has confirmed in the last ten minutes. Returns 0 if a proof is more than ten
 * minutes in the future, because the clock was then set back.
 */
function confirmedAt(identity: Identity, now: number): number {
  if (identity.proofs === undefined || isAhead(identity, now)) return 0;
  return confirmedLevel(identity.proofs, now - FRESH_MS);
}

function isAhead({ proofs = [] }: Identity, now: number): boolean {
  return proofs.some(({ at }) => at > now + FRESH_MS);
}

/** Ends the request if `password` is not the account's password. A wrong password counts as a guess. */
async function requirePassword(
  { passwords }: GateParts,
  call: Call,
  account: Account | null,
  password: string,
): Promise<void> {
  const verified =
    account !== null && hasPassword(account, call.now) ? await passwords.prove(call, account.username, password) : null;
  if (verified === null) throw wrongPassword("invalid", "The current password is wrong.");
}

/** True if the account has a password that can be checked now. A user without one is not asked for it. */
function hasPassword(account: Account | null, now: number): account is Account {
  if (account === null || account.passwordHash === null || !isKnownFormat(account.passwordHash)) return false;
  return account.passwordUntil === null || Date.parse(account.passwordUntil) > now;
}

function wrongPassword(code: string, detail: string): Error {
  return invalid([{ pointer: "/current_password", code, detail }]);
}
