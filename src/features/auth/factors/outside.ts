import type { Reply } from "../../../core/call/call.ts";
import type { Proof } from "../../../core/identity.ts";
import { problem } from "../../../core/problem/problem.ts";
import type { Context } from "../../../http/request/exchange.ts";
import type { HeldLogin, WaitingConfirmation } from "../gate/contract.ts";
import type { GateParts } from "../gate/parts.ts";
import { clearHostCookie } from "../requests/cookies.ts";
import { confirm, requirePending } from "./completing.ts";

/**
 * Returns the confirmation that the cookie of a request names. Ends the request (401 `login_expired`) if there is none.
 */
export async function requireConfirmation(parts: GateParts, context: Context): Promise<WaitingConfirmation> {
  const { login } = await requirePending(parts, context, null);
  if (login.purpose !== "confirm") throw expired(parts, context);
  return { key: login.key, userId: login.userId };
}

/**
 * Confirms a login with the proof of another party. Returns the response that renews the login. Ends the request (401
 * `login_expired`) if the confirmation or its login has ended, and (401 `factor_required`) if the proofs are not enough
 * for the account.
 */
export async function confirmFromOutside(
  parts: GateParts,
  context: Context,
  { key, userId }: WaitingConfirmation,
  proof: Proof,
): Promise<Reply> {
  const { call } = context;
  const login = await parts.pending.findByKey(key, call.now);
  const account = await parts.accounts.find(userId);
  if (login === null || login.purpose !== "confirm" || login.userId !== userId || account === null)
    throw expired(parts, context);
  if (!account.active || account.generation !== login.generation) throw expired(parts, context);
  const proofs = [...login.proofs, proof];
  const reply = await confirm(parts, context, { login, account, proofs, changes: parts.pending.end(login) });
  return { ...reply, headers: [...(reply.headers ?? []), clearHostCookie(call, parts.cookie)] };
}

/** Returns the login of the caller's request. Returns null if its credential is not a login, for example Basic. */
export function findHeldLogin({ beginnings }: GateParts["gate"], context: Context): HeldLogin | null {
  for (const beginning of beginnings.values()) {
    const current = beginning.current?.(context) ?? null;
    if (current !== null) return { beginning: beginning.name, id: current.id };
  }
  return null;
}

/** True if a login has not ended. `now` in milliseconds since the epoch. */
export async function isLiveLogin(
  { beginnings }: GateParts["gate"],
  { beginning, id }: HeldLogin,
  now: number,
): Promise<boolean> {
  return (await beginnings.get(beginning)?.isLive?.(id, now)) ?? false;
}

function expired({ challenge }: GateParts, { call }: Context): Error {
  return problem("login_expired", { headers: [["WWW-Authenticate", challenge(call)]] });
}
