import type { Action, PermissionRequest } from "../../access/permission/permission.ts";
import type { IdentifiedCaller } from "../../access/scheme/scheme-set.ts";
import type { Call } from "../../core/call/call.ts";
import { requireSameSite } from "../../core/call/cross-site.ts";
import { suggestion } from "../../core/checking/nearest.ts";
import type { Deprecated } from "../../core/deprecation.ts";
import { parsePrefer } from "../../core/headers/prefer.ts";
import { parseQuery, withoutParameters } from "../../core/headers/query.ts";
import type { Identity } from "../../core/identity.ts";
import { problem, type Issue } from "../../core/problem/problem.ts";
import type { FieldRule } from "../../resource/declaration/field.ts";
import type { StoreReader } from "../../store/reader.ts";
import type { Cause, Key, Narrowing, Outcome, Requirement, Transaction } from "../../store/store.ts";
import { buildCause } from "./cause.ts";
import type { Offering, ServiceCore } from "./core.ts";
import type { AnyBody, ReceivedBody, Refusal } from "./facts.ts";
import { FORMAT_PARAMETER, type Format } from "./format.ts";
import type { Hold } from "./held-bodies.ts";
import { tooLate } from "./in-flight.ts";
import type { LimitedEndpoint, LimitFields } from "./limiting.ts";
import type { Params } from "./path.ts";
import type { SentForm } from "./sent-form.ts";

const NONE: readonly never[] = [];

/** One request and the results of its steps so far. Only the folder `http` uses it. Other code gets its `context`. */
export class Exchange implements PermissionRequest {
  readonly service: ServiceCore;
  readonly call: Call;
  readonly endpoint: LimitedEndpoint;
  readonly params: Params;
  /** The part for handlers, hooks and permissions. */
  readonly context: Context;
  /** True if any code has read the identity. The response is then for this caller only. */
  identityWasRead = false;
  /** True if the format has added data that must not be stored. The response is then not cached either. */
  showsSecret = false;
  /** The reason why a credential was rejected, on an endpoint with `refusals: "reported"`. Otherwise null. */
  refusal: Refusal | null = null;
  /** The only rows that the permission allows. Null: all. */
  only: Narrowing | null = null;
  parentsAreRead: boolean | null = null; // True if the caller may read all parents. Null: not checked yet.
  /** The format of the response. */
  format: Format;
  body: ReceivedBody | null = null;
  /** The form of a page, if the request is one. Null for any other request. */
  sentForm: SentForm | null = null;
  /** The preferences that were followed so far. */
  followed: readonly string[] = NONE;
  /** The deprecated parts that the caller uses. */
  deprecations: readonly Deprecated[];
  hold: Hold | null = null;
  /** The remaining quota from the limiters. */
  limits: LimitFields = NONE;
  /** The octets of the body, after the first read. */
  octets: Uint8Array | Promise<Uint8Array> | null = null;
  /** The state of the body. `over`: the caller already has a response, and the rest of the body does not matter. */
  phase: "going" | "arriving" | "over" = "going";
  /** The memberships because of which the write of this attempt is allowed, by name. Null if there are none. */
  relied: Map<string, Requirement> | null = null;
  /** The number of writes that the store has not finished. */
  writing = 0;
  readonly now: number;
  #identified: IdentifiedCaller | null = null;
  #ruled: Map<FieldRule, boolean> | null = null;
  #preferences: ReadonlyMap<string, string> | null | undefined = undefined;

  constructor(service: ServiceCore, call: Call, endpoint: LimitedEndpoint, params: Params) {
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

  /** Sets the caller that the schemes have identified. Stays unset on open endpoints, which read no credential. */
  set identified(identified: IdentifiedCaller) {
    this.#identified = identified;
    this.#ruled = null;
  }

  /** Takes the place of the exchange in which a form arrived. */
  succeed(arrived: Exchange, form: SentForm | null): void {
    this.inherit(arrived);
    this.sentForm = form;
    this.hold = arrived.hold;
    this.octets = arrived.octets;
    this.limits = arrived.limits;
  }

  /** Copies the caller of another exchange. The response of that exchange is then for this caller only. */
  inherit(other: Exchange): void {
    this.#identified = other.#identified;
    this.#ruled = other.ruled;
    other.identityWasRead = true;
  }

  /** The decisions of the rules of fields for this caller. Each rule is asked once. */
  get ruled(): Map<FieldRule, boolean> {
    return (this.#ruled ??= new Map<FieldRule, boolean>());
  }

  get identity(): Identity | null {
    this.identityWasRead = true;
    return this.#identified === null ? null : this.#identified.identity;
  }

  /** True if the caller was identified. Reading this does not make a response private. */
  get wasIdentified(): boolean {
    return this.#identified !== null;
  }

  /** The identity for the log. Reading this does not make a response private. */
  get observedIdentity(): Identity | null {
    return this.#identified === null ? null : this.#identified.identity;
  }

  get ambient(): boolean {
    return this.#identified?.ambient ?? false;
  }

  /** Returns the caller. Ends the request with 401 or 403 if there is no valid credential. */
  requireIdentity(): Identity {
    const identity = this.identity;
    if (identity === null) throw this.service.schemeSet.challenge(this.call, this.#identified?.passedOver);
    return identity;
  }

  /** The cause of writes. Reading this does not make a response private, because no response contains it. */
  get cause(): Cause {
    return buildCause(this.call, this.observedIdentity);
  }

  /** Adds memberships that the write of this attempt requires. The same name means the same requirement. */
  rely(name: string, requirement: Requirement): void {
    this.relied ??= new Map();
    this.relied.set(name, requirement);
  }

  /** Writes a transaction with its cause. Throws if the caller was already answered because of a timeout. */
  write(transaction: Transaction): Promise<Outcome> {
    if (this.phase === "over") return Promise.reject(tooLate());
    this.writing++;
    return this.service.store.write({ cause: this.cause, ...transaction }).finally(() => this.writing--);
  }

  /** The query string as the client sent it, without credentials. */
  get query(): string {
    const [{ query }, { parameters }] = [this.call, this.service.schemeSet];
    const hasCredentials = query !== "" && parameters.size > 0 && this.endpoint.access !== "open";
    return hasCredentials ? withoutParameters(query, (name) => parameters.has(name)) : query;
  }

  /** Returns the query parameters in order, without credentials and without the format parameter. */
  parameters(): readonly (readonly [name: string, value: string])[] {
    if (this.endpoint.produces !== undefined || this.endpoint.method !== "GET") return parseQuery(this.query);
    return parseQuery(this.query).filter(([name]) => name !== FORMAT_PARAMETER);
  }

  /** The preferences of the caller (RFC 7240), by name. Null if there are none. */
  get preferences(): ReadonlyMap<string, string> | null {
    if (this.#preferences !== undefined) return this.#preferences;
    const header = this.call.list("prefer");
    return (this.#preferences = header === undefined ? null : parsePrefer(header));
  }

  /** Records that a preference is followed: `count=exact`. The response lists it in `Preference-Applied`. */
  follow(preference: string): void {
    this.followed = [...this.followed, preference];
  }

  /** Records that the caller uses deprecated parts. Each is announced once. */
  useDeprecated(used: readonly Deprecated[]): void {
    if (used.length > 0) this.deprecations = [...new Set([...this.deprecations, ...used])];
  }

  /** Returns the address of a path of this service (`/users`), as callers request it. */
  at(path: string): string {
    return this.service.basePath + path;
  }

  /** Returns a numeric id from the path. Throws a `TypeError` if the path has no such id. */
  id(name = "id"): number {
    const id = this.params[name];
    if (typeof id === "number") return id;
    throw new TypeError(`The path has no id ${name}${suggestion(name, Object.keys(this.params))}.`);
  }

  /** Returns the id of a record of a mounted resource in the path, for every type of id. */
  key(): Key {
    const { id } = this.params;
    if (id !== undefined) return id;
    throw new TypeError("The path has no id.");
  }
}

/**
 * Returns the exchange of a context. Only the folder `http` can call it: handlers must not reach the keys and counters
 * of the service.
 */
let readExchange: (context: Context) => Exchange;

/**
 * One request, for handlers, hooks and permissions: the call, the caller and the store. Valid until the request is
 * answered. Call the methods on the object: `context.id()` compiles, but a destructured `id()` does not.
 */
export class Context<P extends Params = Params, B extends AnyBody = AnyBody> implements PermissionRequest {
  readonly #exchange: Exchange;

  static {
    readExchange = (context) => context.#exchange;
  }

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /** The request as it arrived: its header fields, cookies, client address, time and id. */
  get call(): Call {
    return this.#exchange.call;
  }

  /** The arrival time of the request, in milliseconds since the epoch. */
  get now(): number {
    return this.#exchange.call.now;
  }

  /** The action for permissions. `call` for a custom endpoint. */
  get action(): Action {
    return this.#exchange.action;
  }

  /** The parameters of the path: `{name}` is a number, `{name:text}` and `{name:uuid}` are texts. */
  get params(): P {
    // The router has parsed them with the types that the path declares.
    return this.#exchange.params as P;
  }

  /** Returns a numeric parameter of the path. A UUID is in `params`. */
  id(this: Context, name = "id"): number {
    return this.#exchange.id(name);
  }

  /** Returns the query parameters in order, without the format parameter. */
  parameters(this: Context): readonly (readonly [name: string, value: string])[] {
    return this.#exchange.parameters();
  }

  /**
   * The request body, if the endpoint reads one. Null if there is none. Its value has the type of the schema that the
   * endpoint declares.
   */
  get body(): B {
    return this.#exchange.body as B; // The pipeline has read it with the schema.
  }

  /** The caller. Null if there is no valid credential. If this was read, no shared cache keeps the response. */
  get identity(): Identity | null {
    return this.#exchange.identity;
  }

  /** Returns the caller. Ends the request with 401 or 403 if there is no valid credential. */
  requireIdentity(this: Context): Identity {
    return this.#exchange.requireIdentity();
  }

  /**
   * The reason why a credential was rejected, on an endpoint with `refusals: "reported"`. Otherwise null. The caller
   * may still be known, from another cookie.
   */
  get refusal(): Refusal | null {
    return this.#exchange.refusal;
  }

  /** Ends a request from a page of another site with 403 `cross_site`. For endpoints that read a cookie themselves. */
  requireSameSite(this: Context): void {
    requireSameSite(this.#exchange.call, this.#exchange.service.sameSiteOrigins);
  }

  /** The reading methods of the store. */
  get store(): StoreReader {
    return this.#exchange.service.reader;
  }

  /** Writes all changes or none. Hooks return their changes instead, to be written together with the record. */
  write(this: Context, transaction: Transaction): Promise<Outcome> {
    return this.#exchange.write(transaction);
  }

  /** The cause of writes during the request, for custom transactions. */
  get cause(): Cause {
    return this.#exchange.cause;
  }

  /** Returns what a feature of the service offers. Throws a TypeError if the service does not have it. */
  use<Offer>(this: Context, feature: Offering<Offer>): Offer {
    return this.#exchange.service.use(feature);
  }

  /** The preferences of the caller (RFC 7240), by name. Null if there are none. */
  get preferences(): ReadonlyMap<string, string> | null {
    return this.#exchange.preferences;
  }

  /** Records that a preference is followed: `count=exact`. The response lists it in `Preference-Applied`. */
  follow(this: Context, preference: string): void {
    this.#exchange.follow(preference);
  }

  /** Returns the address of a path of this service (`/users`), as callers request it. */
  at(this: Context, path: string): string {
    return this.#exchange.at(path);
  }
}

/** Returns the exchange of a context. Only for this folder. */
export function getExchange(context: Context): Exchange {
  return readExchange(context);
}

/** Returns the problem for a request with invalid fields. */
export function invalid(issues: readonly Issue[]): Error {
  return problem(issues.every((issue) => issue.pointer.startsWith("?")) ? "invalid_query" : "invalid", { issues });
}
