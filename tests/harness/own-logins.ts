import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { AccountsFeature, AccountsOptions } from "../../src/door/auth.ts";
import {
  authenticated,
  createService,
  defineResource,
  mount,
  Secret,
  text,
  type Feature,
  type Service,
  type ServiceOptions,
} from "../../src/door/index.ts";
import { emptyStore } from "./test-store.ts";

// Custom logins as an independent developer would write them: with `accounts()` on a store, and only with the public
// exports.

export const password = "difference-engine";
export const email = "ada@example.com";
export const secret = new Secret("a secret of the service, long enough");
export const notes = mount(defineResource({ name: "note", fields: { body: text() } }), { permission: authenticated });

/** Options with open registration and a cheap hash. */
export const open = {
  registration: "open",
  passwordCost: { memoryKiB: 8, passes: 1, lanes: 1 },
} satisfies AccountsOptions;

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- a test says what it expects by looking
  readonly json: any;
  readonly text: string;
}

export interface Own {
  readonly service: Service;
  readonly clock: { now: number };
  ask(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answered>;
}

/** Starts a service with these features, in which ada (1) has signed up. */
export async function serve(
  t: TestContext,
  people: AccountsFeature,
  logins: readonly Feature[],
  more: Partial<ServiceOptions> = {},
): Promise<Own> {
  const clock = { now: Date.parse("2026-03-01T12:00:00Z") };
  const service = await createService({
    store: more.store ?? (await emptyStore()),
    secret,
    features: [...logins, people],
    mounts: [notes],
    trustedProxies: ["10.0.0.1"],
    observe: null,
    now: () => clock.now,
    ...more,
  });
  t.after(() => service.close());

  async function ask(method: string, path: string, body?: unknown, headers = {}): Promise<Answered> {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const type = body === undefined ? {} : { "content-type": "application/json" };
    const request = new Request(`http://127.0.0.1${path}`, { method, headers: { ...type, ...headers }, ...sent });
    const peer = "x-remote-user" in headers ? "10.0.0.1" : "127.0.0.1";
    const response = await service.fetch(request, { peer });
    const read = await response.text();
    return { status: response.status, headers: response.headers, text: read, json: parse(read) };
  }

  const signedUp = await ask("POST", "/users", { name: "Ada", email, password });
  assert.equal(signedUp.status, 201, signedUp.text);
  return { service, clock, ask, get: (path, headers) => ask("GET", path, undefined, headers) };
}

function parse(read: string): unknown {
  try {
    return JSON.parse(read);
  } catch {
    return undefined;
  }
}
