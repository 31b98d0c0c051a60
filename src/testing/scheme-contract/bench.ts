import { AssertionError } from "node:assert";
import { guessingCollections, makeGuessing } from "../../auth/guessing.ts";
import type { Carrier, Verdict } from "../../auth/scheme.ts";
import { createService } from "../../create-service.ts";
import { Call } from "../../http/call.ts";
import { defineEndpoint } from "../../http/endpoint.ts";
import type { Observation } from "../../observation.ts";
import { anyone, authenticated } from "../../permission/permission.ts";
import { DeclarationError } from "../../resource/resource.ts";
import { sqliteStore } from "../../store/sqlite/sqlite.ts";
import type { Collection, Store } from "../../store/store.ts";
import { callOf } from "../calls.ts";
import type { MakeSubject, SchemeSubject } from "./subject.ts";

/** A promise of every scheme, and the test that keeps it. */
export interface SchemeCheck {
  /** The promise. */
  readonly name: string;
  /** Rejects where the scheme does not keep it. */
  run(make: MakeSubject): Promise<void>;
}

/** A service with one scheme, for one check. */
export interface Bench {
  readonly subject: SchemeSubject;
  readonly clock: { now: number };
  readonly observed: readonly Observation[];
  /** Sends a request with these header fields. */
  ask(headers: readonly (readonly [string, string])[], path?: string): Promise<Answered>;
  /** Sends a request with a credential, in the first carrier where none is named. */
  present(credential: string, options?: { readonly carrier?: Carrier; readonly path?: string }): Promise<Answered>;
  /** Asks the scheme itself. */
  judge(credential: string, options?: { readonly carrier?: Carrier; readonly call?: Call }): Promise<Verdict>;
  /** A call to hand to the scheme itself, which notes the header fields that are read. */
  watchedCall(read: Set<string>): Call;
}

export interface Answered {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
}

/** Needs somebody. */
export const CLOSED = "/certified";
/** Needs nobody. */
export const OPEN = "/open";

/** Declares a check, which has a bench of its own each time. */
export function checkOf(name: string, keep: (bench: Bench) => Promise<void>): SchemeCheck {
  return { name, run: (make) => atBench(make, keep) };
}

async function atBench(make: MakeSubject, keep: (bench: Bench) => Promise<void>): Promise<void> {
  const clock = { now: Date.parse("2026-03-01T12:00:00Z") };
  const observed: Observation[] = [];
  const observe = (observation: Observation): void => void observed.push(observation);
  const store = growingStore();
  await store.open(guessingCollections);
  const guessing = makeGuessing({ store });
  const subject = await make({ store, guessing, observe, now: clock.now });
  const { scheme, headers: further = {} } = subject;
  const trustedProxies = scheme.carriers.some((carrier) => carrier.in === "proxy") ? ["127.0.0.1"] : [];
  const service = await createService({
    store,
    guessing,
    observe,
    schemes: [scheme],
    endpoints,
    trustedProxies,
    now: () => clock.now,
  }).catch((error: unknown) => {
    throw error instanceof DeclarationError ? new AssertionError({ message: error.message }) : error;
  });
  const along = Object.entries(further);

  async function ask(headers: readonly (readonly [string, string])[], path = CLOSED): Promise<Answered> {
    const rawHeaders = headers.flat();
    const {
      status,
      headers: sent,
      content,
    } = await service.respond({
      method: "GET",
      target: path,
      rawHeaders,
      peer: "127.0.0.1",
      encrypted: false,
      readBody: async () => Buffer.of(),
    });
    const named = new Map<string, string>();
    for (let at = 0; at < sent.length; at += 2) named.set(sent[at]!.toLowerCase(), sent[at + 1]!);
    return { status, headers: named, text: content === null ? "" : Buffer.from(content).toString() };
  }

  try {
    await keep({
      subject,
      clock,
      observed,
      ask,
      present: (credential, { carrier = scheme.carriers[0]!, path = CLOSED } = {}) =>
        ask([carried(carrier, credential), ...along], path),
      async judge(credential, { carrier = scheme.carriers[0]!, call } = {}) {
        return scheme.authenticate(
          credential,
          call ?? callOf({ headers: along, now: clock.now, trustedProxies }),
          carrier,
        );
      },
      watchedCall: (read) => new WatchedCall(callOf({ headers: along, now: clock.now, trustedProxies }), read),
    });
  } finally {
    await service.close();
  }
}

/** A store whose parts may be opened one after another, by whoever needs them. */
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

const endpoints = [
  defineEndpoint({
    method: "GET",
    path: CLOSED,
    access: authenticated,
    handle(context) {
      const { id, scheme } = context.requireIdentity();
      return { status: 200, body: { kind: "data", value: { id, scheme }, element: "certified" } };
    },
  }),
  defineEndpoint({
    method: "GET",
    path: OPEN,
    access: anyone,
    handle: () => ({ status: 200, body: { kind: "data", value: {}, element: "open" } }),
  }),
];

/** The header field that brings a credential. */
export function carried(carrier: Carrier, credential: string): readonly [name: string, value: string] {
  switch (carrier.in) {
    case "authorization":
      return ["Authorization", `${carrier.scheme} ${credential}`];
    case "cookie":
      return ["Cookie", `${carrier.name}=${credential}`];
    case "header":
    case "proxy":
      return [carrier.name, credential];
  }
}

/** Notes what is read. */
class WatchedCall extends Call {
  readonly #read: Set<string>;

  constructor(call: Call, read: Set<string>) {
    super(call.arrival, { now: () => call.now, makeRequestId: () => "request-1", readClient: () => call.client });
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
