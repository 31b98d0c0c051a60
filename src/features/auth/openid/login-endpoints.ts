import { anyone } from "../../../access/permission/permission.ts";
import type { Call, Reply } from "../../../core/call/call.ts";
import { findOwnPath } from "../../../core/html/link.ts";
import { problem } from "../../../core/problem/problem.ts";
import { builtInEndpoint, type Endpoint, type EndpointDocumentation } from "../../../http/declarations/endpoint.ts";
import { defineResponse, listOf } from "../../../http/declarations/response.ts";
import { invalid, type Context } from "../../../http/request/exchange.ts";
import { text } from "../../../resource/kinds/fields.ts";
import { callback } from "./callback.ts";
import { ProviderFault, type ProviderClient } from "./client.ts";
import type { Flow, FlowPurpose } from "./flows.ts";
import { redirect, startPath, type ProviderLoginParts } from "./parts.ts";

const path = "/api/login";

/** The longest path of a page to show afterwards. It is stored in a cookie. */
const MOST_NEXT_CHARACTERS = 1024;

/**
 * Returns the endpoints of logins at identity providers: the list of providers, the start, and the answer of a
 * provider.
 */
export function providerLoginEndpoints(parts: ProviderLoginParts): readonly Endpoint[] {
  const open = {
    method: "GET",
    access: "open",
    logsIn: true,
    query: "read",
    // Only a browser follows the redirects, and it accepts pages.
    redirectsFor: ["text/html"],
  } as const;
  return [
    builtInEndpoint({
      method: "GET",
      path: `${path}/providers/`,
      access: "open",
      documentation: documentation.list,
      responses: { 200: providers },
      handle: (context) => list(parts, context),
    }),
    builtInEndpoint({
      ...open,
      path: `${path}/{provider:text}/start`,
      documentation: documentation.start,
      handle: (context) => start(parts, context, context.params.provider),
    }),
    builtInEndpoint({
      ...open,
      // A link and a confirmation need the login of the browser. A login ignores every credential, also a rejected one.
      access: anyone,
      refusals: "reported",
      // The query contains the code and the state of a login.
      query: "secret",
      path: `${path}/{provider:text}/callback`,
      documentation: documentation.callback,
      handle: (context) => callback(parts, context, requireClient(parts, context.params.provider)),
    }),
  ];
}

const providers = listOf(
  defineResponse({ name: "provider", fields: { id: text(), title: text(), start: text() } }),
  "providers",
);

function list({ clients }: ProviderLoginParts, context: Context) {
  const value = [...clients.values()].map(({ provider: { id, title } }) => ({
    id,
    title,
    start: startPath(context, id),
  }));
  return providers.reply(200, value, { cache: "no-store" });
}

async function start(parts: ProviderLoginParts, context: Context, id: string): Promise<Reply> {
  const client = requireClient(parts, id);
  const { next, link, confirms } = readStart(context);
  const { call } = context;
  if (link !== null)
    return redirect(await requireStartURL(parts, client, requireLink(parts, call, id, link), call), []);
  const purpose: FlowPurpose = confirms
    ? { kind: "confirm", waiting: await parts.confirming.requireConfirmation(context) }
    : { kind: "login" };
  const { flow, header } = parts.flows.start(call, { provider: id, next: next ?? context.at("/"), purpose });
  return redirect(await requireStartURL(parts, client, flow, call), [header]);
}

function requireClient({ clients }: ProviderLoginParts, id: string): ProviderClient {
  const client = clients.get(id);
  if (client === undefined) throw problem("not_found");
  return client;
}

/** Reads the query of a request that starts a login. */
function readStart(context: Context): {
  readonly next: string | null;
  readonly link: string | null;
  readonly confirms: boolean;
} {
  const query = new Map<string, string>();
  for (const [name, value] of context.parameters()) {
    if (name !== "next" && name !== "link" && name !== "confirm")
      throw invalidQuery(name, "unknown", "This parameter is not known.");
    if (query.has(name)) throw invalidQuery(name, "repeated", "Send this parameter once.");
    query.set(name, value);
  }
  const next = query.get("next");
  const confirm = query.get("confirm");
  if (confirm !== undefined && confirm !== "true")
    throw invalidQuery("confirm", "invalid", "Send true, or leave it out.");
  return {
    next: next === undefined ? null : requireNext(next, "?next"),
    link: query.get("link") ?? null,
    confirms: confirm === "true",
  };
}

/** Returns the page to show afterwards. Ends the request (400) if it is not a path of this service. */
export function requireNext(next: string, pointer: string): string {
  const isPath = next.startsWith("/") && next.length <= MOST_NEXT_CHARACTERS;
  const parsed = isPath ? findOwnPath(next) : null;
  if (parsed !== null && parsed.length <= MOST_NEXT_CHARACTERS) return parsed;
  throw invalid([{ pointer, code: "invalid", detail: "Send a path of this service, like /orders." }]);
}

function invalidQuery(name: string, code: string, detail: string): Error {
  return invalid([{ pointer: `?${name}`, code, detail }]);
}

/** Returns the flow that links an identity. Ends the request (400) if another browser has started it. */
function requireLink({ flows }: ProviderLoginParts, call: Call, provider: string, state: string): Flow {
  const flow = flows.find(call, state);
  if (flow !== null && flow.purpose.kind === "link" && flow.provider === provider) return flow;
  throw invalidQuery("link", "invalid", "This link is expired, or another browser has started it. Start again.");
}

async function requireStartURL(
  { flows, observe }: ProviderLoginParts,
  client: ProviderClient,
  flow: Flow,
  { now }: Call,
): Promise<string> {
  try {
    return await client.startURL(flow, flows.deriveProof(flow), now);
  } catch (error) {
    if (!(error instanceof ProviderFault)) throw error;
    observe({
      kind: "notice",
      level: "error",
      message: `The identity provider ${client.provider.id} cannot be used: ${error.message}.`,
    });
    throw problem("unavailable", {
      detail: "The identity provider does not answer at the moment.",
      headers: [["Retry-After", "30"]],
    });
  }
}

const documentation = {
  list: {
    summary: "List the identity providers",
    tag: "providers",
    responses: {
      200: { description: "In the order of the configuration." },
    },
  },
  start: {
    summary: "Start a login at an identity provider",
    tag: "providers",
    parameters: [
      {
        name: "next",
        in: "query",
        schema: { type: "string" },
        description: "The path of the page to show afterwards.",
      },
      { name: "link", in: "query", schema: { type: "string" }, description: "From `POST /users/{id}/identities`." },
      {
        name: "confirm",
        in: "query",
        schema: { type: "string", enum: ["true"] },
        description: "From `POST /api/login/confirm/`: confirms the login of this browser.",
      },
    ],
    responses: {
      303: {
        description: "To the provider.",
        headers: { "Set-Cookie": "The started logins of this browser.", Location: "The address at the provider." },
      },
    },
    problems: ["invalid_query", "login_expired", "not_found"],
  },
  callback: {
    summary: "Receive the answer of an identity provider",
    tag: "providers",
    responses: {
      303: {
        description: "Redirects to the page after the login, or to the page that asks for the second factor.",
        headers: { "Set-Cookie": "The session.", Location: "A path of this service." },
      },
    },
    problems: [
      "login_failed",
      "identity_not_bound",
      "factor_required",
      "login_expired",
      "not_found",
      "too_many_attempts",
    ],
  },
} satisfies Record<string, EndpointDocumentation>;
