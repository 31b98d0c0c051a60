import assert from "node:assert/strict";
import { test } from "node:test";
import {
  administrator,
  anyOf,
  defineResource,
  enumeration,
  integer,
  mount,
  owner,
  problem,
  text,
} from "../../src/door/index.ts";
import type { Written } from "../../src/door/resources.ts";
import { serve, type API } from "../harness/serve.ts";

const tickets = defineResource({
  name: "ticket",
  fields: {
    user_id: integer({ default: ({ identity }) => identity?.id ?? 0 }),
    status: enumeration(["open", "closed"], { default: "open" }),
    count: integer({ default: 0 }),
  },
});
const traces = mount(defineResource({ name: "trace", fields: { line: text() } }), {
  permission: { list: administrator },
});
const mine = anyOf(administrator, owner("user_id"));

async function open(t: Parameters<typeof serve>[0], writes: Written[] = []) {
  const served = mount(tickets, {
    permission: mine,
    afterWrite: (written) => void writes.push(written),
    actions: {
      close: {
        permission: mine,
        handle({ record, context }) {
          if (record.status !== "open") throw problem("conflict");
          const values = { line: `${record.id} by ${context.requireIdentity().id}` };
          return {
            values: { status: "closed" },
            changes: [{ kind: "insert", collection: traces.collection, values }],
          };
        },
      },
      bump: { permission: mine, handle: ({ record }) => ({ values: { count: record.count + 1 } }) },
      count: {
        permission: mine,
        body: { by: integer({ minimum: 1 }) },
        answer: { total: integer() },
        handle({ record, draft }) {
          const total = record.count + draft.by;
          return { values: { count: total }, answer: { total } };
        },
      },
      look: {
        method: "GET",
        permission: mine,
        answer: { count: integer() },
        handle: ({ record: { count } }) => ({ answer: { count } }),
      },
      "close-all": {
        on: "collection",
        permission: administrator,
        answer: { closed: integer() },
        async handle({ collection, context }) {
          const where = { column: "status", operator: "eq", value: "open" } as const;
          const closed = await context.store.count(collection, where);
          return {
            changes: [{ kind: "updateAll", collection, where, values: { status: "closed" } }],
            answer: { closed },
          };
        },
      },
    },
  });
  const api = await serve(t, { config: { mounts: [served, traces] } });
  const [ann, bob] = [await api.user("Ann"), await api.user("Bob")];
  const make = async (): Promise<string> => `/tickets/${(await api.post("/tickets", {}, ann.headers)).json.id}`;
  return { api, ann, bob, make, writes };
}

async function createKeyHeaders(
  api: API,
  { id, headers }: { id: number; headers: Readonly<Record<string, string>> },
  scopes: string[],
) {
  const made = await api.post(`/users/${id}/keys`, { name: scopes.join(), scopes }, headers);
  assert.equal(made.status, 201, made.text);
  return { authorization: `Token ${made.json.key}` };
}

test("allows each action only for the callers and records that its permission allows", async (t) => {
  const { api, ann, bob, make } = await open(t);
  const callers = {
    owner: ann.headers,
    other: bob.headers,
    admin: api.admin,
    nobody: {},
    reader: await createKeyHeaders(api, ann, ["read"]),
    writer: await createKeyHeaders(api, ann, ["write"]),
  };
  const expected = {
    "POST /close": { owner: 200, other: 404, admin: 200, nobody: 401, reader: 403, writer: 204 },
    "POST /bump": { owner: 200, other: 404, admin: 200, nobody: 401, reader: 403, writer: 204 },
    "POST /count": { owner: 200, other: 404, admin: 200, nobody: 401, reader: 403, writer: 204 },
    "GET /look": { owner: 200, other: 404, admin: 200, nobody: 401, reader: 200, writer: 403 },
  } as const;
  for (const [call, statuses] of Object.entries(expected)) {
    const [method, action] = call.split(" ") as [string, string];
    for (const [caller, status] of Object.entries(statuses)) {
      const path = await make();
      const body = action === "/count" ? { by: 2 } : undefined;
      const headers = callers[caller as keyof typeof callers];
      const reply = await api.ask(method, path + action, { headers, ...(body === undefined ? {} : { body }) });
      assert.equal(reply.status, status, `${caller} ${call}: ${reply.text}`);
      if (caller === "writer") assert.equal(reply.headers.get("etag"), null);
      // Only an accepted POST changes the record.
      const { json } = await api.get(path, ann.headers);
      const changed = json.status !== "open" || json.count !== 0;
      assert.equal(changed, method === "POST" && status < 300, `${caller} ${call}`);
    }
  }
  for (const [caller, status] of Object.entries({ owner: 403, other: 403, nobody: 401, writer: 403, admin: 200 }))
    assert.equal(
      (await api.post("/tickets/close-all", undefined, callers[caller as keyof typeof callers])).status,
      status,
      caller,
    );
});

test("refuses actions from a page of another site", async (t) => {
  const { api, ann, make } = await open(t);
  const path = await make();

  const reply = await api.post(`${path}/close`, undefined, { ...ann.headers, origin: "https://evil.example" });

  assert.deepEqual([reply.status, reply.json.code], [403, "cross_site"]);
  assert.equal((await api.get(path, ann.headers)).json.status, "open");
});

test("applies all concurrent actions, runs an action with an idempotency key once, and accepts a concurrent deletion", async (t) => {
  const { api, ann, make, writes } = await open(t);
  const path = await make();

  await Promise.all(Array.from({ length: 16 }, () => api.post(`${path}/bump`, undefined, ann.headers)));
  assert.equal((await api.get(path, ann.headers)).json.count, 16);

  writes.length = 0;
  const keyed = { ...ann.headers, "idempotency-key": "count-by-five" };
  const counted = await Promise.all(Array.from({ length: 8 }, () => api.post(`${path}/count`, { by: 5 }, keyed)));
  assert.deepEqual(
    new Set(counted.map(({ status, text: sent }) => `${status} ${sent}`)),
    new Set(['200 {"total":21}']),
  );
  assert.equal(counted.filter(({ headers }) => headers.get("idempotency-replayed") === "true").length, 7);
  assert.equal(writes.length, 1);
  const tag = (await api.get(path, ann.headers)).headers.get("etag")!;
  const guarded = { ...ann.headers, "if-match": tag };
  const both = await Promise.all([1, 2].map(() => api.post(`${path}/count`, { by: 1 }, guarded)));
  assert.deepEqual(both.map(({ status }) => String(status)).toSorted(), ["200", "412"]);

  const closing = await Promise.all([1, 2, 3].map(() => api.post(`${path}/close`, undefined, ann.headers)));
  assert.deepEqual(closing.map(({ status }) => String(status)).toSorted(), ["200", "409", "409"]);
  assert.equal((await api.get("/traces", api.admin)).json.length, 1);

  const racing = await Promise.all([
    api.post(`${path}/bump`, undefined, ann.headers),
    api.delete(path, ann.headers),
    api.post(`${path}/bump`, undefined, ann.headers),
  ]);
  assert.equal(racing[1].status, 204);
  for (const { status, text: sent } of racing) assert.ok([200, 204, 404].includes(status), `${status} ${sent}`);
  assert.equal(
    (await api.post(`${path}/count`, { by: 5 }, keyed)).status,
    200,
    "the repeat gets the first answer although the record is deleted",
  );
});

test("answers a repeat of an action on the collection like the first request", async (t) => {
  const { api, make } = await open(t);
  await make();
  await make();
  const headers = { ...api.admin, "idempotency-key": "close-them-all" };

  const replies = [];
  for (const _ of [1, 2]) replies.push(await api.post("/tickets/close-all", undefined, headers));

  assert.deepEqual(
    replies.map(({ json }) => json),
    [{ closed: 2 }, { closed: 2 }],
  );
  assert.deepEqual(
    replies.map(({ headers: got }) => got.get("idempotency-replayed")),
    [null, "true"],
  );
});
