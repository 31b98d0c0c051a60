import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import type { Endpoint } from "../../src/door/http.ts";
import { administrator, anyone, authenticated, defineEndpoint, type Scheme } from "../../src/door/index.ts";
import { ownService } from "../harness/own-service.ts";
import { serve } from "../harness/serve.ts";

// Nightly on PostgreSQL: the verdicts of schemes are checked outside of the store.

const identity = { id: 1, username: "ada", role: "admin", scheme: "own", scopes: null, expiresAt: null };
const accepted = (change: object): object => ({ kind: "accepted", identity: { ...identity, ...change } });

const noVerdicts: readonly unknown[] = [
  undefined,
  null,
  true,
  1,
  "accepted",
  [],
  {},
  identity,
  { kind: "Accepted", identity },
  { kind: "accepted" },
  { kind: "accepted", identity: null },
  { kind: "accepted", identity: "ada" },
  { kind: "accepted", identity: {} },
  accepted({ id: "1" }),
  accepted({ id: -1 }),
  accepted({ id: 1.5 }),
  accepted({ id: Number.NaN }),
  accepted({ username: undefined }),
  accepted({ role: "" }),
  accepted({ role: ["admin"] }),
  accepted({ scopes: undefined }),
  accepted({ scopes: "read" }),
  accepted({ scopes: [1] }),
  accepted({ expiresAt: "never" }),
  accepted({ expiresAt: undefined }),
  accepted({ sessionId: 5 }),
  { kind: "rejected" },
  { kind: "rejected", reason: "because", detail: "No." },
  { kind: "rejected", reason: "constructor", detail: "No." },
  { kind: "rejected", reason: "unknown", detail: 7 },
  { kind: "rejected", reason: "unknown", detail: "No.", code: "ok" },
  runInNewContext('Promise.reject(new Error("late"))'),
  runInNewContext('Promise.resolve({ kind: "accepted" })'),
];

test("answers 500 and reports a fault if a scheme throws or returns an invalid verdict", async (t) => {
  let give: () => unknown = () => null;
  const own: Scheme = {
    name: "own",
    carriers: [{ in: "header", name: "X-Own" }],
    challenge: () => "Own",
    authenticate: () => give() as never,
  };
  let ran = 0;
  const endpoint = (path: string, access: Endpoint["access"]): Endpoint =>
    defineEndpoint({ method: "GET", path, access, handle: () => (ran++, { status: 204 }) });
  const { ask, observed } = await ownService(t, {
    schemes: [own],
    endpoints: [endpoint("/closed", authenticated), endpoint("/free", anyone)],
  });
  const secret = "the credential";
  const throwing: readonly (() => unknown)[] = [undefined, null, "text", 7, new Error("Broken."), {}].flatMap(
    (each) => [
      () => {
        throw each as Error;
      },
      async () => {
        throw each as Error;
      },
    ],
  );
  const giving = noVerdicts.flatMap((each) => [() => each, async () => each]);

  for (give of [...throwing, ...giving]) {
    for (const path of ["/closed", "/free"]) {
      observed.length = 0;
      const answer = await ask("GET", path, { headers: { "x-own": secret, "x-api-explain": "1" } });
      assert.equal(answer.status, 500, `${give.toString()} ${answer.text}`);
      assert.equal(observed.filter(({ kind }) => kind === "fault").length, 1);
      assert.ok(!answer.text.includes("Broken") && answer.headers.get("x-api-explain") === null);
    }
  }
  assert.equal(ran, 0);
  give = () => accepted({});
  assert.equal((await ask("GET", "/closed", { headers: { "x-own": secret } })).status, 204);
});

test("answers 500 if a challenge is not valid in a header", async (t) => {
  let challenge: unknown;
  const own: Scheme = {
    name: "own",
    carriers: [{ in: "header", name: "X-Own" }],
    challenge: () => challenge as string,
    authenticate: () => ({ kind: "absent" }),
  };
  const { ask } = await ownService(t, {
    schemes: [own],
    endpoints: [
      defineEndpoint({ method: "GET", path: "/closed", access: authenticated, handle: () => ({ status: 204 }) }),
    ],
  });

  for (challenge of ["", "Own\r\nSet-Cookie: a=b", "Öwn", 7, {}, Promise.resolve("Own")])
    assert.equal((await ask("GET", "/closed")).status, 500);
  for (challenge of [undefined, null]) assert.equal((await ask("GET", "/closed")).status, 403);
  challenge = 'Own realm="a"';
  assert.equal((await ask("GET", "/closed")).headers.get("www-authenticate"), challenge);
});

test("answers a write with an empty body and no ETag if the caller may write but not read", async (t) => {
  const api = await serve(t);
  const makeKey = async (scopes: readonly string[]) => {
    const made = await api.post("/users/1/keys", { name: "program", scopes }, api.admin);
    return { authorization: `Token ${made.json.key}` };
  };
  const [write, both] = [await makeKey(["write"]), await makeKey(["read", "write"])];
  assert.equal((await api.post("/orders", {}, api.admin)).status, 201);
  const calls = [
    ["POST", "/orders", {}, 201],
    ["PATCH", "/orders/1", {}, 204],
    ["PATCH", "/orders/1", { status: "paid" }, 204],
    ["PUT", "/orders/1", { user_id: 1 }, 204],
    ["POST", "/orders/1/items", { product: "Key", quantity: 1, unit_price: "1.00" }, 201],
  ] as const;

  for (const [at, [method, path, body, status]] of calls.entries()) {
    const key: Readonly<Record<string, string>> = method === "PUT" ? {} : { "idempotency-key": `the-same-${at}` };
    for (const headers of [
      { ...write, ...key },
      { ...write, ...key, accept: "application/xml" },
    ]) {
      const answer = await api.ask(method, path, { headers, body });
      assert.equal(answer.status, status, `${method} ${path}`);
      assert.deepEqual([answer.text, answer.headers.get("etag"), answer.headers.get("content-type")], ["", null, null]);
      assert.equal(answer.headers.get("location") !== null, answer.status === 201);
    }
  }
  assert.equal((await api.patch("/orders/1", {}, both)).json.status, "open");
  assert.equal((await api.get("/orders/1", write)).status, 403);
});

test("answers right and wrong guesses of a value the same if the caller may write but not read", async (t) => {
  const api = await serve(t);
  const { json } = await api.post("/users/1/keys", { name: "program", scopes: ["write"] }, api.admin);
  const write = { authorization: `Token ${json.key}` };
  const { created_at: right } = (await api.post("/orders", {}, api.admin)).json;
  const wrong = "2001-01-01T00:00:00.000Z";
  const tell = async (method: string, path: string, body: unknown) => {
    const type = path === "/orders/1" && Array.isArray(body) ? "application/json-patch+json" : "application/json";
    const answer = await api.ask(method, path, { headers: { ...write, "content-type": type }, body });
    return [answer.status, answer.text.replace(/"request_id":"[^"]*"/, "")] as const;
  };

  for (const [method, path, sent, status] of [
    ["PATCH", "/orders/1", (guess) => [{ op: "test", path: "/created_at", value: guess }], 409],
    [
      "PATCH",
      "/orders/1",
      (guess) => [{ op: "copy", from: guess === right ? "/status" : "/none", path: "/status" }],
      409,
    ],
    ["PATCH", "/orders/1", (guess) => [{ op: "add", path: "/created_at", value: guess }], 409],
    ["PATCH", "/orders/1", (guess) => ({ created_at: guess }), 400],
    ["PUT", "/orders/1", (guess) => ({ created_at: guess }), 400],
    ["PATCH", "/orders", (guess) => [{ id: 1, created_at: guess }], 400],
  ] as const satisfies readonly (readonly [string, string, (guess: string) => unknown, number])[]) {
    const answer = await tell(method, path, sent(right));
    assert.equal(answer[0], status, answer[1]);
    assert.deepEqual(answer, await tell(method, path, sent(wrong)));
  }
  const tag = (await api.get("/orders", api.admin)).headers.get("etag")!;
  assert.equal((await api.post("/orders", {}, { ...write, "if-match": tag })).status, 412);
  assert.deepEqual(await tell("PATCH", "/orders/1", [{ op: "replace", path: "/status", value: "paid" }]), [204, ""]);
  assert.deepEqual(await tell("PATCH", "/orders", [{ id: 1, status: "open" }]), [204, ""]);
  assert.equal((await api.patch("/orders/1", { created_at: right }, api.admin)).status, 200);
});

test("checks a verdict again each time a scheme returns it, unless the verdict is frozen", async (t) => {
  const remembered = { kind: "accepted" as const, identity: { ...identity, role: "user" as string } };
  const frozen = Object.freeze({ kind: "accepted" as const, identity: Object.freeze({ ...identity }) });
  let verdict: object = remembered;
  const own: Scheme = {
    name: "own",
    carriers: [{ in: "header", name: "X-Own" }],
    authenticate: () => verdict as never,
  };
  const handle = (): { status: 204 } => ({ status: 204 });
  const { ask } = await ownService(t, {
    schemes: [own],
    endpoints: [defineEndpoint({ method: "GET", path: "/closed", access: administrator, handle })],
  });
  const status = async (): Promise<number> => (await ask("GET", "/closed", { headers: { "x-own": "a" } })).status;

  assert.equal(await status(), 403);
  remembered.identity.role = "";
  assert.equal(await status(), 500);
  verdict = frozen;
  assert.deepEqual([await status(), await status()], [204, 204]);
});
