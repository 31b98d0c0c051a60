import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { TestContext } from "node:test";
import { consolePages } from "../../src/door/features.ts";
import {
  anyone,
  createService,
  defineResource,
  integer,
  json,
  mount,
  text,
  type Service,
} from "../../src/door/index.ts";
import { references } from "../../src/door/resources.ts";
import type { TestDatabase } from "./both-databases.ts";
import { measurePieces } from "./busiest-piece.ts";
import { visitor } from "./own-service.ts";
import { slowness } from "./slowness.ts";
import { weighed, type WeighedStore } from "./weighed-store.ts";

/**
 * The longest piece, in milliseconds. A piece is work during which the event loop serves no other request
 * (`docs/assurance.md`).
 */
const MOST_MS = 50;
/** The most octets that one request may read from the store (`docs/operation/limits.md`). */
const MOST_OCTETS = 8 * 1024 * 1024;
/**
 * The most measurements of one request. One short measurement is enough, because a busy machine and garbage collections
 * only add time.
 */
const MEASUREMENTS = 4;

const tags = defineResource({ name: "tag", fields: { label: text({ default: "l" }) } });
const posts = defineResource({
  name: "post",
  fields: {
    title: text({ default: "t" }),
    n: integer({ default: 0 }),
    tags: references(tags, { optional: true }),
    meta: json({ optional: true }),
  },
});

/** A request with an array. */
export interface Asked {
  readonly method: "POST" | "PATCH";
  readonly body: readonly unknown[];
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A service over a database, whose requests are measured. */
export interface Asking extends Pick<WeighedStore, "takeOctets"> {
  readonly service: Service;
  /** Sends a request without measuring it. */
  ask(options: Asked): Promise<Response>;
  /**
   * Sends the same request `atOnce` times concurrently. Requires short pieces and few octets read from the store.
   * Measures again if a piece was too long, so the request must cause the same work each time.
   */
  require(title: string, options: Asked, statuses: readonly number[], atOnce?: number): Promise<readonly Response[]>;
  /**
   * Makes the same requirements of a request with an idempotency key and of its repeat. Each measurement uses a new
   * key.
   */
  requireKeyed(options: Asked, status: number): Promise<void>;
}

/** Starts a service over a database and stops it with the test. */
export async function asking(t: TestContext, database: TestDatabase): Promise<Asking> {
  const { store, takeOctets } = weighed(database.open());
  const service = await createService({
    store,
    schemes: [visitor],
    features: [consolePages({ title: "t" })],
    mounts: [mount(tags, { permission: anyone, arrays: true }), mount(posts, { permission: anyone, arrays: true })],
    observe: () => undefined,
  });
  t.after(() => service.close());

  const buildRequest = ({ method, body, path = "/posts", headers }: Asked): Request =>
    new Request(`http://127.0.0.1${path}`, {
      method,
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", "x-visitor": "ada", ...headers },
    });
  const send = (request: Request): Promise<Response> => service.fetch(request, { peer: "127.0.0.1" });

  /**
   * Returns the responses, and the longest piece in milliseconds. Requires one of the statuses, and at most
   * `MOST_OCTETS` for each request.
   */
  async function measure(what: string, options: Asked, statuses: readonly number[], atOnce: number) {
    const requests = Array.from({ length: atOnce }, () => buildRequest(options));
    takeOctets();
    const measured = await measurePieces(() => Promise.all(requests.map(send)));
    for (const { status } of measured.result) assert.ok(statuses.includes(status), `${what}: ${status}`);
    const octets = takeOctets();
    assert.ok(octets <= MOST_OCTETS * atOnce, `${what}: ${octets} octets`);
    const { result, busiestMs } = measured;
    return { result, busiestMs: busiestMs > MOST_MS ? busiestMs / slowness() : busiestMs };
  }

  return {
    service,
    takeOctets,
    ask: (options) => send(buildRequest(options)),
    async require(title, options, statuses, atOnce = 1) {
      const what = `${database.engine}, ${title}`;
      const pieces: number[] = [];
      for (let at = 0; at < MEASUREMENTS; at++) {
        const { result, busiestMs } = await measure(what, options, statuses, atOnce);
        if (busiestMs <= MOST_MS) return result;
        pieces.push(busiestMs);
      }
      return assert.fail(`${what}: pieces of ${pieces.join(", ")} ms`);
    },
    async requireKeyed(options, status) {
      const pieces: number[] = [];
      for (let at = 0; at < MEASUREMENTS; at++) {
        const keyed = { ...options, headers: { "idempotency-key": `measurement-${randomUUID()}` } };
        const first = await measure(`${database.engine}, with a key`, keyed, [status], 1);
        const again = await measure(`${database.engine}, repeated`, keyed, [status], 1);
        assert.equal(again.result[0]!.headers.get("idempotency-replayed"), "true");
        const busiestMs = Math.max(first.busiestMs, again.busiestMs);
        if (busiestMs <= MOST_MS) return;
        pieces.push(busiestMs);
      }
      assert.fail(`${database.engine}, with a key: pieces of ${pieces.join(", ")} ms`);
    },
  };
}

/** Values of 39 to 50 KB of JSON: texts, numbers, or characters that HTML and XML escape. */
export const metas = {
  texts: Array.from({ length: 1500 }, (_, at) => `${at}`.padStart(30, "ab")),
  numbers: Array.from({ length: 16_000 }, (_, at) => at % 100),
  markup: Array.from({ length: 800 }, () => `<a href="x">&amp;</a>`.repeat(2)),
} as const;

/** Creates records with a large value. */
export async function fill({ ask }: Asking, count: number, meta: unknown): Promise<void> {
  for (let at = 0; at < count; at += 16) {
    const { status } = await ask({
      method: "POST",
      body: Array.from({ length: Math.min(16, count - at) }, () => ({ meta })),
    });
    assert.equal(status, 201);
  }
}

/** Returns the items of a PATCH that changes the first records. */
export const places = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, at) => ({ id: at + 1, n: 1, ...more }));

/** Reads, writes and shows arrays of records with a large value. Requires short pieces. */
export async function requireShortPieces(t: TestContext, database: TestDatabase, meta: unknown): Promise<void> {
  const api = await asking(t, database);
  const octets = JSON.stringify(meta).length + 200;
  const [most, tooMany] = [Math.floor((7.6 * 1024 * 1024) / octets), Math.ceil((8.2 * 1024 * 1024) / octets)];
  await fill(api, tooMany, meta);
  const { require } = api;
  await api.ask({ method: "PATCH", body: places(20) });

  await require("made", { method: "POST", body: Array.from({ length: 16 }, () => ({ meta })) }, [201]);
  await require("changed", { method: "PATCH", body: places(most) }, [200]);
  await require("too large", { method: "PATCH", body: places(tooMany) }, [400]);
  const minimal = { prefer: "return=minimal" };
  await require("minimal", { method: "PATCH", body: places(most), headers: minimal }, [204]);
  await require("at once", { method: "PATCH", body: places(most) }, [200, 503], 10);
  for (const accept of ["text/html", "application/xml"]) {
    await api.ask({ method: "PATCH", body: places(20), headers: { accept } });
    await require(accept, { method: "PATCH", body: places(most), headers: { accept } }, [200]);
  }
  await api.requireKeyed({ method: "PATCH", body: places(most) }, 200);
}
