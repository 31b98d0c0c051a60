import { problem, type Problem } from "../../../core/problem/problem.ts";
import type { Context } from "../../../http/request/exchange.ts";
import type { JSONValue } from "../../../store/store.ts";
import type { StoredFactor } from "../gate/contract.ts";
import { RECOVERY } from "../gate/factors.ts";
import type { GateParts, WaitingLogin } from "../gate/parts.ts";
import { LIFE_MS, type PendingLogin } from "../gate/pending.ts";
import { mustHaveFactor } from "../gate/policy.ts";
import type { Account } from "../records/accounts.ts";
import { setHostCookie } from "../requests/cookies.ts";

/** The id and the kind of the proof by mail. */
export const MAIL = "mail";

/** The time after a sign-up in which its mail counts as the proof of the mailbox. */
const SIGNED_UP_MS = 600_000;

/** The member `login` of a problem or a response: what the client must send to complete the login. */
export type LoginObject = {
  readonly needs: "factor" | "enrolment";
  readonly expires_at: string;
  readonly factors: readonly FactorObject[];
};

/** A proof that the login accepts, and the data that its answer needs. */
type FactorObject = {
  readonly id: string;
  readonly kind: string;
  readonly label?: string;
  readonly [name: string]: JSONValue | undefined;
};

/**
 * Returns the problem that asks for another proof. If the login needs a proof by mail, first sends the mail with the
 * code.
 */
export async function askFor(parts: GateParts, context: Context, waiting: WaitingLogin): Promise<Problem> {
  if (await needsMail(parts, waiting.account, waiting.login))
    await parts.gate.mail.step?.send(context, waiting.account, "enrolment");
  return stillNeeded(parts, context, waiting);
}

/**
 * Returns the problem that names the missing proofs. It also contains the secret name with which the client continues
 * the waiting login: in a cookie if the login will set a cookie, otherwise in the body.
 */
export async function stillNeeded(parts: GateParts, context: Context, waiting: WaitingLogin): Promise<Problem> {
  const { call } = context;
  const { account, name, login, carriedIn } = waiting;
  const described = await describe(parts, context, account, login);
  const byCookie = carriedIn === "cookie";
  return problem("factor_required", {
    extensions: { login: byCookie ? described : { pending: name, ...described } },
    headers: [
      ["WWW-Authenticate", parts.challenge(call)],
      ...(byCookie ? [setHostCookie(call, parts.cookie, name, login.expiresAt)] : []),
    ],
  });
}

/** Describes the proofs that a waiting login needs, with the factors of the account. */
export async function describe(
  parts: GateParts,
  context: Context,
  account: Account,
  login: PendingLogin,
): Promise<LoginObject> {
  const { call } = context;
  const expires_at = new Date(login.expiresAt).toISOString();
  if (await needsMail(parts, account, login))
    return { needs: "enrolment", expires_at, factors: [{ id: MAIL, kind: MAIL }] };
  const all = await parts.factors.list(account.id);
  const factors: FactorObject[] = [];
  for (const [kindName, kind] of parts.gate.kinds) {
    const own = all.filter((factor) => factor.kind === kindName);
    if (own.length === 0) continue;
    const ask = (await kind.ask?.(call, account, own, login.key)) ?? null;
    factors.push(
      ...own.map(({ id, label }) => ({ id: String(id), kind: kindName, label, ...(ask === null ? {} : { ask }) })),
    );
  }
  if (factors.length > 0 && hasCodes(parts, all))
    factors.push({ id: RECOVERY, kind: RECOVERY, label: "Recovery code" });
  if (login.purpose === "confirm" && factors.length === 0 && account.passwordHash !== null)
    factors.push({ id: "password", kind: "password", label: "Password" });
  if (factors.length === 0) factors.push(...(await findFurtherProofs(parts, context, account, login)));
  const needs = login.purpose === "login" && factors.length === 0 ? "enrolment" : "factor";
  return { needs, expires_at, factors };
}

/** Returns true if the account must have a factor but has none, and must add one before it can log in. */
export function needsEnrolment({ rule }: GateParts, account: Account): boolean {
  return (account.factors ?? 0) === 0 && mustHaveFactor(account.role, rule);
}

/**
 * Returns true if the client must prove a code by mail before the account adds its first factor, and has not done so
 * yet.
 */
export async function needsMail(parts: GateParts, account: Account, login: PendingLogin): Promise<boolean> {
  const { step } = parts.gate.mail;
  if (step === null || login.purpose !== "login" || !needsEnrolment(parts, account)) return false;
  if (login.proofs.some(({ method }) => method === "mail") || hasJustSignedUp(account, login)) return false;
  return step.reaches(account);
}

/**
 * True if the user signed up by mail in the ten minutes before this login by password began. The mail then was the
 * proof of the mailbox: the request with its code created the user and set the password. Users of a provider log in
 * without a password.
 */
function hasJustSignedUp({ createdAt, emailVerifiedAt, emailOrigin }: Account, login: PendingLogin): boolean {
  const age = login.expiresAt - LIFE_MS - Date.parse(createdAt);
  if (emailOrigin !== "chosen" || emailVerifiedAt !== createdAt || age < 0 || age >= SIGNED_UP_MS) return false;
  return login.proofs.some(({ method }) => method === "pwd");
}

/**
 * Returns the place in which the client receives and sends the name of a waiting login: a cookie, or text in the body.
 */
export function resolvePlace({ gate }: GateParts, { beginning, options }: PendingLogin): "cookie" | "text" {
  return gate.beginnings.get(beginning)?.carriedIn(options) ?? "text";
}

/**
 * Returns the proofs with which an account without a password and without factors confirms a login: its providers, and
 * a mail.
 */
async function findFurtherProofs(
  parts: GateParts,
  context: Context,
  account: Account,
  login: PendingLogin,
): Promise<readonly FactorObject[]> {
  if (login.purpose !== "confirm") return [];
  // A browser opens the page of the provider, and names the waiting login by its cookie.
  const finders = resolvePlace(parts, login) === "cookie" ? parts.outsideConfirmations : [];
  const found = await Promise.all(finders.map((find) => find(context, account)));
  const isByMail = await confirmsByMail(parts, account, login);
  return [...found.flat().map((each) => ({ ...each })), ...(isByMail ? [{ id: MAIL, kind: MAIL }] : [])];
}

/** True if a code by mail confirms the login: the account has neither a password nor a factor, and mail is on. */
export async function confirmsByMail(
  { gate }: GateParts,
  account: Account,
  { purpose }: PendingLogin,
): Promise<boolean> {
  if (purpose !== "confirm" || account.passwordHash !== null || (account.factors ?? 0) > 0) return false;
  return (await gate.mail.step?.reaches(account)) === true;
}

function hasCodes(parts: GateParts, all: readonly StoredFactor[]): boolean {
  const recovery = parts.recovery();
  return recovery !== null && all.some(({ kind, data }) => kind === RECOVERY && recovery.count(data) > 0);
}
