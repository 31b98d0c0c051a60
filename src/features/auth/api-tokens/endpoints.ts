import type { Reply } from "../../../core/call/call.ts";
import { problem } from "../../../core/problem/problem.ts";
import { builtInEndpoint, type Endpoint, type EndpointDocumentation } from "../../../http/declarations/endpoint.ts";
import { defineResponse } from "../../../http/declarations/response.ts";
import { formType } from "../../../http/formats/form.ts";
import { requireStillKnown } from "../../../http/identifying/identifying.ts";
import { requireDraft } from "../../../http/mount/writes/drafting.ts";
import type { Context } from "../../../http/request/exchange.ts";
import { dateTime, text } from "../../../resource/kinds/fields.ts";
import { defineResource } from "../../../resource/resource.ts";
import type { Admission } from "../gate/admission.ts";
import type { Beginning } from "../gate/contract.ts";
import type { AccountsContract } from "../people/contracts/accounts.ts";
import type { EndingsContract } from "../people/contracts/endings.ts";
import type { LoginsContract } from "../people/contracts/logins.ts";
import { credentials, logInWith, loginTypes, MAX_LOGIN_BODY_BYTES } from "../people/credentials.ts";
import { ownOrAny, ownOrAnyUnlimited } from "../requests/access.ts";
import { proofField, withoutKey } from "../requests/fresh-login.ts";
import type { APITokens } from "./tokens.ts";

/** The parts that API tokens need. */
export interface APITokensParts {
  readonly accounts: Pick<AccountsContract, "find" | "requireAccount">;
  readonly logins: Pick<LoginsContract, "prove" | "beginLogin" | "vouch">;
  readonly endings: Pick<EndingsContract, "outsideEnd">;
  readonly tokens: APITokens;
  /** The kind of login that returns an API token. */
  readonly begin: Beginning<{}>;
}

/** Returns the endpoints for the API token of a user. */
export function apiTokenEndpoints(parts: APITokensParts): readonly Endpoint[] {
  const path = "/users/{id}/token";
  return [
    builtInEndpoint({
      method: "POST",
      takesForms: true,
      path,
      logsIn: true,
      access: ownOrAnyUnlimited,
      target: (context) => parts.accounts.requireAccount(context),
      consumes: ["application/json"],
      bodyOptional: true,
      documentation: documentation.issue,
      responses: { 200: apiToken, 201: apiToken },
      guard: withoutKey,
      handle: (context) => issue(parts, context),
    }),
    builtInEndpoint({
      method: "GET",
      path,
      access: ownOrAny,
      documentation: documentation.show,
      responses: { 200: shown },
      handle: (context) => show(parts, context),
    }),
    builtInEndpoint({
      method: "DELETE",
      takesForms: true,
      path,
      access: ownOrAnyUnlimited,
      target: (context) => show(parts, context),
      documentation: documentation.revoke,
      handle: (context) => revoke(parts, context),
    }),
    builtInEndpoint({
      method: "POST",
      path: "/api-token-auth/",
      access: "open",
      consumes: loginTypes,
      logsIn: true,
      maxBodyBytes: MAX_LOGIN_BODY_BYTES,
      documentation: documentation.exchange,
      handle: (context) => exchangePassword(parts, context),
    }),
  ];
}

const apiToken = defineResponse({
  name: "token",
  fields: { token: text({ description: "For `Authorization: Token`." }) },
});
const shown = defineResponse({
  name: "token",
  fields: { prefix: text(), created_at: dateTime(), last_used_at: dateTime({ optional: true }) },
});

/** The optional body, for a login that is not fresh. */
const fresh = defineResource({ name: "fresh", plural: "fresh", fields: { current_password: proofField } });

const documentation = {
  issue: {
    summary: "Create a user's API token, or return the existing one",
    tag: "users",
    request: fresh,
    responses: {
      200: { description: "The existing token." },
      201: { description: "A new token.", headers: { Location: "The path of the token." } },
    },
    problems: ["conflict", "confirmation_required"],
  },
  show: {
    summary: "Show when a user's API token was made and used",
    tag: "users",
    responses: { 200: { description: "Its data, without the token." } },
  },
  revoke: { summary: "Revoke a user's API token", tag: "users", responses: { 204: { description: "Revoked." } } },
  exchange: {
    summary: "Log in for the API token",
    tag: "tokens",
    request: credentials,
    responses: { 200: { description: "The token, made now if there was none.", schema: apiToken.schema } },
    problems: [
      "invalid_credentials",
      "factor_required",
      "login_expired",
      "cross_site",
      "conflict",
      "too_many_attempts",
    ],
  },
} satisfies Record<string, EndpointDocumentation>;

async function issue(parts: APITokensParts, context: Context) {
  const account = await parts.accounts.requireAccount(context);
  const { transient } = requireDraft(fresh, context, { id: null, current: null });
  const expiresAt = parts.endings.outsideEnd(context);
  const admission = await parts.logins.vouch(context, account, transient.current_password);
  const { token, created } = await parts.tokens.issue(admission, context.call.now, expiresAt);
  await requireStillKnown(context);
  const headers = created ? [["Location", context.at(`/users/${account.id}/token`)] as const] : [];
  return apiToken.reply(created ? 201 : 200, { token }, { cache: "no-store", headers });
}

async function show(parts: APITokensParts, context: Context) {
  const found = await parts.tokens.find((await parts.accounts.requireAccount(context)).id);
  if (found === null) throw problem("not_found");
  return shown.reply(200, found, { cache: "no-store" });
}

async function revoke(parts: APITokensParts, context: Context): Promise<Reply> {
  const revoked = await parts.tokens.revoke((await parts.accounts.requireAccount(context)).id);
  if (!revoked) throw problem("not_found");
  return { status: 204, cache: "no-store" };
}

/**
 * Logs a caller in for the API token. Refuses a form from a page of another site. A browser sends forms without a
 * preflight, so the page could make its visitors guess passwords, each from a different address.
 */
async function exchangePassword(parts: APITokensParts, context: Context): Promise<Reply> {
  if (context.body?.mediaType === formType) context.requireSameSite();
  const proved = await logInWith(parts.logins.prove, context);
  return parts.logins.beginLogin(context, { ...proved, begin: parts.begin, options: {} });
}

/** Returns the response with the user's API token. Makes the token if there is none. */
export async function startAPIToken(
  { accounts, tokens }: Pick<APITokensParts, "accounts" | "tokens">,
  { call }: Context,
  admission: Admission,
): Promise<Reply> {
  const { token } = await tokens.issue(admission, call.now);
  // If the password was changed at the same time, the caller with the old password must not receive the token.
  const account = await accounts.find(admission.userId);
  if (account?.generation !== admission.generation) throw problem("invalid_credentials");
  return apiToken.reply(200, { token }, { cache: "no-store" });
}
