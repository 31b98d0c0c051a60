import assert from "node:assert/strict";
import type { ServiceProcess } from "../tests/harness/service-process.ts";

/** A request that is sent again and again. */
export interface Request {
  /** Default: `GET`. */
  readonly method?: string;
  /** The path. `{n}` becomes a number that is unique in the run. */
  readonly path: string;
  /** The body. `{n}` is replaced here too. */
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Scenario {
  readonly name: string;
  /**
   * The server to compare with: a bare one that sends the same bytes, or one written by hand that does the same work.
   */
  readonly beside: "bare" | "by hand";
  /** The promised ratio, if there is one. */
  readonly target?: number;
  /**
   * True: another process commits a thousand times a second during the measurement, so that caches do not help for
   * long.
   */
  readonly whileOthersWrite?: true;
  /** Fills the service and returns the request. */
  prepare(service: ServiceProcess): Promise<Request>;
}

export const scenarios: readonly Scenario[] = [
  {
    name: "a user by id, Bearer",
    beside: "bare",
    target: 0.65,
    async prepare(service) {
      const headers = await logIn(service);
      return { path: await createUser(service, headers, "grace@example.com"), headers };
    },
  },
  {
    name: "a user by id, remembered Basic",
    beside: "bare",
    async prepare(service) {
      const credentials = Buffer.from(`admin:${service.password}`).toString("base64");
      return { path: "/users/1", headers: { authorization: `Basic ${credentials}` } };
    },
  },
  { name: "a page of 100 users, Bearer", beside: "by hand", target: 0.8, prepare: preparePage },
  {
    name: "the same, 1000 commits a second beside it",
    beside: "by hand",
    whileOthersWrite: true,
    prepare: preparePage,
  },
  {
    name: "the same, another condition in each request",
    beside: "by hand",
    target: 0.7,
    async prepare(service) {
      const { headers } = await preparePage(service);
      return { path: "/users?limit=100&id[gt]=0&id[lt]={n}", headers };
    },
  },
];

/** Fills the service with 100 users, and returns a request for all of them. */
export async function preparePage(service: ServiceProcess): Promise<Request> {
  const headers = await logIn(service);
  const { length } = (await (await fetch(`${service.address}/users`, { headers })).json()) as unknown[];
  for (let user = length; user < 100; user++) await createUser(service, headers, `user${user}@example.com`);
  return { path: "/users?limit=100", headers };
}

/** Returns a request that creates a user, and a request that reads one, for comparison. */
export async function prepareWriting(
  service: ServiceProcess,
): Promise<{ readonly read: Request; readonly write: Request }> {
  const headers = await logIn(service);
  return {
    read: { path: "/users/1", headers },
    write: {
      method: "POST",
      path: "/users",
      headers: { ...headers, "content-type": "application/json" },
      body: '{"name":"Grace Hopper","email":"grace{n}@example.com"}',
    },
  };
}

/** Returns header fields with the administrator's access token. */
export async function logIn({
  address,
  password,
}: Pick<ServiceProcess, "address" | "password">): Promise<Record<string, string>> {
  const reply = await fetch(`${address}/api/token/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "admin", password }),
  });
  assert.equal(reply.status, 200);
  const { access } = (await reply.json()) as { access: string };
  return { authorization: `Bearer ${access}` };
}

async function createUser(
  { address }: ServiceProcess,
  headers: Record<string, string>,
  email: string,
): Promise<string> {
  const reply = await fetch(`${address}/users`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ name: "Grace Hopper", email }),
  });
  assert.equal(reply.status, 201);
  return new URL(reply.headers.get("location") ?? "", address).pathname;
}
