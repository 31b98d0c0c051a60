import { authenticated } from "../../../access/permission/permission.ts";
import type { Reply } from "../../../core/call/call.ts";
import { requireSameSite } from "../../../core/call/cross-site.ts";
import type { Identity } from "../../../core/identity.ts";
import { listMethods } from "../../../core/levels.ts";
import { prefersRedirect } from "../../../http/answer/choosing-format.ts";
import { builtInEndpoint, type Endpoint, type EndpointDocumentation } from "../../../http/declarations/endpoint.ts";
import { defineResponse } from "../../../http/declarations/response.ts";
import { formType } from "../../../http/formats/form.ts";
import { requireDraft } from "../../../http/mount/writes/drafting.ts";
import type { Context } from "../../../http/request/exchange.ts";
import { requireInTime } from "../../../http/request/in-time.ts";
import { dateTime, enumeration, text } from "../../../resource/kinds/fields.ts";
import { array } from "../../../resource/kinds/lists.ts";
import { defineResource } from "../../../resource/resource.ts";
import { redirectToFactorPage } from "../factors/factor-page.ts";
import type { Admission } from "../gate/admission.ts";
import type { Beginning, Current, FirstStep } from "../gate/contract.ts";
import type { AccountsContract, DeclaredNames } from "../people/contracts/accounts.ts";
import type { LoginsContract } from "../people/contracts/logins.ts";
import {
  credentials,
  loginBody,
  loginFields,
  MAX_LOGIN_BODY_BYTES,
  loginTypes,
  logInWith,
} from "../people/credentials.ts";
import { identityOf } from "../records/accounts.ts";
import {
  clearHostCookie,
  hostCookieName,
  setHostCookie,
  refuseLoginCSRF,
  requireOneCookie,
} from "../requests/cookies.ts";
import { userSchema } from "../requests/documentation.ts";
import { wayBack } from "../requests/way-back.ts";
import type { Sessions } from "./sessions.ts";

/** The dependencies of logins with a session cookie. */
export interface SessionParts {
  readonly accounts: Pick<AccountsContract, "find" | "requireUser" | "declared">;
  readonly logins: Pick<LoginsContract, "prove" | "beginLogin">;
  readonly sessions: Sessions;
  /** The name of the cookie. */
  readonly cookie: string;
  /** The service's origins, compared exactly. */
  readonly ownOrigins: readonly string[];
  /** The registered kind of login. It starts a session. */
  readonly begin: Beginning<{}>;
  /** Returns the page that asks for a second factor, without the base path. Returns null if the service has none. */
  factorPage(): string | null;
}

/** The dependencies of starting a session. */
export type StartingParts = Omit<SessionParts, "begin" | "factorPage">;

/** Returns the endpoints of logins with a session cookie. */
export function sessionEndpoints(parts: SessionParts): readonly Endpoint[] {
  const path = "/api/session/";
  const caller = describeCaller(parts.accounts.declared);
  return [
    builtInEndpoint({
      method: "POST",
      path,
      access: "open",
      logsIn: true,
      consumes: [...loginTypes, "application/xml"],
      maxBodyBytes: MAX_LOGIN_BODY_BYTES,
      redirectsFor: ["text/html"],
      documentation: documentation.logIn,
      guard: (context) => context.requireSameSite(),
      handle: (context) => logIn(parts, context),
    }),
    builtInEndpoint({
      method: "GET",
      path,
      access: authenticated,
      documentation: documentation.whoIs,
      responses: { 200: caller },
      handle: async (context) => caller.reply(200, await whoIs(parts, context), { cache: "no-store" }),
    }),
    builtInEndpoint({
      method: "DELETE",
      path,
      access: "open",
      documentation: documentation.logOut,
      guard: (context) => requireOwnCookie(parts, context),
      handle: (context) => logOut(parts, context),
    }),
    // HTML forms cannot send DELETE.
    builtInEndpoint({
      method: "POST",
      path: `${path}end/`,
      access: "open",
      consumes: loginTypes,
      bodyOptional: true,
      maxBodyBytes: MAX_LOGIN_BODY_BYTES,
      redirectsFor: ["text/html"],
      documentation: documentation.logOutByForm,
      guard(context) {
        requireOwnCookie(parts, context);
        requireOwnPage(parts, context);
      },
      handle: (context) => logOutByForm(parts, context),
    }),
  ];
}

const nextField = { next: text({ maxLength: 2048, optional: true }) };
const form = defineResource({ name: "form", plural: "forms", fields: { ...loginFields, ...nextField } });
const nextForm = defineResource({ name: "way_on", plural: "ways_on", fields: nextField });

const started = defineResponse({ name: "session", fields: { user: userSchema, expires_at: dateTime() } });

const describeCaller = ({ roles }: DeclaredNames) =>
  defineResponse({
    name: "session",
    fields: {
      user: userSchema,
      username: text({ optional: true }),
      role: enumeration(roles),
      scheme: text(),
      expires_at: dateTime({ optional: true }),
      amr: array(text(), {
        description: "The methods of the proofs (RFC 8176). Empty for a credential of a program.",
      }),
      level: { type: ["integer", "null"], enum: [1, 2, null] },
      auth_time: dateTime({ optional: true }),
    },
  });

const documentation = {
  logIn: {
    summary: "Log in for a session cookie",
    tag: "session",
    request: credentials,
    responses: {
      201: {
        description: "Logged in.",
        schema: started.schema,
        headers: { "Set-Cookie": "The session." },
      },
      303: {
        description:
          "Logged in by the form of a page: redirects to its field `next`, or to the page of the form. If the account needs a second factor: redirects to the page that asks for it.",
        headers: { "Set-Cookie": "The session, or the waiting login.", Location: "A path of this service." },
      },
    },
    problems: ["invalid_credentials", "factor_required", "login_expired", "cross_site", "too_many_attempts"],
  },
  whoIs: {
    summary: "Show who is logged in",
    tag: "session",
    responses: {
      200: {
        description: "The caller, under any scheme.",
      },
    },
  },
  logOut: {
    summary: "Log out of the session",
    tag: "session",
    responses: {
      204: {
        description: "Logged out. The answer is the same if there was no session.",
        headers: { "Set-Cookie": "Clears the cookie." },
      },
    },
    problems: ["cross_site", "duplicate_credentials"],
  },
  logOutByForm: {
    summary: "Log out by the form of a page",
    tag: "session",
    request: nextForm,
    responses: {
      204: {
        description: "Logged out. The answer is the same if there was no session.",
        headers: { "Set-Cookie": "Clears the cookie." },
      },
      303: {
        description: "The same for a page: redirects to its field `next`, or to the page of the form.",
        headers: { "Set-Cookie": "Clears the cookie.", Location: "A path of this service." },
      },
    },
    problems: ["cross_site", "duplicate_credentials"],
  },
} satisfies Record<string, EndpointDocumentation>;

/**
 * Ends the request if the cookie is sent twice, or if another site sent the request. So no other site can log a browser
 * out.
 */
function requireOwnCookie({ cookie }: SessionParts, context: Context): void {
  requireOneCookie(context.call, hostCookieName(context.call, cookie));
  context.requireSameSite();
}

/** Refuses a form of another site. Any site can make a browser send a form, even if it may not send JSON. */
function requireOwnPage({ ownOrigins }: SessionParts, { call }: Context): void {
  requireSameSite(call, ownOrigins);
}

async function logIn(parts: SessionParts, context: Context): Promise<Reply> {
  return context.body?.mediaType === formType
    ? logInByForm(parts, context)
    : begin(parts, context, await logInWith(parts.logins.prove, context));
}

async function logInByForm(parts: SessionParts, context: Context): Promise<Reply> {
  requireOwnPage(parts, context);
  const { values } = requireDraft(form, context, { id: null, current: null });
  const { next } = values;
  const proved = await parts.logins.prove(context, loginBody(values));
  if (!prefersRedirect(context)) return begin(parts, context, proved);
  const location = wayBack(context, next);
  try {
    const { body: _, ...reply } = await begin(parts, context, proved);
    return { ...reply, status: 303, headers: [...reply.headers!, ["Location", location]] };
  } catch (error) {
    return redirectToFactorPage(context, parts.factorPage(), error, { next: location });
  }
}

function begin({ logins, begin: beginning }: SessionParts, context: Context, proved: FirstStep): Promise<Reply> {
  return logins.beginLogin(context, { ...proved, begin: beginning, options: {} });
}

/** Starts a session. Returns the response that sets the cookie. Ends the previous session of the browser. */
export async function startSession(parts: StartingParts, context: Context, admission: Admission): Promise<Reply> {
  requireInTime(context);
  refuseLoginCSRF(context);
  const { call } = context;
  const before = call.cookie(hostCookieName(call, parts.cookie)) ?? null;
  const created = await parts.sessions.create(admission, call, before);
  return sessionReply(parts, context, admission, created);
}

/** The remaining lifetime of a replaced session, so that requests that the browser has already sent still succeed. */
const REPLACED_SESSION_MS = 10_000;

/**
 * Replaces a session with a new one that has the new proofs. Returns null if the session was deleted or has expired.
 */
export async function renewSession(
  parts: StartingParts,
  context: Context,
  admission: Admission,
  { id }: Current,
): Promise<Reply | null> {
  const { call } = context;
  if (!(await parts.sessions.isLive(id, call.now))) return null;
  const created = await parts.sessions.create(admission, call);
  await parts.sessions.endSoon(id, call.now + REPLACED_SESSION_MS);
  return sessionReply(parts, context, admission, created);
}

async function sessionReply(
  parts: StartingParts,
  context: Context,
  { userId }: Admission,
  created: { readonly id: string; readonly expiresAt: number },
): Promise<Reply> {
  const account = await parts.accounts.find(userId);
  const identity = account === null ? null : identityOf(account, "session");
  const user = await parts.accounts.requireUser(userId, identity);
  const headers = [setHostCookie(context.call, parts.cookie, created.id, created.expiresAt)];
  return started.reply(
    201,
    { user, expires_at: new Date(created.expiresAt).toISOString() },
    { cache: "no-store", headers },
  );
}

async function whoIs(parts: SessionParts, context: Context) {
  const identity = context.requireIdentity();
  const { id, role, scheme, expiresAt } = identity;
  const [user, account] = await Promise.all([parts.accounts.requireUser(id, identity), parts.accounts.find(id)]);
  return {
    user,
    username: account?.username ?? null,
    role,
    scheme,
    expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    ...shownProofs(identity),
  };
}

/** Returns the proofs of the login. A credential of a program has none. */
function shownProofs({ proofs = [], level, authTime }: Identity) {
  return {
    amr: listMethods(proofs),
    level: proofs.length === 0 || level === undefined || level === 0 ? null : level,
    auth_time: authTime === undefined ? null : new Date(authTime).toISOString(),
  };
}

async function logOut(parts: SessionParts, { call }: Context): Promise<Reply> {
  const cookie = requireOneCookie(call, hostCookieName(call, parts.cookie));
  if (cookie !== null) await parts.sessions.end(cookie);
  return { status: 204, cache: "no-store", headers: [clearHostCookie(call, parts.cookie)] };
}

async function logOutByForm(parts: SessionParts, context: Context): Promise<Reply> {
  const { next } = requireDraft(nextForm, context, { id: null, current: null }).values;
  const reply = await logOut(parts, context);
  if (!prefersRedirect(context)) return reply;
  return { ...reply, status: 303, headers: [...reply.headers!, ["Location", wayBack(context, next)]] };
}
