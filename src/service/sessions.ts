import {
  authenticated,
  defineEndpoint,
  defineResource,
  formType,
  prefersRedirect,
  requireDraft,
  requireSameSite,
  text,
  type Account,
  type Endpoint,
  type Context,
  type Reply,
} from "../index.ts";
import { clearedSessionCookie, requireOneCookie, sessionCookie, sessionCookieName } from "./cookies.ts";
import { credentials, loginFields, MAX_LOGIN_BODY_BYTES, loginTypes, logInWith, requireLogin } from "./credentials.ts";
import { objectSchema, orNull, textSchema, timeSchema, userSchema, type Documentation } from "./descriptions.ts";
import type { Parts } from "./parts.ts";
import { wayBack } from "./way-back.ts";
import { requireUser } from "./who.ts";

/** Logging in with a session cookie. */
export function sessionEndpoints(parts: Parts): readonly Endpoint[] {
  const path = "/api/session/";
  return [
    defineEndpoint({
      method: "POST",
      path,
      access: "open",
      logsIn: true,
      consumes: [...loginTypes, "application/xml"],
      maxBodyBytes: MAX_LOGIN_BODY_BYTES,
      redirectsFor: ["text/html"],
      documentation: documentation.logIn,
      guard: fromSameSite,
      handle: (context) => logIn(parts, context),
    }),
    defineEndpoint({
      method: "GET",
      path,
      access: authenticated,
      documentation: documentation.whoIs,
      handle: (context) => whoIs(parts, context),
    }),
    defineEndpoint({
      method: "DELETE",
      path,
      access: "open",
      documentation: documentation.logOut,
      guard: withOneCookie,
      handle: (context) => logOut(parts, context),
    }),
  ];
}

const documentation = {
  logIn: {
    summary: "Log in for a session cookie",
    tag: "session",
    request: credentials,
    responses: {
      201: {
        description: "Logged in.",
        schema: objectSchema("session", { user: userSchema, expires_at: timeSchema }),
        headers: { "Set-Cookie": "The session." },
      },
      303: {
        description: "Logged in by the form of a page: back to where it came from, or to what its field `next` names.",
        headers: { "Set-Cookie": "The session.", Location: "A path of this service." },
      },
    },
    problems: ["invalid_credentials", "cross_site", "too_many_attempts"],
  },
  whoIs: {
    summary: "Who is logged in",
    tag: "session",
    responses: {
      200: {
        description: "The caller, under any scheme.",
        schema: objectSchema("session", {
          user: userSchema,
          username: orNull(textSchema),
          role: { type: "string", enum: ["user", "admin"] },
          scheme: textSchema,
          expires_at: orNull(timeSchema),
        }),
      },
    },
  },
  logOut: {
    summary: "Log out of the session",
    tag: "session",
    responses: {
      204: { description: "The session has ended, if there was one.", headers: { "Set-Cookie": "Clears the cookie." } },
    },
    problems: ["cross_site", "duplicate_credentials"],
  },
} satisfies Record<string, Documentation>;

/** No other site may make a browser log in, or out. */
function fromSameSite(context: Context): void {
  context.requireSameSite();
}

function withOneCookie(context: Context): void {
  requireOneCookie(context.call, sessionCookieName(context.call));
  fromSameSite(context);
}

const form = defineResource({
  name: "form",
  plural: "forms",
  fields: { ...loginFields, next: text({ maxLength: 2048, optional: true }) },
});

async function logIn(parts: Parts, context: Context): Promise<Reply> {
  return context.body?.mediaType === formType
    ? logInByForm(parts, context)
    : start(parts, context, await logInWith(parts, context));
}

/** Any site can make a browser send a form, so that those who may send JSON may not send one. */
async function logInByForm(parts: Parts, context: Context): Promise<Reply> {
  const { call } = context;
  const { publicURL } = parts.settings;
  requireSameSite(call, publicURL === null ? [] : [new URL(publicURL).origin]);
  const { username, password, next } = requireDraft(form, context, { id: null, current: null }).values;
  const account = await requireLogin(parts, context, username, password);
  const { body, ...reply } = await start(parts, context, account);
  if (!prefersRedirect(context)) return { ...reply, body: body! };
  return { ...reply, status: 303, headers: [...reply.headers!, ["Location", wayBack(context, next)]] };
}

async function start(parts: Parts, { call }: Context, account: Account): Promise<Reply> {
  const created = await parts.sessions.create(account, call, call.cookie(sessionCookieName(call)) ?? null);
  const user = await requireUser(parts, account.id);
  return {
    status: 201,
    cache: "no-store",
    headers: [sessionCookie(call, created.id, created.expiresAt)],
    body: { kind: "data", value: { user, expires_at: new Date(created.expiresAt).toISOString() }, element: "session" },
  };
}

async function whoIs(parts: Parts, context: Context): Promise<Reply> {
  const { id, role, scheme, expiresAt } = context.requireIdentity();
  const [user, account] = await Promise.all([requireUser(parts, id), parts.accounts.find(id)]);
  const value = {
    user,
    username: account?.username ?? null,
    role,
    scheme,
    expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
  };
  return { status: 200, cache: "no-store", body: { kind: "data", value, element: "session" } };
}

async function logOut(parts: Parts, { call }: Context): Promise<Reply> {
  const cookie = requireOneCookie(call, sessionCookieName(call));
  if (cookie !== null) await parts.sessions.end(cookie);
  return { status: 204, cache: "no-store", headers: [clearedSessionCookie(call)] };
}
