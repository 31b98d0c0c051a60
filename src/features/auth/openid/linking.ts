import { problem } from "../../../core/problem/problem.ts";
import type { Context } from "../../../http/request/exchange.ts";
import { NOT_ACTIVE, requireActive } from "../records/accounts.ts";
import type { Header } from "../requests/cookies.ts";
import type { ConfirmedLogin } from "./client.ts";
import type { IdentityProvider } from "./declaration.ts";
import type { IdentityLink } from "./flows.ts";
import { isOtherUser, refusal, type ProviderLoginParts } from "./parts.ts";

/** A confirmed identity, and the flow of the user who links it. */
export interface IdentityLinkRequest {
  readonly context: Context;
  readonly link: IdentityLink;
  readonly confirmed: ConfirmedLogin;
  readonly header: Header;
}

/**
 * Links an identity to the account of the user who started the flow. Ends the request (401 `login_failed`) if the
 * account has changed since, if the login that started the flow has ended, or if another user is logged in now, and
 * (409) if the identity is linked to another account or the account has too many.
 */
export async function linkIdentity(
  { store, accounts, logins, confirming, identities, observe }: ProviderLoginParts,
  { id, issuer }: IdentityProvider,
  { context, link: { userId, generation, startedBy }, confirmed, header }: IdentityLinkRequest,
): Promise<void> {
  const { call } = context;
  const headers = [header];
  if (isOtherUser(context, userId)) throw refusal({ observe }, call, id, "another user is logged in now", headers);
  // A credential without a login of its own, for example Basic, has to be in the request itself.
  const isLive = startedBy === null ? context.identity !== null : await logins.isLiveLogin(startedBy, call.now);
  if (!isLive) throw refusal({ observe }, call, id, "the login that started the link has ended", headers);
  const account = await accounts.find(userId);
  if (account === null || !account.active || account.generation !== generation)
    throw refusal({ observe }, call, id, "the account has changed since", headers);
  const identified = { issuer, subject: confirmed.claims.sub };
  const changes = [
    ...identities.linkMore(identified, userId, call.now),
    requireActive(account),
    ...confirming.notify("identity_linked", account, call.now),
  ];
  const outcome = await store.write({ changes });
  if (outcome.kind === "written")
    return observe({ kind: "identity_bound", issuer, subject: identified.subject, userId });
  if (outcome.kind === "refused" && outcome.name === NOT_ACTIVE)
    throw refusal({ observe }, call, id, "the account has changed since", headers);
  const linked = await identities.findLinked(identified);
  if (linked?.userId === userId) return;
  if (linked !== null)
    throw problem("conflict", {
      detail: "This identity is linked to another account. Unlink it there first.",
      headers,
    });
  throw problem("too_many", { detail: "The account has too many identities. Unlink one first.", headers });
}
