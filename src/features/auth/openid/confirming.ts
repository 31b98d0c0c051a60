import type { Reply } from "../../../core/call/call.ts";
import type { Proof } from "../../../core/identity.ts";
import type { Context } from "../../../http/request/exchange.ts";
import type { OutsideConfirmation } from "../gate/contract.ts";
import { vouchedProof, vouchesForLevel2 } from "../issuers/declaration.ts";
import type { Account } from "../records/accounts.ts";
import type { Header } from "../requests/cookies.ts";
import type { Claims } from "./claims.ts";
import { CONFIRMED_SECONDS, type ConfirmedLogin } from "./client.ts";
import type { IdentityProvider } from "./declaration.ts";
import type { Flow } from "./flows.ts";
import { nameOfProof, type LinkedIdentity } from "./identities.ts";
import { isOtherUser, refusal, startPath, type ProviderLoginParts } from "./parts.ts";

/** A confirmed identity, and the flow of the login that it confirms. */
export interface LoginConfirmation {
  readonly context: Context;
  readonly purpose: Extract<Flow["purpose"], { kind: "confirm" }>;
  readonly confirmed: ConfirmedLogin;
  readonly header: Header;
}

/**
 * Returns the proof of a login at a provider. If the provider does not say when its user logged in, the login is never
 * fresh.
 */
export function proofBy({ level }: IdentityProvider, identity: LinkedIdentity, { acr, authTime }: Claims): Proof {
  return vouchedProof(authTime, vouchesForLevel2(level, acr), nameOfProof(identity));
}

/**
 * Confirms the login that started the flow, and returns the response that renews it. Ends the request (401
 * `login_failed`) if the provider has not seen its user in the last ten minutes, or if the identity belongs to another
 * account.
 */
export async function confirmLogin(
  parts: ProviderLoginParts,
  provider: IdentityProvider,
  { context, purpose: { waiting }, confirmed: { claims }, header }: LoginConfirmation,
): Promise<Reply> {
  const { call } = context;
  const refused = (reason: string): Error => refusal(parts, call, provider.id, reason, [header]);
  if (isOtherUser(context, waiting.userId)) throw refused("another user is logged in");
  if (claims.authTime === null) throw refused("the ID token has no auth_time, so the login confirms nothing");
  if (claims.authTime <= call.now - CONFIRMED_SECONDS * 1000)
    throw refused("the user logged in at the provider more than ten minutes ago, although max_age was sent");
  const identity = await parts.identities.findLinked({ issuer: provider.issuer, subject: claims.sub });
  if (identity?.userId !== waiting.userId) throw refused("the identity is not linked to the account of the login");
  return parts.confirming.confirmFromOutside(context, waiting, proofBy(provider, identity, claims));
}

/**
 * Finds the providers that can confirm a login of the account: those with a linked identity that say when their user
 * logged in.
 */
export async function findProviderConfirmations(
  { clients, identities }: ProviderLoginParts,
  context: Context,
  { id }: Account,
): Promise<readonly OutsideConfirmation[]> {
  const issuers = new Set((await identities.list(id)).map(({ issuer }) => issuer));
  const confirmations: OutsideConfirmation[] = [];
  for (const client of clients.values()) {
    const { provider } = client;
    if (!issuers.has(provider.issuer) || !(await client.sendsAuthTime(context.call.now))) continue;
    const start = `${startPath(context, provider.id)}?confirm=true`;
    confirmations.push({ id: `provider-${provider.id}`, kind: "provider", label: provider.title, start });
  }
  return confirmations;
}
