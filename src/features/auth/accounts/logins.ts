import type { Reply } from "../../../core/call/call.ts";
import type { Observation } from "../../../core/observation.ts";
import { problem } from "../../../core/problem/problem.ts";
import { readPage } from "../../../http/answer/paging.ts";
import { builtInEndpoint, type Endpoint, type EndpointDocumentation } from "../../../http/declarations/endpoint.ts";
import { defineResponse, listOf } from "../../../http/declarations/response.ts";
import { type Context, invalid } from "../../../http/request/exchange.ts";
import { boolean, dateTime, enumeration, text } from "../../../resource/kinds/fields.ts";
import type { LoginSource } from "../people/contracts/endings.ts";
import type { AccountsParts } from "../people/parts.ts";
import { requireAccount } from "../people/requiring.ts";
import { type ListedLogin, type LoginPage, mergeLogins, placeOf } from "../records/logins.ts";
import { ownOrAny, ownOrAnyUnlimited } from "../requests/access.ts";

/** Returns the endpoints that list and end a user's logins, by sessions and by tokens. */
export function loginListEndpoints(parts: AccountsParts): readonly Endpoint[] {
  const path = "/users/{id}/sessions";
  const target = (context: Context) => requireAccount(parts, context);
  return [
    builtInEndpoint({
      method: "GET",
      path,
      access: ownOrAny,
      query: "read",
      documentation: documentation.list,
      responses: { 200: logins },
      handle: (context) => list(parts, context),
    }),
    builtInEndpoint({
      method: "DELETE",
      takesForms: true,
      path,
      access: ownOrAnyUnlimited,
      query: "read",
      target,
      documentation: documentation.endAll,
      handle: (context) => endAll(parts, context),
    }),
    builtInEndpoint({
      method: "DELETE",
      takesForms: true,
      path: `${path}/{session_id:text}`,
      access: ownOrAnyUnlimited,
      target,
      documentation: documentation.endOne,
      handle: (context) => endOne(parts, context),
    }),
  ];
}

const logins = listOf(
  defineResponse({
    name: "session",
    fields: {
      id: text(),
      kind: enumeration(["session", "tokens"], { description: "`tokens`: by a refresh token that was used." }),
      created_at: dateTime(),
      last_seen_at: dateTime(),
      expires_at: dateTime(),
      address: text(),
      user_agent: text({ optional: true }),
      current: boolean({ description: "The login of this request." }),
    },
  }),
  "sessions",
);

const documentation = {
  list: {
    summary: "List a user's logins",
    tag: "users",
    parameters: [{ $ref: "#/components/parameters/limit" }, { $ref: "#/components/parameters/cursor" }],
    responses: {
      200: {
        description: "The active logins, the newest first.",
        headers: { Link: "The pages around this one." },
      },
    },
    problems: ["invalid_query"],
  },
  endAll: {
    summary: "End all logins of a user, or all except the caller's",
    tag: "users",
    parameters: [
      {
        name: "except",
        in: "query",
        description: "`current`: the login of the caller stays.",
        schema: { type: "string", enum: ["current"] },
      },
    ],
    responses: { 204: { description: "The sessions, refresh tokens and access tokens were revoked." } },
    problems: ["invalid_query"],
  },
  endOne: { summary: "End one login of a user", tag: "users", responses: { 204: { description: "Ended." } } },
} satisfies Record<string, EndpointDocumentation>;

async function list(parts: AccountsParts, context: Context) {
  const { id } = await requireAccount(parts, context);
  const caller = context.requireIdentity();
  const { items: value, headers } = await readPage<ListedLogin>(context, {
    placeOf,
    async read(query) {
      const page: LoginPage = { ...query, now: context.call.now };
      return mergeLogins(await Promise.all(parts.sources.map((source) => source.list(id, page, caller))), page);
    },
  });
  return logins.reply(200, value, { cache: "no-store", headers });
}

/**
 * The maximum number of attempts to end logins. An attempt fails if another request changes the account at the same
 * time. The next attempt reads the account again.
 */
const ATTEMPTS = 100;

async function endAll(parts: AccountsParts, context: Context): Promise<Reply> {
  const isOthers = readExcept(context);
  const identity = context.requireIdentity();
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const account = await requireAccount(parts, context);
    const isOwn = isOthers && identity.id === account.id;
    const ownLogin = {
      family: isOwn ? (identity.family ?? null) : null,
      sessionId: isOwn ? (identity.sessionId ?? null) : null,
    };
    const changes = parts.revocations.endLogins(account, ownLogin, context.call.now);
    if ((await parts.store.write({ changes })).kind !== "written") continue;
    logEnding(parts, context, account.id, isOthers ? "others" : "all");
    return { status: 204, cache: "no-store" };
  }
  throw problem("unavailable", { headers: [["Retry-After", "1"]] });
}

function readExcept(context: Context): boolean {
  const parameters = context.parameters();
  const issues = parameters.flatMap(([name, value], at) => {
    if (name !== "except")
      return [{ pointer: `?${name}`, code: "unknown_parameter", detail: "There is no such parameter." }];
    if (at > 0) return [{ pointer: "?except", code: "repeated", detail: "The parameter must be given once." }];
    return value === "current"
      ? []
      : [{ pointer: "?except", code: "invalid", detail: "Only the current login can be excepted: current." }];
  });
  if (issues.length > 0) throw invalid(issues);
  return parameters.length > 0;
}

async function endOne(
  parts: AccountsParts,
  context: Context<{ readonly id: number; readonly session_id: string }>,
): Promise<Reply> {
  const account = await requireAccount(parts, context);
  const id = context.params.session_id;
  if (!(await endAmong(parts.sources, account.id, id, context.call.now))) throw problem("not_found");
  logEnding(parts, context, account.id, "one");
  return { status: 204, cache: "no-store" };
}

async function endAmong(sources: readonly LoginSource[], userId: number, id: string, now: number): Promise<boolean> {
  for (const source of sources) if (await source.endOne(userId, id, now)) return true;
  return false;
}

type Which = Extract<Observation, { kind: "logins_ended" }>["which"];

function logEnding({ observe }: AccountsParts, context: Context, userId: number, which: Which): void {
  const { requestId } = context.call;
  observe({ kind: "logins_ended", requestId, userId, which, by: context.requireIdentity().id });
}
