import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { rateLimits, type RateLimit } from "../../src/door/features.ts";
import { anyone, createService, defineResource, mount, text } from "../../src/door/index.ts";
import { requestCountsCollection } from "../../src/features/rate-limit/counter.ts";
import { serve, type API } from "../harness/serve.ts";
import { sharedDatabase } from "../harness/test-store.ts";

const of = (limit: Partial<RateLimit>): RateLimit => ({
  name: "few",
  by: "user",
  limit: 3,
  windowSeconds: 60,
  ...limit,
});

async function limited(t: TestContext, limits: readonly RateLimit[], fields = false): Promise<API> {
  return serve(t, { config: { features: [rateLimits({ limits, fields })] } });
}

async function statuses(times: number, ask: () => Promise<{ readonly status: number }>): Promise<readonly number[]> {
  const all: number[] = [];
  for (let at = 0; at < times; at++) all.push((await ask()).status);
  return all;
}

test("answers 429 with Retry-After to a user who sends too many requests, and still serves other users", async (t) => {
  const api = await limited(t, [of({ at: ["/users"] })]);
  const [ann, bob] = [await api.user("Ann"), await api.user("Bob")];
  api.clock.turn(120);

  assert.deepEqual(await statuses(4, () => api.get("/users", ann.headers)), [200, 200, 200, 429]);

  const refused = await api.get("/users", ann.headers);
  assert.equal(refused.json.code, "too_many_requests");
  assert.equal(refused.json.detail, "The limit few is used up: 3 requests in 60 seconds.");
  assert.match(refused.headers.get("retry-after")!, /^[1-9]\d?$/);
  assert.equal(refused.headers.get("ratelimit"), null);
  assert.equal((await api.get("/users", bob.headers)).status, 200);
  // The limit applies to /users only.
  assert.equal((await api.get(`/users/${ann.id}`, ann.headers)).status, 200);
  api.clock.turn(Number(refused.headers.get("retry-after")));
  assert.equal((await api.get("/users", ann.headers)).status, 200);
  assert.equal((await api.get("/problems/too_many_requests")).status, 200);
});

test("does not count wrong paths or methods, and answers 401 to wrong credentials until the limit of the address is used up", async (t) => {
  const api = await limited(t, [of({ name: "address", by: "address", limit: 5 })]);

  assert.deepEqual([(await api.get("/nowhere")).status, (await api.delete("/users")).status], [404, 405]);
  const wrong = { authorization: `Basic ${btoa("admin:wrong")}` };
  assert.deepEqual(await statuses(5, () => api.get("/users", wrong)), [401, 401, 401, 401, 401]);
  // This request is refused before a sixth password hash is computed.
  assert.equal((await api.get("/users", wrong)).json.code, "too_many_requests");
  assert.equal((await api.post("/api/token/", { username: "admin", password: "x" })).json.code, "too_many_requests");
  assert.equal((await api.get("/livez")).status, 200);
  assert.equal((await api.get("/openapi.json")).status, 200);
});

test("counts forbidden requests, and answers 429 before 403", async (t) => {
  const api = await limited(t, [of({ at: ["GET /metrics"] })]);
  const ann = await api.user("Ann");

  assert.deepEqual(await statuses(4, () => api.get("/metrics", ann.headers)), [403, 403, 403, 429]);
});

test("counts the records of an array, and refuses an array as a whole", async (t) => {
  const notes = defineResource({ name: "note", fields: { body: text() } });
  const limits = [
    of({ by: "caller", at: [notes], limit: 5 }),
    of({ name: "addresses", by: "address", at: [notes], limit: 20 }),
  ];
  const mounts = [mount(notes, { permission: anyone, arrays: true })];
  const api = await serve(t, { config: { mounts, features: [rateLimits({ limits, fields: true })] } });
  const made = (count: number) => Array.from({ length: count }, () => ({ body: "a" }));
  const keyed = { "idempotency-key": "an-array-of-three" };
  const countNotes = async (): Promise<number> => api.service.store.count(mounts[0]!.collection, null);
  api.clock.turn(120);

  const first = await api.post("/notes", made(3), keyed);
  assert.equal(first.status, 201);
  assert.deepEqual(first.headers.get("ratelimit")?.split(", "), ['"addresses";r=17;t=60', '"few";r=2;t=60']);
  const refused = await api.post("/notes", made(4));
  assert.deepEqual([refused.status, refused.json.code, await countNotes()], [429, "too_many_requests", 3]);
  assert.match(refused.headers.get("retry-after")!, /^[1-9]\d*$/);
  assert.match(refused.headers.get("ratelimit")!, /"few";r=0/);
  // The refused array counted as one request.
  assert.equal((await api.post("/notes", made(1))).status, 201);
  assert.equal((await api.post("/notes", made(1))).status, 429);

  api.clock.turn(120);
  const tooLong = await api.patch(
    "/notes",
    Array.from({ length: 6 }, (_, at) => ({ id: at + 1, body: "b" })),
  );
  assert.deepEqual([tooLong.status, tooLong.headers.get("retry-after")], [429, null]);
  assert.match(tooLong.json.detail, /5 records in 60 seconds, and the array has 6/);
  const again = await api.post("/notes", made(3), keyed);
  assert.deepEqual([again.status, again.headers.get("idempotency-replayed")], [201, "true"]);
  assert.match(again.headers.get("ratelimit")!, /"few";r=3/);
  const changed = await api.patch("/notes", [
    { id: 1, body: "c" },
    { id: 2, body: "d" },
  ]);
  assert.deepEqual([changed.status, await countNotes()], [200, 4]);
  assert.match(changed.headers.get("ratelimit")!, /"few";r=1/);
});

test("limits only the named actions of a resource, separately for each caller", async (t) => {
  const notes = defineResource({ name: "note", fields: { body: text() } });
  const limits = [of({ by: "caller", at: [notes], actions: ["create"] })];
  const mounts = [mount(notes, { permission: anyone })];
  const api = await serve(t, { config: { mounts, features: [rateLimits({ limits })] } });

  assert.deepEqual(await statuses(4, () => api.post("/notes", { body: "a" })), [201, 201, 201, 429]);
  assert.equal((await api.get("/notes")).status, 200);
  assert.equal((await api.post("/notes", { body: "a" }, api.admin)).status, 201);
});

test("counts separately for each credential of a user, or for each result of a custom function", async (t) => {
  const byQuery = of({ name: "own", by: ({ call }) => call.query || null, at: ["/users"], limit: 1 });
  const api = await limited(t, [of({ by: "credential", at: ["/protected/"] }), byQuery]);
  const ann = await api.user("Ann");
  const { token } = (await api.post(`/users/${ann.id}/token`, undefined, ann.headers)).json;

  assert.deepEqual(await statuses(4, () => api.get("/protected/", ann.headers)), [200, 200, 200, 429]);
  assert.equal((await api.get("/protected/", { authorization: `Token ${token}` })).status, 200);
  assert.deepEqual(await statuses(2, () => api.get("/users?limit=1", ann.headers)), [200, 429]);
  assert.deepEqual(await statuses(2, () => api.get("/users", ann.headers)), [200, 200]);
});

test("counts two token logins of one user separately, also after a refresh", async (t) => {
  const api = await limited(t, [of({ by: "credential", at: ["/protected/"] })]);
  const ann = await api.user("Ann");
  const logIn = async () => (await api.post("/api/token/", { username: ann.email, password: ann.password })).json;
  const [first, second] = [await logIn(), await logIn()];
  const askWith = (access: string) => api.get("/protected/", { authorization: `Bearer ${access}` });

  assert.deepEqual(await statuses(4, () => askWith(first.access)), [200, 200, 200, 429]);
  assert.deepEqual(await statuses(4, () => askWith(second.access)), [200, 200, 200, 429]);
  const { access } = (await api.post("/api/token/refresh/", { refresh: first.refresh })).json;
  assert.deepEqual(await statuses(1, () => askWith(access)), [429]);
});

test("shows the remaining requests in responses and refusals if `fields` is true, but not on public pages", async (t) => {
  const limits = [of({ name: "burst", by: "address", limit: 3, windowSeconds: 10 }), of({ limit: 2 })];
  const api = await limited(t, limits, true);

  const first = await api.get("/users", api.admin);
  assert.equal(first.headers.get("ratelimit-policy"), '"burst";q=3;w=10, "few";q=2;w=60');
  assert.match(first.headers.get("ratelimit")!, /^"burst";r=2;t=\d+, "few";r=1;t=\d+$/);
  await api.get("/users", api.admin);
  const refused = await api.get("/users", api.admin);
  assert.equal(refused.status, 429);
  assert.match(refused.headers.get("ratelimit")!, /"few";r=0;t=\d+/);
  assert.equal((await api.get("/openapi.json")).headers.get("ratelimit"), null);
});

test("shares a limit between processes that share a store", async (t) => {
  const database = await sharedDatabase(t);
  const notes = defineResource({ name: "note", fields: { body: text() } });
  const start = async () => {
    const service = await createService({
      store: database.open(),
      mounts: [mount(notes, { permission: anyone })],
      features: [rateLimits({ exchangeMs: 10, limits: [of({ by: "address", limit: 10, windowSeconds: 3600 })] })],
    });
    t.after(() => service.close());
    const ask = () => service.fetch(new Request("http://localhost/notes"), { peer: "192.0.2.7" });
    const isTold = { column: "count", operator: "gte", value: 10 } as const;
    return { ask, told: () => service.store.count(requestCountsCollection, isTold) };
  };
  const [here, there] = [await start(), await start()];

  assert.ok((await statuses(10, here.ask)).every((status) => status === 200));
  while ((await here.told()) === 0) await wait(5);

  assert.equal((await there.ask()).status, 429);
});

const slips: readonly (readonly [limit: object, told: RegExp])[] = [
  [{ limt: 3 }, /limits\[0\]: there is no option limt; did you mean limit\?/],
  [{ by: "ip" }, /limits\[0\]: by is 'ip'; it has to be/],
  [{ limit: 0 }, /limits\[0\]: limit is 0; it has to be a whole number from 1/],
  [{ windowSeconds: 0.5 }, /limits\[0\]: windowSeconds is 0.5/],
  [{ actions: ["lst"] }, /limits\[0\]: actions is a list; it contains 'lst'; .*did you mean list\?/],
  [{ at: ["/usrs"] }, /the limit few is for \/usrs, which is not served; did you mean \/users\?/],
];

for (const [slip, pattern] of slips)
  test(`does not start with a wrong limit: ${Object.keys(slip).join()}`, async (t) => {
    await assert.rejects(limited(t, [of(slip)]), pattern);
  });

test("does not start with two limits of the same name", async (t) => {
  await assert.rejects(limited(t, [of({}), of({})]), /limits\[1\]: the name is there twice; rename one/);
});
