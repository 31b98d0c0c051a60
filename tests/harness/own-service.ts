import type { TestContext } from "node:test";
import {
  accepted,
  createService,
  rejected,
  type Identity,
  type Scheme,
  type Service,
  type ServiceOptions,
} from "../../src/door/index.ts";
import type { Observation } from "../../src/door/ops.ts";
import { emptyStore } from "./test-store.ts";

/** A service made only of toolkit parts, as an independent developer would make it. */
export interface Own {
  ask(method: string, path: string, options?: OwnAsk): Promise<OwnAnswer>;
  get(path: string, options?: OwnAsk): Promise<OwnAnswer>;
  readonly service: Service;
  readonly observed: Observation[];
}

export interface OwnAsk {
  /** The caller. Default: unknown. */
  readonly as?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface OwnAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read into it and assert what they find
  readonly json: any;
}

/** The people that `x-visitor` can name. */
export const people: Readonly<Record<string, Identity>> = {
  root: identity(1, "admin"),
  ada: identity(2),
  ben: identity(3),
  reader: { ...identity(4), scopes: ["books:read"] },
};

function identity(id: number, role: Identity["role"] = "user"): Identity {
  return { id, username: `user ${id}`, role, scheme: "visitor", scopes: null, expiresAt: null };
}

/** Accepts every name without a proof. */
export const visitor: Scheme = {
  name: "visitor",
  carriers: [{ in: "header", name: "X-Visitor" }],
  challenge: () => "Visitor",
  authenticate: (name) => (people[name] === undefined ? rejected("unknown") : accepted(people[name])),
};

/** Starts a service over an empty database and stops it with the test. */
export async function ownService(t: TestContext, options: Partial<ServiceOptions> = {}): Promise<Own> {
  const observed: Observation[] = [];
  const service = await createService({
    store: options.store ?? (await emptyStore()),
    schemes: [visitor],
    observe: (each) => void observed.push(each),
    ...options,
  });
  t.after(() => service.close());

  async function ask(method: string, path: string, { as, body, headers = {} }: OwnAsk = {}): Promise<OwnAnswer> {
    const sent = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
    const all = {
      ...(as === undefined ? {} : { "x-visitor": as }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    };
    const response = await service.fetch(new Request(`http://127.0.0.1${path}`, { method, headers: all, ...sent }), {
      peer: "127.0.0.1",
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: parse(text) };
  }

  return { ask, get: (path, options) => ask("GET", path, options), service, observed };
}

/** Returns the links of a `Link` header by their relation. */
export function readLinks({ headers }: { readonly headers: Headers }): Readonly<Record<string, string>> {
  const found = (headers.get("link") ?? "").matchAll(/<([^>]*)>; rel="(\w+)"/g);
  return Object.fromEntries([...found].map(([, target, rel]) => [rel, target]));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
