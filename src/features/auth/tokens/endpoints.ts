import { checkAssurance } from "../../../access/scheme/assurance.ts";
import type { Rejection, Scheme } from "../../../access/scheme/scheme.ts";
import type { LoginThrottle } from "../../../access/throttle/throttle.ts";
import type { Reply } from "../../../core/call/call.ts";
import { problem } from "../../../core/problem/problem.ts";
import { ifNoneMatch, notModified } from "../../../http/declarations/documentation.ts";
import { builtInEndpoint, type Endpoint, type EndpointDocumentation } from "../../../http/declarations/endpoint.ts";
import { defineResponse } from "../../../http/declarations/response.ts";
import { requireDraft } from "../../../http/mount/writes/drafting.ts";
import { type Context, invalid } from "../../../http/request/exchange.ts";
import { requireInTime } from "../../../http/request/in-time.ts";
import { boolean, integer, text } from "../../../resource/kinds/fields.ts";
import { defineResource } from "../../../resource/resource.ts";
import type { Admission } from "../gate/admission.ts";
import type { Beginning, Current } from "../gate/contract.ts";
import type { LoginsContract } from "../people/contracts/logins.ts";
import { loginBody, loginFields, loginTypes, MAX_LOGIN_BODY_BYTES } from "../people/credentials.ts";
import { refuseLoginCSRF } from "../requests/cookies.ts";
import {
  clearedTokenCookies,
  type CookieNames,
  findRefreshCookie,
  requireRefreshCookie,
  tokenCookies,
} from "./cookies.ts";
import { bearerRefusal } from "./scheme.ts";
import type { SigningKeys } from "./signing-keys.ts";
import type { FreshAccess, TokenPair, TokenPairs } from "./token-pairs.ts";

const JSON_ONLY = ["application/json"];

const credentials = defineResource({
  name: "credentials",
  plural: "credentials",
  fields: { ...loginFields, cookie: boolean({ default: false }) },
});
const refreshBody = defineResource({
  name: "refresh",
  plural: "refresh",
  fields: { refresh: text({ maxLength: 8192, optional: true }) },
});
const verifyBody = defineResource({ name: "verify", plural: "verify", fields: { token: text({ maxLength: 8192 }) } });

/** The parts that token logins need. */
export interface TokensParts {
  readonly logins: Pick<LoginsContract, "prove" | "beginLogin" | "checkAssurance">;
  readonly throttle: LoginThrottle;
  readonly pairs: TokenPairs;
  readonly keys: SigningKeys;
  /** The names of the cookies. */
  readonly cookies: CookieNames;
  readonly scheme: Scheme;
  /** Returns the other schemes named `bearer`, which accept tokens of other issuers. */
  others(): readonly Scheme[];
  /** The registered kind of login. It starts a token pair. */
  readonly begin: Beginning<TokenOptions>;
}

/** The options of a token pair. */
export type TokenOptions = {
  /** True if the pair is sent as cookies and not in the body. */
  readonly cookie: boolean;
};

/** The parts that a new token pair needs. */
export type StartingParts = Omit<TokensParts, "begin">;

/**
 * Returns the endpoints for token logins (SimpleJWT's paths and names). These endpoints ignore all other credentials of
 * a request.
 */
export function tokenEndpoints(parts: TokensParts): readonly Endpoint[] {
  const open = { access: "open", consumes: JSON_ONLY, maxBodyBytes: MAX_LOGIN_BODY_BYTES } as const;
  return [
    builtInEndpoint({
      ...open,
      method: "POST",
      path: "/api/token/",
      consumes: loginTypes,
      logsIn: true,
      refusesBrowserForms: true,
      documentation: documentation.logIn,
      handle: (context) => logIn(parts, context),
    }),
    builtInEndpoint({
      ...open,
      method: "DELETE",
      path: "/api/token/",
      bodyOptional: true,
      documentation: documentation.logOut,
      handle: (context) => logOut(parts, context),
    }),
    builtInEndpoint({
      ...open,
      method: "POST",
      path: "/api/token/refresh/",
      logsIn: true,
      bodyOptional: true,
      documentation: documentation.refresh,
      responses: { 200: pairShape },
      handle: (context) => refresh(parts, context),
    }),
    builtInEndpoint({
      ...open,
      method: "POST",
      path: "/api/token/verify/",
      documentation: documentation.verify,
      responses: { 200: verified },
      handle: (context) => verify(parts, context),
    }),
  ];
}

/**
 * Returns the endpoint with the public keys. It also exists if token login is off, because other services may still
 * verify earlier tokens.
 */
export function keysEndpoint({ keys }: Pick<TokensParts, "keys">): Endpoint {
  return builtInEndpoint({
    method: "GET",
    path: "/.well-known/jwks.json",
    access: "open",
    query: "ignored",
    produces: "application/json",
    documentation: documentation.keys,
    handle: () => ({
      status: 200,
      cache: "public",
      maxAgeSeconds: 300,
      body: { kind: "raw", type: "application/json", content: JSON.stringify(keys.jwks()) },
    }),
  });
}

const pairShape = defineResponse({
  name: "token",
  fields: {
    access: text({ description: "For `Authorization: Bearer`." }),
    refresh: text({ description: "For the next pair; valid once if refresh tokens are rotated." }),
    token_type: { type: "string", const: "Bearer" },
    expires_in: integer({ description: "Lifetime of the access token, in seconds." }),
  },
  optional: ["access", "refresh"],
});
const verified = defineResponse({ name: "verify", fields: {} });

const pairGiven = {
  description:
    "The pair of tokens. If they travel as cookies, the body has no `access` and `refresh`. Without rotation, a refresh returns only `access`.",
  schema: pairShape.schema,
  headers: { "Set-Cookie": "The pair, if it travels as cookies." },
};

const documentation = {
  logIn: {
    summary: "Log in for a pair of tokens",
    tag: "tokens",
    request: credentials,
    responses: { 200: pairGiven },
    problems: ["invalid_credentials", "factor_required", "login_expired", "cross_site", "too_many_attempts"],
  },
  logOut: {
    summary: "Log out: end the family of tokens",
    tag: "tokens",
    request: refreshBody,
    responses: {
      204: {
        description: "Logged out: the tokens of the family are revoked. An unknown token gets the same answer.",
        headers: { "Set-Cookie": "Clears the cookies, if the token was in one." },
      },
    },
    problems: ["cross_site", "duplicate_credentials"],
  },
  refresh: {
    summary: "Refresh the pair of tokens",
    tag: "tokens",
    request: refreshBody,
    responses: { 200: pairGiven },
    problems: ["token_not_valid", "cross_site", "duplicate_credentials", "too_many_attempts"],
  },
  verify: {
    summary: "Ask whether a token would be accepted",
    tag: "tokens",
    request: verifyBody,
    responses: { 200: { description: "The token would be accepted." } },
    problems: ["token_not_valid", "invalid_token", "factor_required", "too_many_attempts"],
  },
  keys: {
    summary: "The public keys of access tokens (RFC 7517)",
    tag: "system",
    parameters: [ifNoneMatch],
    responses: {
      200: {
        description: "The public keys of access tokens (RFC 7517).",
        schema: {
          type: "object",
          properties: { keys: { type: "array", items: { type: "object" } } },
          required: ["keys"],
        },
        headers: { ETag: "The tag of the current state." },
      },
      304: notModified,
    },
  },
} satisfies Record<string, EndpointDocumentation>;

async function logIn(parts: TokensParts, context: Context): Promise<Reply> {
  const { values } = requireDraft(credentials, context, { id: null, current: null });
  const { cookie } = values;
  if (cookie) context.requireSameSite();
  const proved = await parts.logins.prove(context, loginBody(values));
  return parts.logins.beginLogin(context, { ...proved, begin: parts.begin, options: { cookie } });
}

/** Starts a token pair. */
export async function startTokens(
  parts: StartingParts,
  context: Context,
  admission: Admission,
  { cookie }: TokenOptions,
): Promise<Reply> {
  requireInTime(context);
  if (cookie) refuseLoginCSRF(context);
  const { call } = context;
  const reply = deliver(parts, context, await parts.pairs.issue(admission, call.now), cookie);
  // The browser replaces the cookies of its previous login. No later request could log that login out, so it ends now.
  const before = cookie ? findRefreshCookie(call, parts.cookies) : null;
  if (before !== null) await parts.pairs.end(before, call.now);
  return reply;
}

/** Creates an access token with new proofs for a token family. Returns null if the family was revoked. */
export async function renewTokens(
  parts: StartingParts,
  context: Context,
  admission: Admission,
  { id: family, options: { cookie } }: Current<TokenOptions>,
): Promise<Reply | null> {
  const pair = await parts.pairs.renew(admission, family, context.call.now);
  return pair === null ? null : deliver(parts, context, pair, cookie);
}

function deliver({ cookies }: StartingParts, context: Context, pair: TokenPair | FreshAccess, byCookie: boolean) {
  const about = { token_type: "Bearer", expires_in: pair.accessSeconds } as const;
  const tokens = "refresh" in pair ? { access: pair.access, refresh: pair.refresh } : { access: pair.access };
  const value = byCookie ? about : { ...tokens, ...about };
  const headers = byCookie ? tokenCookies(context, cookies, pair) : [];
  return pairShape.reply(200, value, { cache: "no-store", headers });
}

async function refresh(parts: TokensParts, context: Context) {
  const { token, byCookie } = requireToken(parts, context);
  const pair = await parts.pairs.refresh(token, context.call);
  if (pair.kind === "rejected") throw await refused(parts, context, pair);
  return deliver(parts, context, pair, byCookie);
}

async function logOut(parts: TokensParts, context: Context): Promise<Reply> {
  const { token, byCookie } = requireToken(parts, context);
  await parts.pairs.end(token, context.call.now);
  return { status: 204, cache: "no-store", headers: byCookie ? clearedTokenCookies(context, parts.cookies) : [] };
}

/**
 * Returns the refresh token of the body. Without one, returns the token of the cookie. Browsers send cookies
 * automatically, so a request with the cookie must come from a page of the same site.
 */
function requireToken({ cookies }: TokensParts, context: Context) {
  const { refresh: sent } = requireDraft(refreshBody, context, { id: null, current: null }).values;
  if (sent !== null) return { token: sent, byCookie: false };
  const cookie = requireRefreshCookie(context.call, cookies);
  if (cookie === null) throw invalid([{ pointer: "/refresh", code: "required", detail: "This field is required." }]);
  context.requireSameSite();
  return { token: cookie, byCookie: true };
}

async function verify(parts: TokensParts, context: Context) {
  const { token } = requireDraft(verifyBody, context, { id: null, current: null }).values;
  const { call } = context;
  const other = parts.others().find((part) => part.recognizes?.(token) === true);
  const firstVerdict = await (other?.authenticate(token, call, other.carriers[0]!) ?? parts.pairs.verify(token, call));
  const verdict = await checkAssurance(other ?? parts.scheme, firstVerdict, call, parts.logins.checkAssurance);
  const code = other === undefined ? "token_not_valid" : (other.rejectedAs ?? "invalid_token");
  if (verdict.kind === "accepted") return verified.reply(200, {}, { cache: "no-store" });
  throw verdict.kind === "rejected" ? await refused(parts, context, { code, ...verdict }) : problem(code);
}

/**
 * Returns the problem for a refused token. A forged or unknown token counts as a guess. Ends the request (429) after
 * too many guesses.
 */
async function refused({ throttle }: TokensParts, { call }: Context, rejection: Rejection): Promise<Error> {
  const { reason, detail, code = "token_not_valid" } = rejection;
  if (reason === "forged" || reason === "unknown") {
    await throttle.check(call);
    await throttle.fail(call);
  }
  return problem(code, { detail, headers: [["WWW-Authenticate", bearerRefusal(call, rejection)]] });
}
