import type { Call, Reply } from "../../../core/call/call.ts";
import type { Proof } from "../../../core/identity.ts";
import { problem } from "../../../core/problem/problem.ts";
import { invalid, type Context } from "../../../http/request/exchange.ts";
import { requireInTime } from "../../../http/request/in-time.ts";
import type { Change, JSONValue } from "../../../store/store.ts";
import type { FactorAnswer, FactorSuccess, StoredFactor } from "../gate/contract.ts";
import { proofOf, RECOVERY } from "../gate/factors.ts";
import type { GateParts } from "../gate/parts.ts";
import type { PendingLogin } from "../gate/pending.ts";
import type { Account } from "../records/accounts.ts";
import { clearHostCookie, hostCookieName, requireOneCookie } from "../requests/cookies.ts";
import { confirmsByMail, MAIL, needsMail, resolvePlace, stillNeeded } from "./asking.ts";
import { activate, requireKind } from "./enrolling.ts";
import { tryAnswer } from "./trying.ts";

/** The body that a client sends to complete a login. */
export interface CompletionBody extends FactorAnswer {
  /** The name of the waiting login. Null if a cookie names it. */
  readonly pending: string | null;
  /** The id of a factor, `mail`, `recovery` or `password`. Null is refused. */
  readonly factor: string | null;
  readonly password: string | null;
}

/** A waiting login with its account, and whether a cookie named it. */
export interface FoundPending {
  readonly name: string;
  readonly login: PendingLogin;
  readonly account: Account;
  readonly byCookie: boolean;
}

/**
 * Returns the waiting login of a request. Ends the request with 401 `login_expired` if there is none, or if the account
 * has changed.
 */
export async function requirePending(parts: GateParts, context: Context, named: string | null): Promise<FoundPending> {
  const { call } = context;
  if (named === null) context.requireSameSite();
  const name = named ?? requireOneCookie(call, hostCookieName(call, parts.cookie));
  const login = name === null ? null : await parts.pending.find(name, call.now);
  const account = login === null ? null : await parts.accounts.find(login.userId);
  if (name === null || login === null || account === null) throw expired(parts, call);
  if (!account.active || account.generation !== login.generation) throw expired(parts, call);
  if (login.purpose === "login" && isUsedUp(account, login)) throw expired(parts, call);
  // A login of a browser is known by its cookie alone. So a name that leaked is of no use in a body.
  if ((resolvePlace(parts, login) === "cookie") !== (named === null)) throw expired(parts, call);
  return { name, login, account, byCookie: named === null };
}

/** True if the one-time password with which the login started has completed another login. */
function isUsedUp({ passwordOnce }: Account, { proofs }: PendingLogin): boolean {
  return passwordOnce === "used" && proofs.some(({ method }) => method === "pwd");
}

/** Completes a waiting login, or confirms an existing one. Counts each try before it checks the answer. */
export async function complete(parts: GateParts, context: Context, body: CompletionBody): Promise<Reply> {
  requireInTime(context);
  const { call } = context;
  const found = await requirePending(parts, context, body.pending);
  const { login } = found;
  if (await needsMail(parts, found.account, login)) throw await answerByMail(parts, context, found, body);
  const answered = await answer(parts, context, found, body);
  const { account } = answered;
  const proofs = [...login.proofs, answered.proof];
  const changes = [...parts.pending.end(login), ...answered.changes];
  const reply =
    login.purpose === "confirm"
      ? await confirm(parts, context, { login, account, proofs, changes })
      : await begin(parts, context, { login, account, proofs, changes });
  const headers = found.byCookie ? [clearHostCookie(call, parts.cookie)] : [];
  return withMore({ ...reply, headers: [...(reply.headers ?? []), ...headers] }, answered.shown);
}

/** A right answer: its proof, the changes that it writes, and the members that it adds to the response of the login. */
interface AcceptedAnswer {
  readonly proof: Proof;
  readonly changes: readonly Change[];
  /** The account after these changes. */
  readonly account: Account;
  readonly shown: Readonly<Record<string, JSONValue>>;
}

async function answer(
  parts: GateParts,
  context: Context,
  { login, account }: FoundPending,
  body: CompletionBody,
): Promise<AcceptedAnswer> {
  const { call } = context;
  if ((await parts.pending.count(login)) === null) throw expired(parts, call);
  if (body.factor === "password") return answerByPassword(parts, call, { login, account }, body.password);
  if (body.factor === MAIL) return confirmByMail(parts, context, { login, account }, body.code);
  const factor = await requireFactor(parts, { login, account }, body);
  const success = await tryAnswer(parts, call, account, () => check(parts, call, account, { login, factor, body }));
  if (success === null) throw wrong(parts, call);
  const proof = proofOf(factor, success.proof, call.now);
  if (factor.active) {
    const notices = factor.kind === RECOVERY ? parts.notify("recovery_code_used", account, call.now) : [];
    return { proof, changes: [parts.factors.use(factor, success.data, call.now), ...notices], account, shown: {} };
  }
  const activation = activate(parts, account, factor, success, { now: call.now, endKeys: false });
  const shown = activation.recoveryCodes === null ? {} : { recovery_codes: activation.recoveryCodes };
  return { proof, changes: activation.changes, account: activation.account, shown };
}

/** Adds the proof by mail to a login. Returns the problem that asks for the next proof. */
async function answerByMail(
  parts: GateParts,
  context: Context,
  { name, login, account }: FoundPending,
  { factor, code }: CompletionBody,
): Promise<Error> {
  const { call } = context;
  if (factor !== MAIL)
    return stillNeeded(parts, context, { account, name, login, carriedIn: resolvePlace(parts, login) });
  if (code === null) return required("/code");
  if ((await parts.pending.count(login)) === null) return expired(parts, call);
  const used = (await parts.gate.mail.step?.check(context, account, code, "enrolment")) ?? null;
  if (used === null) return wrong(parts, call);
  const proof: Proof = { method: "mail", at: call.now };
  const { kind } = await parts.store.write({ changes: [...parts.pending.prove(login, proof), ...used] });
  if (kind !== "written") return lost(parts, context, login);
  const proved = { ...login, proofs: [...login.proofs, proof] };
  return stillNeeded(parts, context, { account, name, login: proved, carriedIn: resolvePlace(parts, login) });
}

/** Confirms a login by password, for accounts without a factor. A wrong password counts as in a login. */
async function answerByPassword(
  parts: GateParts,
  call: Call,
  { login, account }: Pick<FoundPending, "login" | "account">,
  password: string | null,
): Promise<AcceptedAnswer> {
  if (login.purpose !== "confirm" || (account.factors ?? 0) > 0) throw unknownFactor();
  if (password === null) throw required("/password");
  const proved = await parts.passwords.prove(call, account.username, password);
  if (proved === null || proved.id !== account.id) throw wrong(parts, call);
  return { proof: { method: "pwd", at: call.now }, changes: [], account, shown: {} };
}

/** Confirms a login by a code from a mail, for accounts without a password and without a factor. */
async function confirmByMail(
  parts: GateParts,
  context: Context,
  { login, account }: Pick<FoundPending, "login" | "account">,
  code: string | null,
): Promise<AcceptedAnswer> {
  const { call } = context;
  if (!(await confirmsByMail(parts, account, login))) throw unknownFactor();
  if (code === null) throw required("/code");
  const changes = (await parts.gate.mail.step?.check(context, account, code, "confirmation")) ?? null;
  if (changes === null) throw wrong(parts, call);
  return { proof: { method: "mail", at: call.now }, changes, account, shown: {} };
}

/** Returns the factor that the answer belongs to: an active one, or the one that this login adds. */
async function requireFactor(
  { factors, gate }: GateParts,
  { login, account }: Pick<FoundPending, "login" | "account">,
  { factor: id, code, credential }: CompletionBody,
): Promise<StoredFactor> {
  const usable = await factors.list(account.id, login.key);
  const named = usable.find((each) => (each.kind === RECOVERY ? id === RECOVERY : String(each.id) === id));
  if (named === undefined) throw unknownFactor();
  const kind = gate.kinds.get(named.kind);
  const own = usable.filter((each) => each.kind === named.kind && each.active);
  const factor = named.active ? (kind?.find?.(own, { code, credential }) ?? named) : named;
  if (kind?.answeredBy === "credential" && credential === null) throw required("/credential");
  if (kind?.answeredBy !== "credential" && code === null) throw required("/code");
  return factor;
}

function check(
  parts: GateParts,
  call: Call,
  account: Account,
  {
    login,
    factor,
    body,
  }: { readonly login: PendingLogin; readonly factor: StoredFactor; readonly body: CompletionBody },
): Promise<FactorSuccess | null> | FactorSuccess | null {
  if (factor.kind === RECOVERY) {
    const data = parts.recovery()?.use(account.id, factor.data, body.code!) ?? null;
    return data === null ? null : { proof: { method: "recovery" }, data };
  }
  const kind = requireKind(parts, factor.kind);
  return factor.active ? kind.check(call, account, factor, body, login.key) : kind.confirm(call, account, factor, body);
}

/** A waiting login after a right answer, with all its proofs. */
export interface Proved {
  readonly login: PendingLogin;
  readonly account: Account;
  readonly proofs: readonly Proof[];
  readonly changes: readonly Change[];
}

async function begin(parts: GateParts, context: Context, proved: Proved): Promise<Reply> {
  const { login, account, proofs, changes } = proved;
  const beginning = parts.gate.beginnings.get(login.beginning);
  if (beginning === undefined) throw expired(parts, context.call);
  const admission = await parts.gate.admitLogin(context.call, { account, proofs }, changes);
  if (admission === null) throw await lost(parts, context, login);
  return beginning.start(context, admission, login.options);
}

/** Confirms an existing login with all proofs, and returns the response that renews it. */
export async function confirm(parts: GateParts, context: Context, proved: Proved): Promise<Reply> {
  const { login, account, proofs, changes } = proved;
  const beginning = parts.gate.beginnings.get(login.beginning);
  if (beginning?.renew === undefined || login.holder === null) throw expired(parts, context.call);
  const admission = await parts.gate.admitConfirmed(context.call, { account, proofs }, changes);
  if (admission === null) throw await lost(parts, context, login);
  const reply = await beginning.renew(context, admission, { id: login.holder, options: login.options });
  if (reply === null) throw expired(parts, context.call);
  return reply;
}

/**
 * Returns the error for a request that was too late: another request has completed this login or used the same code.
 */
async function lost(parts: GateParts, { call }: Context, { key }: PendingLogin): Promise<Error> {
  return (await parts.pending.isWaiting(key)) ? wrong(parts, call) : expired(parts, call);
}

/** Adds members to the response body of a login. */
export function withMore(reply: Reply, more: Readonly<Record<string, JSONValue>>): Reply {
  if (Object.keys(more).length === 0 || reply.body?.kind !== "data") return reply;
  return { ...reply, body: { ...reply.body, value: { ...(reply.body.value as object), ...more } } };
}

function expired(parts: GateParts, call: Call): Error {
  return problem("login_expired", { headers: [["WWW-Authenticate", parts.challenge(call)]] });
}

function wrong(parts: GateParts, call: Call): Error {
  return problem("invalid_credentials", {
    detail: "The code or the credential is wrong.",
    headers: [["WWW-Authenticate", parts.challenge(call)]],
  });
}

function unknownFactor(): Error {
  return invalid([{ pointer: "/factor", code: "invalid", detail: "The login does not wait for this factor." }]);
}

function required(pointer: string): Error {
  return invalid([{ pointer, code: "required", detail: "This field is required." }]);
}
