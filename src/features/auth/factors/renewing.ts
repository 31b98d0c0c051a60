import type { Proof } from "../../../core/identity.ts";
import type { Context } from "../../../http/request/exchange.ts";
import type { JSONValue } from "../../../store/store.ts";
import type { GateParts } from "../gate/parts.ts";
import type { Account } from "../records/accounts.ts";
import type { Header } from "../requests/cookies.ts";

/** The login that replaces the caller's login: its cookies, and its members in the response. */
export interface RenewedLogin {
  readonly headers: readonly Header[];
  readonly members: Readonly<Record<string, JSONValue>>;
}

/**
 * Starts the caller's login again, because the first factor ends every login of the account. The new login has the
 * earlier proofs and the new one. Returns null if the caller's credential is not a login, for example Basic, or if
 * these proofs are not enough for an account with a factor.
 */
export async function renewLogin(
  parts: GateParts,
  context: Context,
  account: Account,
  proof: Proof,
): Promise<RenewedLogin | null> {
  const proofs = [...(context.requireIdentity().proofs ?? []), proof];
  if (!parts.gate.isEnough(account, proofs)) return null;
  for (const beginning of parts.gate.beginnings.values()) {
    const current = beginning.current?.(context) ?? null;
    if (current === null) continue;
    const admission = await parts.gate.admitConfirmed(context.call, { account, proofs }, []);
    if (admission === null) return null;
    const { headers = [], body } = await beginning.start(context, admission, current.options);
    const members = body?.kind === "data" && beginning.carriedIn(current.options) === "text" ? body.value : {};
    return { headers, members: members as RenewedLogin["members"] };
  }
  return null;
}
