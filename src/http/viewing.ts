import { alike, Call, type Reply } from "../core/call/call.ts";
import { isUnsafe } from "../core/call/cross-site.ts";
import type { Deprecated } from "../core/deprecation.ts";
import type { Eventually } from "../core/eventually.ts";
import { withoutParameters } from "../core/headers/query.ts";
import type { Identity } from "../core/identity.ts";
import { Problem } from "../core/problem/problem.ts";
import type { Key, Row } from "../store/store.ts";
import { tagIn } from "./answer/tags.ts";
import { belowBasePath } from "./base-path.ts";
import type { ServedEndpoint } from "./declarations/endpoint.ts";
import type { ServedMount } from "./declarations/mount.ts";
import { expandableNames } from "./declarations/relations.ts";
import type { FindRoute, Match } from "./declarations/routes.ts";
import type { KeyDecision } from "./mount/reads/expand/verdicts.ts";
import { judgeHopeful } from "./mount/reads/hopeful.ts";
import { findById, findVisible, requireParents } from "./mount/reads/reading.ts";
import { seenAt, seenBy } from "./mount/seen-by.ts";
import { readValues } from "./mount/values.ts";
import type { ServiceCore } from "./request/core.ts";
import { Exchange } from "./request/exchange.ts";
import { requirePermission } from "./request/permitting.ts";
import type { SentForm } from "./request/sent-form.ts";
import type { Offer, RequestedEndpoint, View } from "./request/view.ts";

type ViewHeaders = View["headers"];

/** The results of the steps of a request so far. */
export interface RequestState {
  readonly service: ServiceCore & { readonly find: FindRoute };
  readonly call: Call;
  readonly match: Match | null;
  readonly exchange: Exchange | null;
}

/** The view of a response for a format. Reads data only on demand. */
export class ServedView implements View {
  readonly #seen: RequestState;
  readonly #reply: Pick<Reply, "status" | "headers" | "tag">;
  #found: Map<string, Eventually<Row | null>> | null = null;

  // Created for every response, but few formats use it.
  constructor(seen: RequestState, reply: Pick<Reply, "status" | "headers" | "tag">) {
    this.#seen = seen;
    this.#reply = reply;
  }

  get call(): Call {
    return this.#seen.call;
  }

  get status(): number {
    return this.#reply.status;
  }

  get headers(): ViewHeaders {
    return this.#reply.headers ?? [];
  }

  get tag(): string | null {
    const { tag = null } = this.#reply;
    return tag === null ? null : tagIn(tag, null);
  }

  get query(): string {
    const { parameters } = this.#seen.service.schemeSet;
    const { query } = this.call;
    if (this.#hidesQuery) return "";
    return query === "" || parameters.size === 0 ? query : withoutParameters(query, (name) => parameters.has(name));
  }

  /**
   * True if any endpoint of the path has a secret query. The method is not checked, because a request may end before
   * its endpoint is known.
   */
  get #hidesQuery(): boolean {
    const { match } = this.#seen;
    return match !== null && [...match.route.methods.values()].some(({ query }) => query === "secret");
  }

  get basePath(): string {
    return this.#seen.service.basePath;
  }

  get place(): RequestedEndpoint | null {
    const { exchange, match } = this.#seen;
    if (exchange === null || match === null) return null;
    const { endpoint, action, params } = exchange;
    const mounted = match.route.methods.get(endpoint.method)?.mounted;
    const mount = mounted === undefined ? null : seenAt(mounted, exchange);
    return {
      path: match.route.path,
      params,
      method: endpoint.method,
      action,
      resource: mount?.resource ?? null,
      logsIn: endpoint.logsIn ?? false,
      hidesQuery: this.#hidesQuery,
      expandable: mount === null ? [] : expandableNames(mount),
      form: endpoint.form ?? null,
    };
  }

  get deprecations(): readonly Deprecated[] {
    return this.#seen.exchange?.deprecations ?? [];
  }

  get sent(): unknown {
    return this.#seen.exchange?.body?.value ?? null;
  }

  get sentForm(): SentForm | null {
    return this.#seen.exchange?.sentForm ?? null;
  }

  get identity(): Identity | null {
    return this.#seen.exchange?.identity ?? null;
  }

  get wasIdentified(): boolean {
    return this.#seen.exchange?.wasIdentified ?? false;
  }

  async offers(named?: string): Promise<readonly Offer[]> {
    const { service } = this.#seen;
    const address = named ?? belowBasePath(this.call.path, this.basePath) ?? this.call.path;
    const path = address.replace(/(?<=.)\/$/, "");
    const route = service.find(service.basePath + path)?.route;
    if (route === undefined) return [];
    const endpoints = [...route.methods.values()];
    const all = endpoints.map((endpoint) => ({ endpoint, path }));
    const [mounted] = endpoints.flatMap((endpoint) => (endpoint.own === undefined ? (endpoint.mounted ?? []) : []));
    const on = route.path.endsWith("/{id}") ? "record" : "collection";
    for (const action of mounted?.actions ?? []) {
      if (action.on !== on) continue;
      const at = `${path}/${action.name}`;
      const endpoint = service.find(service.basePath + at)?.route.methods.get(action.method);
      if (endpoint?.own !== undefined) all.push({ endpoint, path: at });
    }
    const offers = await Promise.all(all.map((each) => this.#offer(each.endpoint, each.path)));
    return offers.filter((each) => each !== null);
  }

  /** Returns a record. Reads it once for all offers. */
  #find(mount: ServedMount, exchange: Exchange): Eventually<Row | null> {
    this.#found ??= new Map();
    const at = `${mount.collection.name} ${exchange.key()}`;
    let found = this.#found.get(at);
    if (found === undefined) this.#found.set(at, (found = findById(mount, exchange)));
    return found;
  }

  /**
   * Returns the offer of one endpoint. Runs the steps of a request up to the handler, and returns null if they end with
   * a problem.
   */
  async #offer(endpoint: ServedEndpoint, path: string): Promise<Offer | null> {
    const { service } = this.#seen;
    const { method, action = "call", mounted, own } = endpoint;
    const match = service.find(service.basePath + path)!;
    const probe = this.#exchangeFor(endpoint, method, path, match.params);
    const isThere = await runOrNull(async () => {
      requirePermission(probe);
      if (mounted === undefined) return true;
      if (match.params["id"] !== undefined)
        return (await findVisible(mounted, probe, (mount, at) => this.#find(mount, at))) !== null;
      await requireParents(mounted, probe);
      const { parentColumn } = mounted.resource;
      if (parentColumn === null || !isUnsafe(method)) return true;
      const [isHopeful] = await judgeHopeful(mounted, probe, parentColumn, [match.params[parentColumn]!]);
      return isHopeful === true;
    });
    if (isThere !== true) return null;
    return {
      method,
      path,
      action,
      resource: mounted === undefined ? null : seenAt(mounted, probe).resource,
      name: own?.name ?? null,
      body: own?.body ?? null,
      request: mounted === undefined ? (endpoint.documentation?.request ?? null) : null,
      repeatable: endpoint.repeatable ?? false,
      description: own?.description ?? endpoint.documentation?.summary ?? null,
      async mayHold(field, ids) {
        if (mounted === undefined || own !== undefined) return ids;
        const judged = await judgeHopeful(mounted, probe, field, ids);
        return ids.filter((_, at) => judged[at] === true);
      },
    };
  }

  async ask(target: string): Promise<Reply | null> {
    const { service } = this.#seen;
    const match = service.find(service.basePath + target.replace(/\?.*$/s, ""));
    const endpoint = match?.route.methods.get("GET");
    if (match === null || endpoint === undefined) return null;
    const innerExchange = this.#exchangeFor(endpoint, "GET", target, match.params);
    return runOrNull(async () => {
      requirePermission(innerExchange);
      const reply = await endpoint.handle(innerExchange.context);
      if (reply.cache === "no-store" && this.#seen.exchange !== null) this.#seen.exchange.showsSecret = true;
      return reply;
    });
  }

  async values(path: string, ids: readonly Key[], field: string): Promise<ReadonlyMap<Key, unknown> | null> {
    const { service, exchange } = this.#seen;
    if (exchange === null) return null;
    let mount: ServedMount | null = null;
    const verdicts = new Map<Key, KeyDecision>();
    for (const id of ids) {
      const target = `${path}/${encodeURIComponent(String(id).toWellFormed())}`;
      const match = service.find(service.basePath + target);
      const endpoint = match?.route.methods.get("GET");
      if (endpoint?.mounted === undefined || endpoint.mounted.parent !== null) return null;
      // An empty text leads to the list.
      if (match!.params["id"] === undefined) continue;
      mount = endpoint.mounted;
      const innerExchange = this.#exchangeFor(endpoint, "GET", target, match!.params);
      const isAllowed = await runOrNull(() => {
        requirePermission(innerExchange);
        return true;
      });
      if (isAllowed === true)
        verdicts.set(innerExchange.key(), {
          decision: innerExchange.only === null ? "allow" : { only: innerExchange.only },
        });
    }
    if (mount === null) return null;
    const mounted = seenBy(mount, exchange);
    if (!mounted.shown.includes(field)) return null;
    return runOrNull(() => readValues(exchange, mounted, field, verdicts));
  }

  #exchangeFor(endpoint: ServedEndpoint, method: string, target: string, params: Match["params"]): Exchange {
    const { service, call, exchange } = this.#seen;
    const rawHeaders = withoutConditions(call.arrival.rawHeaders);
    const arrival = alike(call.arrival, { method, target: service.basePath + target, rawHeaders });
    const innerExchange = new Exchange(service, new Call(arrival, service.callContext), endpoint, params);
    if (exchange !== null) innerExchange.inherit(exchange);
    return innerExchange;
  }
}

/**
 * Removes the header fields that only the original request may use: the preconditions, and the fields of a body and of
 * a write.
 */
function withoutConditions(rawHeaders: readonly string[]): readonly string[] {
  return rawHeaders.filter((_, at) => !WRITE_HEADERS.test(rawHeaders[at - (at % 2)]!));
}

const WRITE_HEADERS = /^(?:if-(?:none-)?match|prefer|idempotency-key|content-.*|transfer-encoding)$/i;

/** Returns the result of `ask`. Returns null if `ask` throws a problem. */
async function runOrNull<T>(ask: () => Eventually<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}
