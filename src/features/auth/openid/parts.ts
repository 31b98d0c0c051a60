import type { SideBySide } from "../../../access/throttle/side-by-side.ts";
import type { LoginThrottle } from "../../../access/throttle/throttle.ts";
import type { Call, Reply } from "../../../core/call/call.ts";
import { problem, type Problem } from "../../../core/problem/problem.ts";
import type { Context } from "../../../http/request/exchange.ts";
import type { Beginning } from "../gate/contract.ts";
import type { ConfirmingContract } from "../people/contracts/confirming.ts";
import type { LoginsContract } from "../people/contracts/logins.ts";
import type { Header } from "../requests/cookies.ts";
import type { ProviderClient } from "./client.ts";
import type { Flows } from "./flows.ts";
import type { AccountsOfIdentities } from "./identity-accounts.ts";

/** The parts of logins at identity providers. */
export interface ProviderLoginParts extends AccountsOfIdentities {
  readonly logins: Pick<LoginsContract, "beginLogin" | "findHeldLogin" | "isLiveLogin">;
  readonly confirming: Pick<
    ConfirmingContract,
    "requireFreshLogin" | "requireConfirmation" | "confirmFromOutside" | "keepOtherLogin" | "endLoginsBy" | "notify"
  >;
  readonly throttle: LoginThrottle;
  readonly clients: ReadonlyMap<string, ProviderClient>;
  readonly flows: Flows;
  /** Limits the callbacks of one network that run at the same time to its remaining failures. */
  readonly sideBySide: SideBySide;
  /** The kind of login that starts after the provider has confirmed its user. */
  readonly begin: Beginning<{}>;
  /** Returns the page that asks for a second factor, without the base path. Returns null if the service has none. */
  factorPage(): string | null;
}

/** Returns the problem of a failed login. Logs the reason, which the answer does not contain. */
export function refusal(
  { observe }: Pick<ProviderLoginParts, "observe">,
  call: Call,
  provider: string,
  reason: string,
  headers: readonly Header[],
): Problem {
  observe({ kind: "provider_login_failed", requestId: call.requestId, provider, reason });
  return problem("login_failed", { headers: [["WWW-Authenticate", `Session realm="${call.realm}"`], ...headers] });
}

/** Returns the path at which a login at a provider starts. */
export function startPath(context: Context, provider: string): string {
  return context.at(`/api/login/${provider}/start`);
}

/** True if the browser of a callback is logged in as another user. */
export function isOtherUser({ identity, refusal }: Context, userId: number): boolean {
  // Two accepted credentials of different users.
  if (identity === null) return refusal?.problem.code === "conflicting_credentials";
  return identity.id !== userId;
}

/** Returns the response that sends the browser to another page. */
export function redirect(location: string, headers: readonly Header[]): Reply {
  return { status: 303, cache: "no-store", headers: [...headers, ["Location", location]] };
}
