import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test, type TestContext } from "node:test";
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
import { bothDatabases, type TestDatabase } from "../harness/both-databases.ts";
import { measurePieces } from "../harness/busiest-piece.ts";
import { visitor } from "../harness/own-service.ts";
import { slowness } from "../harness/slowness.ts";
import { weighed, type WeighedStore } from "../harness/weighed-store.ts";

/** The longest piece, in milliseconds. A piece is work during which the event loop serves no other request (`docs/assurance.md`). */
const MOST_MS = 50;
/** The most octets that one request may read from the store (`docs/operation/limits.md`). */
const MOST_OCTETS = 8 * 1024 * 1024;
/** The most measurements of one request. One short measurement is enough, because a busy machine and garbage collections only add time. */
const MEASUREMENTS = 4;
const databases = bothDatabases();

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

interface Asked {
  readonly method: "POST" | "PATCH";
  readonly body: readonly unknown[];
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Asking extends Pick<WeighedStore, "takeOctets"> {
  readonly service: Service;
  /** Sends a request without measuring it. */
  ask(options: Asked): Promise<Response>;
  /**
   * Sends the same request `atOnce` times concurrently. Requires short pieces and few octets read from the store. Measures again if a piece
   * was too long, so the request must cause the same work each time.
   */
  require(title: string, options: Asked, statuses: readonly number[], atOnce?: number): Promise<readonly Response[]>;
  /** Makes the same requirements of a request with an idempotency key and of its repeat. Each measurement uses a new key. */
  requireKeyed(options: Asked, status: number): Promise<void>;
}

async function asking(t: TestContext, database: TestDatabase): Promise<Asking> {
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
   * Returns the responses, and the longest piece in milliseconds. Requires one of the statuses, and at most `MOST_OCTETS` for each request.
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
const metas: Readonly<Record<string, unknown>> = {
  texts: Array.from({ length: 1500 }, (_, at) => `${at}`.padStart(30, "ab")),
  numbers: Array.from({ length: 16_000 }, (_, at) => at % 100),
  markup: Array.from({ length: 800 }, () => `<a href="x">&amp;</a>`.repeat(2)),
};

async function fill({ ask }: Asking, count: number, meta: unknown): Promise<void> {
  for (let at = 0; at < count; at += 16) {
    const { status } = await ask({
      method: "POST",
      body: Array.from({ length: Math.min(16, count - at) }, () => ({ meta })),
    });
    assert.equal(status, 201);
  }
}

const places = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, at) => ({ id: at + 1, n: 1, ...more }));

for (const [kind, meta] of Object.entries(metas))
  test(`array × json size: reads, writes and shows arrays of large records in short pieces (${kind})`, async (t) => {
    for (const database of await databases(t)) {
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
  });

test("array × if_match: compares many tags in pieces before it reads records", async (t) => {
  for (const database of await databases(t)) {
    const api = await asking(t, database);
    await fill(api, 64, metas["texts"]);
    await api.ask({ method: "PATCH", body: places(20, { if_match: `"x"` }) });
    const formatTags = (length: number): string => Array.from({ length }, (_, at) => `"${at}"`).join();

    await api.require("one each", { method: "PATCH", body: places(64, { if_match: `"no-such-tag-is-there"` }) }, [412]);
    assert.equal((await api.ask({ method: "PATCH", body: places(1, { if_match: formatTags(4000) }) })).status, 400);
    await api.require("many each", { method: "PATCH", body: places(60, { if_match: formatTags(2000) }) }, [412]);
    await api.require("at once", { method: "PATCH", body: places(60, { if_match: formatTags(2000) }) }, [412, 503], 10);
    assert.ok(api.takeOctets() < 1024 * 1024);
  }
});

test("array × references: writes 1,000 records with 100 ids each in short pieces", async (t) => {
  for (const database of await databases(t)) {
    const api = await asking(t, database);
    const first = Array.from({ length: 100 }, (_, at) => at + 1);
    const second = first.map((id) => id + 100);
    assert.equal((await api.ask({ method: "POST", path: "/tags", body: Array(200).fill({}) })).status, 201);
    await api.ask({ method: "POST", body: Array(50).fill({ tags: first }) });

    const [made] = await api.require("made", { method: "POST", body: Array(1000).fill({ tags: first }) }, [201]);
    const ids = ((await made!.json()) as readonly { readonly id: number }[]).map(({ id }) => id);
    const some = ids.slice(0, 300);
    await api.require("exchanged", { method: "PATCH", body: some.map((id) => ({ id, tags: second })) }, [200]);
    await api.require("taken out", { method: "PATCH", body: some.map((id) => ({ id, tags: [] })) }, [200]);
    const few = Array(50).fill({ tags: first });
    await api.require("at once", { method: "POST", body: few }, [201], 5);
  }
});

test("keys × arrays: stores and repeats a response with 1,000 records in short pieces", async (t) => {
  for (const database of await databases(t)) {
    const api = await asking(t, database);
    const body = Array.from({ length: 1000 }, () => ({ title: "x".repeat(900) }));
    await api.ask({ method: "POST", body: body.slice(0, 50), headers: { "idempotency-key": "to-warm-up" } });

    for (let at = 0; at < 3; at++) await api.requireKeyed({ method: "POST", body }, 201);
    const headers = { "idempotency-key": "many-at-once" };
    await api.require("at once", { method: "POST", body, headers }, [201, 503], 6);
  }
});
