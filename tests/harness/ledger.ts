import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { ServiceProcess } from "./service-process.ts";

/**
 * The operations that clients sent, each exactly once, and the responses. `verify` compares them with the data of a
 * service that was killed or lost its database.
 */
export interface Ledger {
  /**
   * Sends requests until it is stopped. Six clients write, read and delete, and a seventh logs out. Each client pauses
   * after each round of its requests. A response must be right or a 503.
   */
  load(service: ServiceProcess, pauseMs?: number): Load;
  /** Repeats unanswered requests until they are answered. */
  settle(service: ServiceProcess): Promise<void>;
  /**
   * Checks that the service kept everything it acknowledged: nothing lost, torn, doubled or restored. Waits until every
   * process must know the last logout.
   */
  verify(service: ServiceProcess): Promise<void>;
  summary(): string;
}

/** Requests that go on until they are stopped. */
export interface Load {
  /** Resolves after each kind of write has been acknowledged once. */
  readonly begun: Promise<void>;
  /**
   * Resolves with the time of the next acknowledged write that is sent from now on, in milliseconds of
   * `performance.now()`.
   */
  nextWrite(): Promise<number>;
  /** The slowest response so far, in milliseconds. */
  readonly slowestMs: number;
  /** Stops the load. Waits for active requests, even if the service has stopped. */
  stop(): Promise<void>;
}

/** One write with its idempotency key. */
interface Entry {
  readonly key: string;
  readonly email: string;
  readonly name: string;
  /** The acknowledged id. Null if there was no response. */
  id: number | null;
  deletion: "none" | "sent" | "acknowledged";
}

type Headers = Readonly<Record<string, string>>;

const clientCount = 6;

/** The time until other processes know a logout, in milliseconds: see docs/scaling.md. */
const knownMs = 1000;

export function makeLedger(password: string): Ledger {
  const entries: Entry[] = [];
  /** The access tokens with an acknowledged logout. */
  const ended: string[] = [];
  /** The time of the last logout, by `performance.now()`. */
  let endedAt = -Infinity;
  let refused = 0;
  let unanswered = 0;

  /**
   * Sends a request and returns the response. Asserts that a 503 has Retry-After. Rejects if the service has stopped.
   */
  async function send(service: ServiceProcess, method: string, path: string, headers: Headers, body?: unknown) {
    const response = await fetch(service.address + path, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status === 503) {
      refused++;
      assert.match(response.headers.get("retry-after") ?? "", /^\d+$/, `${method} ${path}: ${text}`);
    }
    return { status: response.status, text, json: () => JSON.parse(text) as Record<string, unknown> };
  }

  async function logIn(service: ServiceProcess): Promise<Record<string, unknown> | null> {
    const answer = await send(service, "POST", "/api/token/", {}, { username: "admin", password });
    if (answer.status === 503) return null;
    assert.equal(answer.status, 200, answer.text);
    return answer.json();
  }

  async function requireLogin(service: ServiceProcess): Promise<Headers> {
    for (;;) {
      const pair = await logIn(service);
      if (pair !== null) return { authorization: `Bearer ${String(pair["access"])}` };
      await wait(20);
    }
  }

  async function write(service: ServiceProcess, headers: Headers, entry: Entry): Promise<boolean> {
    const { name, email } = entry;
    const answer = await send(service, "POST", "/users", { ...headers, "idempotency-key": entry.key }, { name, email });
    if (answer.status === 503) return false;
    assert.equal(answer.status, 201, answer.text);
    entry.id = answer.json()["id"] as number;
    return true;
  }

  async function remove(service: ServiceProcess, headers: Headers, entry: Entry): Promise<boolean> {
    const again = entry.deletion === "sent";
    entry.deletion = "sent";
    const { status, text } = await send(service, "DELETE", `/users/${entry.id}`, headers);
    if (status === 503) return false;
    assert.ok(status === 204 || (again && status === 404), text);
    entry.deletion = "acknowledged";
    return true;
  }

  async function read(service: ServiceProcess, headers: Headers, entry: Entry): Promise<void> {
    const { status, text } = await send(service, "GET", `/users/${entry.id}`, headers);
    if (status !== 503 && entry.deletion === "none") assert.equal(status, 200, text);
  }

  async function logOut(service: ServiceProcess): Promise<boolean> {
    const pair = await logIn(service);
    if (pair === null) return false;
    const { status, text } = await send(service, "DELETE", "/api/token/", {}, { refresh: pair["refresh"] });
    if (status === 503) return false;
    assert.ok(status >= 200 && status < 300, text);
    ended.push(String(pair["access"]));
    endedAt = performance.now();
    return true;
  }

  return {
    load(service, pauseMs = 0) {
      let stopped = false;
      const [wrote, loggedOut] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let written = Promise.withResolvers<number>();
      let slowestMs = 0;
      let since = 0;
      /** Repeats a step until the load is stopped, or until the service stops. */
      async function repeatStep(step: (headers: Headers) => Promise<void>): Promise<void> {
        try {
          const headers = await requireLogin(service);
          while (!stopped) {
            const start = performance.now();
            const before = refused;
            await step(headers);
            slowestMs = Math.max(slowestMs, performance.now() - start);
            // Waits after a 503, but not as long as Retry-After asks, so that the load continues.
            if (refused > before) await wait(20);
            if (pauseMs > 0) await wait(pauseMs);
          }
        } catch (error) {
          if (error instanceof assert.AssertionError) throw error;
          unanswered++;
        }
      }
      const busy = Array.from({ length: clientCount }, (_, at) =>
        repeatStep(async (headers) => {
          const key = randomUUID();
          const entry: Entry = { key, name: `Once ${at}`, email: `${key}@example.com`, id: null, deletion: "none" };
          entries.push(entry);
          const start = performance.now();
          if (!(await write(service, headers, entry))) return;
          wrote.resolve();
          if (start >= since) written.resolve(performance.now());
          await read(service, headers, entry);
          if (Math.random() < 0.2) await remove(service, headers, entry);
        }),
      );
      busy.push(repeatStep(async () => void ((await logOut(service)) && loggedOut.resolve())));
      const all = Promise.all(busy);
      // Prevents an unhandled rejection. The caller of `stop` receives the error.
      all.catch(() => undefined);
      return {
        begun: Promise.race([Promise.all([wrote.promise, loggedOut.promise]), all]).then(() => undefined),
        nextWrite() {
          since = performance.now();
          written = Promise.withResolvers();
          return Promise.race([written.promise, all.then(() => Infinity)]);
        },
        get slowestMs() {
          return slowestMs;
        },
        async stop() {
          stopped = true;
          await all;
        },
      };
    },
    async settle(service) {
      const headers = await requireLogin(service);
      for (const entry of entries) {
        while (entry.id === null && !(await write(service, headers, entry))) await wait(20);
        while (entry.deletion === "sent" && !(await remove(service, headers, entry))) await wait(20);
      }
    },
    async verify(service) {
      const headers = await requireLogin(service);
      const found: { id: number; email: string; name: string }[] = [];
      for (let next: string | undefined = "/users?limit=1000"; next !== undefined;) {
        const response = await fetch(service.address + next, { headers });
        found.push(...((await response.json()) as typeof found));
        next = /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
      }
      const shown = (each: Pick<Entry, "id" | "email" | "name">): string => `${each.id} ${each.email} ${each.name}`;
      const expected = entries.filter(({ deletion }) => deletion === "none").map(shown);
      assert.deepEqual(
        found
          .filter(({ id }) => id !== 1)
          .map(shown)
          .toSorted(),
        expected.toSorted(),
      );
      await wait(Math.max(0, endedAt + knownMs - performance.now()));
      const brought = await Promise.all(
        ended.map((token) => send(service, "GET", "/protected/", { authorization: `Bearer ${token}` })),
      );
      assert.deepEqual([...new Set(brought.map(({ status }) => status))], ended.length > 0 ? [401] : []);
    },
    summary() {
      const deleted = entries.filter(({ deletion }) => deletion === "acknowledged").length;
      return `${entries.length} writes, ${deleted} deletions, ${ended.length} logouts, ${refused} answered 503, ${unanswered} lanes cut off`;
    },
  };
}
