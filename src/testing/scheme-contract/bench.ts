import { AssertionError } from "node:assert";
import { anyone, authenticated } from "../../access/permission/permission.ts";
import type { Carrier, Verdict } from "../../access/scheme/scheme.ts";
import { throttleCollections, loginThrottle } from "../../access/throttle/throttle.ts";
import { createService } from "../../composition/create-service.ts";
import { Call } from "../../core/call/call.ts";
import type { Observation } from "../../core/observation.ts";
import { defineEndpoint } from "../../http/declarations/endpoint.ts";
import { DeclarationError } from "../../resource/resource.ts";
import { sqliteStore } from "../../store/sqlite/sqlite.ts";
import type { Collection, Store } from "../../store/store.ts";
import { callOf } from "../calls.ts";
import type { MakeSubject, SchemeSubject } from "./subject.ts";

/** A promise of every scheme, and its test. */
export interface SchemeCheck {
  /** The promise. */
  readonly name: string;
  /** Rejects if the scheme breaks the promise. */
  run(make: MakeSubject): Promise<void>;
}

/** A service with one scheme, for one check. */
export interface Bench {
  readonly subject: SchemeSubject;
  readonly clock: { now: number };
  readonly observed: readonly Observation[];
  /** Sends a request with these parts. Default path: `CLOSED`. */
  ask(sent: CredentialParts, path?: string): Promise<BenchAnswer>;
  /** Sends a request with a credential. Default: in the first carrier. */
  present(
    credential: string,
    options?: { readonly carrier?: Carrier; readonly path?: string; readonly body?: string },
  ): Promise<BenchAnswer>;
  /** Passes a credential to the scheme directly, without a service. */
  judge(credential: string, options?: { readonly carrier?: Carrier; readonly call?: Call }): Promise<Verdict>;
  /** Returns a call for the scheme that records which header fields are read. */
  watchedCall(read: Set<string>): Call;
}

/** The parts of a request that contain credentials: header fields and a query. */
export interface CredentialParts {
  readonly headers?: readonly (readonly [string, string])[];
  readonly query?: readonly string[];
  /** The body. Default: the body of the subject. */
  readonly body?: string;
}

export interface BenchAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
}

/** The path that only known callers may read. */
export const CLOSED = "/certified";
/** The path that all callers may read. */
export const OPEN = "/open";

/** Declares a check. Each run of the check gets a new bench. */
export function createCheck(name: string, keep: (bench: Bench) => Promise<void>): SchemeCheck {
  return { name, run: (make) => atBench(make, keep) };
}

async function atBench(make: MakeSubject, keep: (bench: Bench) => Promise<void>): Promise<void> {
  const clock = { now: Date.parse("2026-03-01T12:00:00Z") };
  const observed: Observation[] = [];
  const observe = (observation: Observation): void => void observed.push(observation);
  const store = growingStore();
  await store.open(throttleCollections);
  const throttle = loginThrottle({ store });
  const subject = await make({ store, throttle, observe, now: clock.now });
  const { scheme, headers: further = {}, body: own } = subject;
  const method = own === undefined ? "GET" : "POST";
  const trustedProxies = scheme.carriers.some((carrier) => carrier.in === "proxy") ? ["127.0.0.1"] : [];
  const service = await createService({
    store,
    throttle,
    observe,
    schemes: [scheme],
    endpoints,
    trustedProxies,
    now: () => clock.now,
  }).catch((error: unknown) => {
    throw error instanceof DeclarationError ? new AssertionError({ message: error.message }) : error;
  });
  const along = Object.entries(further);

  async function ask({ headers = [], query = [], body = own }: CredentialParts, path = CLOSED): Promise<BenchAnswer> {
    const rawHeaders = headers.flat();
    const {
      status,
      headers: sent,
      content,
    } = await service.respond({
      method,
      target: query.length === 0 ? path : `${path}?${query.join("&")}`,
      rawHeaders,
      peer: "127.0.0.1",
      encrypted: false,
      readBody: async () => Buffer.from(body ?? ""),
    });
    const named = new Map<string, string>();
    for (let at = 0; at < sent.length; at += 2) named.set(sent[at]!.toLowerCase(), sent[at + 1]!);
    return { status, headers: named, text: content === null ? "" : Buffer.from(content).toString() };
  }

  function callTo(path: string): Call {
    const call = callOf({ method, path, headers: along, now: clock.now, trustedProxies });
    call.letRead(async () => Buffer.from(own ?? ""));
    return call;
  }

  function watched(call: Call, read: Set<string>): Call {
    const watching = new WatchedCall(call, read);
    watching.letRead(() => call.octets());
    return watching;
  }

  try {
    await keep({
      subject,
      clock,
      observed,
      ask,
      present(credential, { carrier = scheme.carriers[0]!, path = CLOSED, body } = {}) {
        const { headers = [], query = [] } = carried(carrier, credential);
        return ask({ headers: [...headers, ...along], query, ...(body === undefined ? {} : { body }) }, path);
      },
      async judge(credential, { carrier = scheme.carriers[0]!, call } = {}) {
        const { query = [] } = carried(carrier, credential);
        return scheme.authenticate(credential, call ?? callTo([CLOSED, ...query].join("?")), carrier);
      },
      watchedCall: (read) => watched(callTo(CLOSED), read),
    });
  } finally {
    await service.close();
  }
}

/** Returns a store that can be opened several times, each time with more collections. */
function growingStore(): Store {
  const store = sqliteStore({ path: ":memory:" });
  const opened = new Map<string, Collection>();
  return {
    ...store,
    async open(collections) {
      const further = collections.filter(({ name }) => !opened.has(name));
      if (further.length === 0) return;
      for (const collection of further) opened.set(collection.name, collection);
      await store.open([...opened.values()]);
    },
  };
}

const endpoints = (["GET", "POST"] as const).flatMap((method) => {
  const read = method === "POST" ? { consumes: ["application/json"], bodyOptional: true } : {};
  return [
    defineEndpoint({
      method,
      path: CLOSED,
      access: authenticated,
      ...read,
      handle(context) {
        const { id, scheme } = context.requireIdentity();
        const body = context.body === null ? {} : { body: Buffer.from(context.body.bytes).toString() };
        return { status: 200, body: { kind: "data", value: { id, scheme, ...body }, element: "certified" } };
      },
    }),
    defineEndpoint({
      method,
      path: OPEN,
      access: anyone,
      ...read,
      handle: () => ({ status: 200, body: { kind: "data", value: {}, element: "open" } }),
    }),
  ];
});

/** Returns the parts of a request that contain a credential. */
export function carried(carrier: Carrier, credential: string): CredentialParts {
  switch (carrier.in) {
    case "authorization":
      return { headers: [["Authorization", `${carrier.scheme} ${credential}`]] };
    case "cookie":
      return { headers: [["Cookie", `${carrier.name}=${credential}`]] };
    case "header":
    case "proxy":
      return { headers: [[carrier.name, credential]] };
    case "query":
      return { query: [`${carrier.name}=${encoded(credential)}`] };
  }
}

/** Percent-encodes a credential. Invalid Unicode stays unchanged, because clients can send it unchanged too. */
function encoded(credential: string): string {
  return credential.isWellFormed() ? encodeURIComponent(credential) : "%ed%a0%80";
}

/** Returns the names of the header fields that a carrier is read from. */
export function listHeaderFields(carrier: Carrier): readonly string[] {
  return (carried(carrier, "").headers ?? []).map(([name]) => name.toLowerCase());
}

/** Records which header fields are read. */
class WatchedCall extends Call {
  readonly #read: Set<string>;

  constructor(call: Call, read: Set<string>) {
    super(call.arrival, {
      now: () => call.now,
      makeRequestId: () => "request-1",
      readClient: () => call.client,
      about: call.about,
    });
    this.#read = read;
  }

  override header(name: string): string | undefined {
    this.#read.add(name);
    return super.header(name);
  }

  override headers(name: string): string[] {
    this.#read.add(name);
    return super.headers(name);
  }

  override list(name: string): string | undefined {
    this.#read.add(name);
    return super.list(name);
  }
}
