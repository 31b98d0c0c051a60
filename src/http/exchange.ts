import type { Action, AllowedRows, PermissionRequest } from "../access/permission/permission.ts";
import type { Identified } from "../access/scheme/chain.ts";
import type { Call } from "../core/call/call.ts";
import { requireSameSite } from "../core/call/cross-site.ts";
import { suggestion } from "../core/checking/nearest.ts";
import type { Deprecated } from "../core/deprecation.ts";
import { parsePrefer } from "../core/headers/prefer.ts";
import { parseQuery, withoutParameters } from "../core/headers/query.ts";
import type { Identity } from "../core/identity.ts";
import { problem, type Issue } from "../core/problem/problem.ts";
import type { StoreReader } from "../store/reader.ts";
import type { Cause, Key, Outcome, Transaction } from "../store/store.ts";
import type { Hold } from "./body/held-bodies.ts";
import type { Offering, ServiceCore } from "./core.ts";
import type { AnyBody, MountedFacts, ReceivedBody, Refusal } from "./endpoint/facts.ts";
import type { Params } from "./endpoint/path.ts";
import { FORMAT_PARAMETER, type Format } from "./formats/format.ts";
import { tooLate } from "./limiting/in-flight.ts";
import type { LimitFields } from "./limiting/limiting.ts";

const NONE: readonly never[] = [];

/** One request on its way: the call and what the steps have found out about it so far. It stays in this room; others are given its `context`. */
export class Exchange implements PermissionRequest {
  readonly service: ServiceCore;
  readonly call: Call;
  readonly endpoint: MountedFacts;
  readonly params: Params;
  /** What handlers, hooks and permissions are given of it. */
  readonly context: Context;
  /** Whether anyone looked at the identity: the answer is then for this caller alone. */
  identityWasRead = false;
  /** What the format found out besides is kept by nobody, so neither is the answer. */
  showsUnkept = false;
  /** Why the caller was taken for nobody, where that is told. */
  refusal: Refusal | null = null;
  /** The only rows that the permission allows; null: all. */
  only: AllowedRows | null = null;
  /** The format of the answer. */
  format: Format;
  body: ReceivedBody | null = null;
  /** The preferences that were followed so far. */
  followed: readonly string[] = NONE;
  /** What the caller uses and will go. */
  deprecations: readonly Deprecated[];
  hold: Hold | null = null;
  /** What limiters say of what is left. */
  limits: LimitFields = NONE;
  /** The octets of the body, once somebody has asked for them. */
  octets: Uint8Array | Promise<Uint8Array> | null = null;
  /** Whether its body is on its way, or its caller has had an answer before everything was done. */
  phase: "going" | "arriving" | "over" = "going";
  /** How many writes are on their way to the store. */
  writing = 0;
  readonly now: number;
  #identified: Identified | null = null;
  #preferences: ReadonlyMap<string, string> | null | undefined = undefined;

  constructor(service: ServiceCore, call: Call, endpoint: MountedFacts, params: Params) {
    this.service = service;
    this.call = call;
    this.now = call.now;
    this.endpoint = endpoint;
    this.params = params;
    this.format = service.formats[0]!;
    this.deprecations = endpoint.deprecations ?? NONE;
    this.context = new Context(this);
  }

  get action(): Action {
    return this.endpoint.action ?? "call";
  }

  /** What the chain found; null on open endpoints, where nobody looked. */
  set identified(identified: Identified) {
    this.#identified = identified;
  }

  /** The same caller, for another request in their name. Whether that looks at the identity is known to this one too. */
  inherit(other: Exchange): void {
    this.#identified = other.#identified;
    other.identityWasRead = true;
  }

  get identity(): Identity | null {
    this.identityWasRead = true;
    return this.#identified === null ? null : this.#identified.identity;
  }

  /** Whether anyone has looked who is calling. Asking that does not make an answer private. */
  get wasIdentified(): boolean {
    return this.#identified !== null;
  }

  /** Who was found, for the log: looking here does not make an answer private. */
  get observedIdentity(): Identity | null {
    return this.#identified === null ? null : this.#identified.identity;
  }

  get ambient(): boolean {
    return this.#identified?.ambient ?? false;
  }

  /** The caller, on an endpoint that needs one. */
  requireIdentity(): Identity {
    const identity = this.identity;
    if (identity === null) throw this.service.chain.challenge(this.call, this.#identified?.passedOver);
    return identity;
  }

  /** Who is behind what is written. Looking here does not make an answer private: nobody is told. */
  get cause(): Cause {
    const { call, observedIdentity: identity } = this;
    return {
      userId: identity?.id ?? null,
      scheme: identity?.scheme ?? null,
      credentialId: identity?.keyId ?? identity?.sessionId ?? identity?.family ?? null,
      requestId: call.requestId,
      traceId: call.trace?.traceId ?? null,
      parentId: call.trace?.parentId ?? null,
    };
  }

  /** Writes, and says who caused it. Not for a caller who was told already that it took too long. */
  write(transaction: Transaction): Promise<Outcome> {
    if (this.phase === "over") return Promise.reject(tooLate());
    this.writing++;
    return this.service.store.write({ cause: this.cause, ...transaction }).finally(() => this.writing--);
  }

  /** The query as it was sent, without the credentials in it. */
  get query(): string {
    const { query } = this.call;
    const { parameters } = this.service.chain;
    const hasCredentials = query !== "" && parameters.size > 0 && this.endpoint.access !== "open";
    return hasCredentials ? withoutParameters(query, (name) => parameters.has(name)) : query;
  }

  /** The query, in order, without credentials and without what chose the format of the answer. */
  parameters(): readonly (readonly [name: string, value: string])[] {
    if (this.endpoint.produces !== undefined || this.endpoint.method !== "GET") return parseQuery(this.query);
    return parseQuery(this.query).filter(([name]) => name !== FORMAT_PARAMETER);
  }

  /** What the caller prefers (RFC 7240), by name; null: nothing. */
  get preferences(): ReadonlyMap<string, string> | null {
    if (this.#preferences !== undefined) return this.#preferences;
    const header = this.call.list("prefer");
    return (this.#preferences = header === undefined ? null : parsePrefer(header));
  }

  /** Says that a preference is followed: `count=exact`. It stands in the answer's `Preference-Applied`. */
  follow(preference: string): void {
    this.followed = [...this.followed, preference];
  }

  /** Says that the caller uses what will go; each is told once. */
  useDeprecated(used: readonly Deprecated[]): void {
    if (used.length > 0) this.deprecations = [...new Set([...this.deprecations, ...used])];
  }

  /** The address of a path of this service (`/users`), as callers ask for it. */
  at(path: string): string {
    return this.service.basePath + path;
  }

  /** A parameter of the path that is an id. */
  id(name = "id"): number {
    const id = this.params[name];
    if (typeof id === "number") return id;
    throw new TypeError(`The path has no id ${name}${suggestion(name, Object.keys(this.params))}.`);
  }

  /** The id in the path of a record of a mounted resource, whatever its ids are. */
  key(): Key {
    const { id } = this.params;
    if (id !== undefined) return id;
    throw new TypeError("The path has no id.");
  }
}

/** Only this room looks behind a context: whoever writes a handler has no way to the service's keys and counters. */
let lookBehind: (context: Context) => Exchange;

/**
 * One request, as far as handlers, hooks and permissions may know of it: what was called, who calls, what the store holds. It is good
 * until the request is answered. Its methods are called on it: taken out of it they do not compile.
 */
export class Context<P extends Params = Params, B extends AnyBody = AnyBody> implements PermissionRequest {
  readonly #exchange: Exchange;

  static {
    lookBehind = (context) => context.#exchange;
  }

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /** The request as it arrived: its header fields, cookies, client address, time and id. */
  get call(): Call {
    return this.#exchange.call;
  }

  /** When the request arrived, in milliseconds since the epoch. */
  get now(): number {
    return this.#exchange.call.now;
  }

  /** What permissions are asked about; `call` at an endpoint of one's own. */
  get action(): Action {
    return this.#exchange.action;
  }

  /** The parameters of the path: `{name}` is a number, `{name:text}` a text. */
  get params(): P {
    // The route has read them as the path declares them.
    return this.#exchange.params as P;
  }

  /** A parameter of the path that is a number; a UUID stands in `params`. */
  id(this: Context, name = "id"): number {
    return this.#exchange.id(name);
  }

  /** The query, in order, without what chose the format of the answer. */
  parameters(this: Context): readonly (readonly [name: string, value: string])[] {
    return this.#exchange.parameters();
  }

  /** The request body, if the endpoint reads one. Null if there is none. Its value has the type of the schema that the endpoint declares. */
  get body(): B {
    return this.#exchange.body as B; // The pipeline has read it by the schema.
  }

  /** Who is calling; null where nobody showed who they are. An answer for which this was read is kept by no shared cache. */
  get identity(): Identity | null {
    return this.#exchange.identity;
  }

  /** The caller. Ends the request with 401, or 403, where nobody showed who they are. */
  requireIdentity(this: Context): Identity {
    return this.#exchange.requireIdentity();
  }

  /** Why a credential was rejected, at an endpoint with `refusals: "told"`; else null. Beside a rejected cookie, another one may name the caller. */
  get refusal(): Refusal | null {
    return this.#exchange.refusal;
  }

  /** Ends the request with 403 `cross_site` where a page of another site made a browser send it (for endpoints that read or set a cookie). */
  requireSameSite(this: Context): void {
    requireSameSite(this.#exchange.call, this.#exchange.service.sameSiteOrigins);
  }

  /** What the store holds. */
  get store(): StoreReader {
    return this.#exchange.service.reader;
  }

  /** Writes all changes or none. Hooks give their changes back instead, so that they are written together with the record. */
  write(this: Context, transaction: Transaction): Promise<Outcome> {
    return this.#exchange.write(transaction);
  }

  /** Who is behind what is written during the request, for a transaction of one's own. */
  get cause(): Cause {
    return this.#exchange.cause;
  }

  /** What a feature of the service offers. Throws a TypeError where it is none of this service. */
  use<Offer>(this: Context, feature: Offering<Offer>): Offer {
    return this.#exchange.service.use(feature);
  }

  /** What the caller prefers (RFC 7240), by name; null: nothing. */
  get preferences(): ReadonlyMap<string, string> | null {
    return this.#exchange.preferences;
  }

  /** Says that a preference is followed: `count=exact`. It stands in the answer's `Preference-Applied`. */
  follow(this: Context, preference: string): void {
    this.#exchange.follow(preference);
  }

  /** The address of a path of this service (`/users`), as callers ask for it. */
  at(this: Context, path: string): string {
    return this.#exchange.at(path);
  }
}

/** What stands behind a context. For this room alone. */
export function exchangeOf(context: Context): Exchange {
  return lookBehind(context);
}

/** Ends a request whose fields are wrong. */
export function invalid(issues: readonly Issue[]): Error {
  return problem(issues.every((issue) => issue.pointer.startsWith("?")) ? "invalid_query" : "invalid", { issues });
}
