import type { Call } from "../../../core/call/call.ts";
import { problem, type Problem } from "../../../core/problem/problem.ts";
import type { Header } from "../cookies.ts";
import type { Beginning } from "../gate/contract.ts";
import type { ProviderClient } from "./client.ts";
import type { Flows } from "./flows.ts";
import type { AccountsOfIdentities } from "./identity-accounts.ts";

/** The parts of logins at identity providers. */
export interface ProviderLoginParts extends AccountsOfIdentities {
  readonly clients: ReadonlyMap<string, ProviderClient>;
  readonly flows: Flows;
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
