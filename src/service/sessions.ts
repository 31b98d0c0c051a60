import {
  authenticated,
  defineEndpoint,
  problem,
  requireSameSite,
  type Endpoint,
  type Exchange,
  type Reply,
} from "../index.ts";
import { ownOrAny, ownOrAnyUnlimited } from "./access.ts";
import { requireAccount } from "./accounts.ts";
import { clearedSessionCookie, requireOneCookie, sessionCookie, sessionCookieName } from "./cookies.ts";
import { credentials, logInWith } from "./credentials.ts";
import { objectSchema, orNull, textSchema, timeSchema, userSchema, type Documentation } from "./descriptions.ts";
import type { Parts } from "./parts.ts";
import { requireUser } from "./who.ts";

/** Logging in with a session cookie, and the list of one's sessions. */
export function sessionEndpoints(parts: Parts): readonly Endpoint[] {
  const path = "/api/session/";
  return [
    defineEndpoint({
      method: "POST",
      path,
      access: "open",
      consumes: ["application/json", "application/xml"],
      documentation: documentation.logIn,
      guard: fromSameSite,
      handle: (exchange) => logIn(parts, exchange),
    }),
    defineEndpoint({
      method: "GET",
      path,
      access: authenticated,
      documentation: documentation.whoIs,
      handle: (exchange) => whoIs(parts, exchange),
    }),
    defineEndpoint({
      method: "DELETE",
      path,
      access: "open",
      documentation: documentation.logOut,
      guard: withOneCookie,
      handle: (exchange) => logOut(parts, exchange),
    }),
    defineEndpoint({
      method: "GET",
      path: "/users/{id}/sessions",
      access: ownOrAny,
      documentation: documentation.list,
      handle: (exchange) => list(parts, exchange),
    }),
    defineEndpoint({
      method: "DELETE",
      path: "/users/{id}/sessions",
      access: ownOrAnyUnlimited,
      target: (exchange) => requireAccount(parts, exchange),
      documentation: documentation.endAll,
      handle: (exchange) => endAll(parts, exchange),
    }),
    defineEndpoint({
      method: "DELETE",
      path: "/users/{id}/sessions/{session_id:text}",
      access: ownOrAnyUnlimited,
      target: (exchange) => requireAccount(parts, exchange),
      documentation: documentation.endOne,
      handle: (exchange) => endOne(parts, exchange),
    }),
  ];
}

const listedSession = objectSchema("session", {
  id: textSchema,
  created_at: timeSchema,
  last_seen_at: timeSchema,
  expires_at: timeSchema,
  address: textSchema,
  user_agent: orNull(textSchema),
  current: { type: "boolean", description: "The caller came with this one." },
});

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
  list: {
    summary: "List a user's sessions",
    tag: "users",
    responses: {
      200: {
        description: "All that have not ended.",
        schema: { type: "array", items: listedSession, xml: { name: "sessions", wrapped: true } },
      },
    },
  },
  endAll: { summary: "End all sessions of a user", tag: "users", responses: { 204: { description: "Ended." } } },
  endOne: { summary: "End one session of a user", tag: "users", responses: { 204: { description: "Ended." } } },
} satisfies Record<string, Documentation>;

/** No other site may make a browser log in, or out. */
function fromSameSite({ call, service }: Exchange): void {
  requireSameSite(call, service.sameSiteOrigins);
}

function withOneCookie(exchange: Exchange): void {
  requireOneCookie(exchange.call, sessionCookieName(exchange.call));
  fromSameSite(exchange);
}

async function logIn(parts: Parts, exchange: Exchange): Promise<Reply> {
  const { call } = exchange;
  const account = await logInWith(parts, exchange);
  const created = await parts.sessions.create(account, call);
  const user = await requireUser(parts, account.id);
  return {
    status: 201,
    cache: "no-store",
    headers: [sessionCookie(call, created.id, created.expiresAt)],
    body: { kind: "data", value: { user, expires_at: new Date(created.expiresAt).toISOString() }, element: "session" },
  };
}

async function whoIs(parts: Parts, exchange: Exchange): Promise<Reply> {
  const { id, role, scheme, expiresAt } = exchange.requireIdentity();
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

async function logOut(parts: Parts, { call }: Exchange): Promise<Reply> {
  const cookie = requireOneCookie(call, sessionCookieName(call));
  if (cookie !== null) await parts.sessions.end(cookie);
  return { status: 204, cache: "no-store", headers: [clearedSessionCookie(call)] };
}

async function list(parts: Parts, exchange: Exchange): Promise<Reply> {
  const account = await requireAccount(parts, exchange);
  const { sessionId = null } = exchange.requireIdentity();
  const value = await parts.sessions.list(account.id, sessionId, exchange.call.now);
  return { status: 200, cache: "no-store", body: { kind: "data", value, element: "sessions", items: "session" } };
}

async function endAll(parts: Parts, exchange: Exchange): Promise<Reply> {
  const account = await requireAccount(parts, exchange);
  await parts.sessions.endAll(account.id);
  return { status: 204, cache: "no-store" };
}

async function endOne(parts: Parts, exchange: Exchange): Promise<Reply> {
  const account = await requireAccount(parts, exchange);
  const ended = await parts.sessions.endOne(account.id, exchange.params["session_id"] as string);
  if (!ended) throw problem("not_found");
  return { status: 204, cache: "no-store" };
}
