import type { Call, Reply } from "../../../core/call/call.ts";
import { findOwnPath } from "../../../core/html/link.ts";
import { problem, Problem } from "../../../core/problem/problem.ts";
import { builtInEndpoint } from "../../../http/endpoint/built-in.ts";
import { objectSchema, textSchema } from "../../../http/endpoint/documentation.ts";
import type { Endpoint, EndpointDocumentation } from "../../../http/endpoint/endpoint.ts";
import { invalid, type Context } from "../../../http/exchange.ts";
import type { Header } from "../cookies.ts";
import { vouchesForLevel2 } from "../issuers/declaration.ts";
import { ProviderFault, type ConfirmedLogin, type ProviderClient } from "./client.ts";
import type { Flow } from "./flows.ts";
import { requireLinkedAccount } from "./identity-accounts.ts";
import { linkIdentity } from "./linking.ts";
import { refusal, type ProviderLoginParts } from "./parts.ts";

const path = "/api/login";

/** The longest path of a page to show afterwards. It is stored in a cookie. */
const MOST_NEXT_CHARACTERS = 1024;

/** Returns the endpoints of logins at identity providers: the list of providers, the start, and the answer of a provider. */
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
      // The query contains the code and the state of a login.
      query: "secret",
      path: `${path}/{provider:text}/callback`,
      documentation: documentation.callback,
      handle: (context) => callback(parts, context, context.params.provider),
    }),
  ];
}

function list({ clients }: ProviderLoginParts, context: Context): Reply {
  const value = [...clients.values()].map(({ provider: { id, title } }) => ({
    id,
    title,
    start: startPath(context, id),
  }));
  return { status: 200, cache: "no-store", body: { kind: "data", value, element: "providers", items: "provider" } };
}

/** Returns the path at which a login at a provider starts. */
export function startPath(context: Context, provider: string): string {
  return context.at(`${path}/${provider}/start`);
}

async function start(parts: ProviderLoginParts, context: Context, id: string): Promise<Reply> {
  const client = requireClient(parts, id);
  const { next, link } = readStart(context);
  const { call } = context;
  if (link !== null)
    return redirect(await requireStartURL(parts, client, requireLink(parts, call, id, link), call), []);
  const made = { provider: id, next: next ?? context.at("/"), link: null };
  const { flow, header } = parts.flows.start(call, made);
  return redirect(await requireStartURL(parts, client, flow, call), [header]);
}

function requireClient({ clients }: ProviderLoginParts, id: string): ProviderClient {
  const client = clients.get(id);
  if (client === undefined) throw problem("not_found");
  return client;
}

/** Reads the query of a request that starts a login. */
function readStart(context: Context): { readonly next: string | null; readonly link: string | null } {
  const query = new Map<string, string>();
  for (const [name, value] of context.parameters()) {
    if (name !== "next" && name !== "link") throw invalidQuery(name, "unknown", "This parameter is not known.");
    if (query.has(name)) throw invalidQuery(name, "repeated", "Send this parameter once.");
    query.set(name, value);
  }
  const next = query.get("next");
  return { next: next === undefined ? null : requireNext(next, "?next"), link: query.get("link") ?? null };
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
  if (flow !== null && flow.link !== null && flow.provider === provider) return flow;
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

/** Receives the answer of a provider. */
async function callback(parts: ProviderLoginParts, context: Context, id: string): Promise<Reply> {
  const client = requireClient(parts, id);
  const { call } = context;
  const query = new URLSearchParams(context.parameters().map(([name, value]) => [name, value]));
  const [state = "", ...more] = query.getAll("state");
  const flow = more.length === 0 ? parts.flows.find(call, state) : null;
  if (flow === null || flow.provider !== id) throw refusal(parts, call, id, "this browser has not started it", []);
  const header = parts.flows.without(call, flow);
  const confirmed = await requireConfirmed(parts, client, { call, query, flow, header });
  return flow.link === null
    ? logIn(parts, context, client, { flow, confirmed, header })
    : redirect((await linkIdentity(parts, client.provider, { call, flow, confirmed, header }), flow.next), [header]);
}

/** Exchanges the answer of the provider for the claims of its user. Ends the request (401 `login_failed`) if it confirms no login. */
async function requireConfirmed(
  parts: ProviderLoginParts,
  client: ProviderClient,
  answer: { readonly call: Call; readonly query: URLSearchParams; readonly flow: Flow; readonly header: Header },
): Promise<ConfirmedLogin> {
  const { call, query, flow, header } = answer;
  const { id } = client.provider;
  if (!(await parts.flows.use(flow))) throw refusal(parts, call, id, "it was completed before", [header]);
  try {
    return await client.redeem(query, flow, parts.flows.deriveProof(flow), call.now);
  } catch (error) {
    if (!(error instanceof ProviderFault)) throw error;
    throw refusal(parts, call, id, error.message, [header]);
  }
}

async function logIn(
  parts: ProviderLoginParts,
  context: Context,
  { provider }: ProviderClient,
  { flow, confirmed, header }: { readonly flow: Flow; readonly confirmed: ConfirmedLogin; readonly header: Header },
): Promise<Reply> {
  const { call } = context;
  const account = await findAccount(parts, provider, confirmed, call, header);
  if (!account.active) throw refusal(parts, call, provider.id, `the account ${account.id} is not active`, [header]);
  const vouches = vouchesForLevel2(provider.level, confirmed.claims.acr);
  const proof = { method: "fed", at: call.now, ...(vouches ? { vouchesFor: 2 as const } : {}) } as const;
  try {
    const { begin } = parts;
    const reply = await parts.people.beginLogin(context, { account, proofs: [proof], begin, options: {} });
    return redirect(flow.next, [...(reply.headers ?? []), header]);
  } catch (error) {
    const page = parts.factorPage();
    if (!(error instanceof Problem) || error.code !== "factor_required" || page === null) throw error;
    const cookies = error.headers.filter(([name]) => name === "Set-Cookie");
    return redirect(`${context.at(page)}?next=${encodeURIComponent(flow.next)}`, [...cookies, header]);
  }
}

async function findAccount(
  parts: ProviderLoginParts,
  provider: ProviderClient["provider"],
  confirmed: ConfirmedLogin,
  call: Call,
  header: Header,
) {
  try {
    return await requireLinkedAccount(parts, provider, confirmed, { call, headers: [header] });
  } catch (error) {
    // The userinfo endpoint did not answer, or it named another user.
    if (error instanceof ProviderFault) throw refusal(parts, call, provider.id, error.message, [header]);
    throw error;
  }
}

function redirect(location: string, headers: readonly Header[]): Reply {
  return { status: 303, cache: "no-store", headers: [...headers, ["Location", location]] };
}

const documentation = {
  list: {
    summary: "List the identity providers",
    tag: "providers",
    responses: {
      200: {
        description: "In the order of the configuration.",
        schema: {
          type: "array",
          xml: { name: "providers" },
          items: objectSchema("provider", { id: textSchema, title: textSchema, start: textSchema }),
        },
      },
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
    ],
    responses: {
      303: {
        description: "To the provider.",
        headers: { "Set-Cookie": "The started logins of this browser.", Location: "The address at the provider." },
      },
    },
    problems: ["invalid_query", "not_found"],
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
    problems: ["login_failed", "identity_not_bound", "factor_required", "not_found"],
  },
} satisfies Record<string, EndpointDocumentation>;
