import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { arrive } from "../harness/arrive.ts";
import { adminPassword, basicHeader, serve, type API } from "../harness/serve.ts";

type User = Awaited<ReturnType<API["user"]>>;
interface Reply {
  readonly status: number;
}
interface Way {
  readonly what: string;
  /** Makes one try. `turn` counts the tries. */
  readonly guess: (api: API, ann: User, turn: number) => Promise<Reply>;
}

const customToken = "custom-token-of-this-service-0123456789";
const custom = {
  LATCHKEY_SCHEMES: "basic,token,bearer,session,custom-header",
  LATCHKEY_CUSTOM_TOKEN: customToken,
  LATCHKEY_CUSTOM_TOKEN_USERNAME: "admin",
};
const unsigned = (json: object) => Buffer.from(JSON.stringify(json)).toString("base64url");

const counted: Way[] = [
  {
    what: "a wrong password for tokens",
    guess: (api, ann) => api.post("/api/token/", { username: ann.email, password: "wrong" }),
  },
  {
    what: "a wrong password for a session",
    guess: (api, ann) => api.post("/api/session/", { username: ann.email, password: "wrong" }),
  },
  {
    what: "a wrong password for the API token",
    guess: (api, ann) => api.post("/api-token-auth/", { username: ann.email, password: "wrong" }),
  },
  { what: "a wrong Basic password", guess: (api, ann) => api.get("/protected/", basicHeader(ann.email, "wrong")) },
  {
    what: "unknown users",
    guess: (api, _, turn) => api.post("/api/token/", { username: `nobody ${turn}`, password: "wrong" }),
  },
  {
    what: "unknown API tokens",
    guess: async (api) => api.get("/protected/", { authorization: `Token ${await unknownToken()}` }),
  },
  {
    what: "forged API tokens",
    async guess(api, ann) {
      const { token } = (await api.post(`/users/${ann.id}/token`, undefined, ann.headers)).json;
      return api.get("/protected/", { authorization: `Token ${await unknownToken(token.slice(3, 17))}` });
    },
  },
  {
    what: "forged access tokens",
    guess: (api) =>
      api.get("/protected/", {
        authorization: `Bearer ${unsigned({ alg: "EdDSA", typ: "at+jwt", kid: "x" })}.${unsigned({ sub: "1" })}.AAAA`,
      }),
  },
  {
    what: "forged access tokens by cookie",
    guess: (api) =>
      api.get("/protected/", {
        cookie: `access_token=${unsigned({ alg: "none", typ: "at+jwt" })}.${unsigned({ iss: "latchkey", sub: "1" })}.AAAA`,
      }),
  },
  {
    what: "forged refresh tokens",
    guess: (api) =>
      api.post("/api/token/refresh/", {
        refresh: `${unsigned({ alg: "HS256", typ: "rt+jwt" })}.${unsigned({ sub: "1" })}.AAAA`,
      }),
  },
  {
    what: "forged tokens to verify",
    guess: (api) =>
      api.post("/api/token/verify/", {
        token: `${unsigned({ alg: "HS256", typ: "rt+jwt" })}.${unsigned({ sub: "1" })}.AAAA`,
      }),
  },
  { what: "wrong custom tokens", guess: (api) => api.get("/protected/", { "x-custom-token": "wrong" }) },
];

async function unknownToken(lookup = "0".repeat(14)): Promise<string> {
  const { formatOpaqueToken } = await import("../../src/core/crypto/opaque-token.ts");
  return formatOpaqueToken({ lookup, secret: "0".repeat(42) }, "lk");
}

test("checks ten guesses a minute, and no more", async (t) => {
  const api = await serve(t, { settings: custom });
  const ann = await api.user("Ann");

  for (const { what, guess } of counted) {
    await t.test(what, async () => {
      api.clock.turn(61);
      await api.get("/protected/", ann.headers);

      for (let turn = 0; turn < 10; turn++) assert.equal((await guess(api, ann, turn)).status, 401);
      const refused = await guess(api, ann, 10);
      assert.equal(refused.status, 429);
      const login = await api.post("/api/token/", { username: "admin", password: adminPassword });
      assert.deepEqual([login.status, login.json.code], [429, "too_many_attempts"]);
      assert.match(login.headers.get("retry-after")!, /^([1-9]|[1-5]\d|60)$/);
      assert.equal(login.headers.get("cache-control"), "no-store");

      api.clock.turn(Number(login.headers.get("retry-after")) - 1);
      assert.equal((await guess(api, ann, 11)).status, 429);
      api.clock.turn(1);
      assert.equal((await api.post("/api/token/", { username: "admin", password: adminPassword })).status, 200);
    });
  }
});

test("counts wrong current passwords as guesses, and after ten of them refuses the right one too", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const session = await startSession(api, ann);
  const change = (current_password: string) =>
    api.patch(`/users/${ann.id}`, { password: "another password", current_password }, session);
  const rename = (current_password: string) =>
    api.patch(`/users/${ann.id}/account`, { username: "ann", current_password }, session);

  for (let turn = 0; turn < 5; turn++) {
    const reply = await change("wrong");
    assert.deepEqual([reply.status, reply.json.errors[0].pointer], [400, "/current_password"]);
    assert.equal((await rename("wrong")).json.errors[0].pointer, "/current_password");
  }
  assert.deepEqual([(await change(ann.password)).status, (await rename(ann.password)).status], [429, 429]);
  api.clock.turn(60);
  assert.equal((await change(ann.password)).status, 200);
});

const uncounted: Way[] = [
  { what: "malformed tokens", guess: (api) => api.get("/protected/", { authorization: "Token lk_x" }) },
  { what: "malformed access tokens", guess: (api) => api.get("/protected/", { authorization: "Bearer x" }) },
  { what: "malformed Basic credentials", guess: (api) => api.get("/protected/", { authorization: "Basic x" }) },
  { what: "malformed refresh tokens", guess: (api) => api.post("/api/token/refresh/", { refresh: "x" }) },
  {
    what: "unknown session ids",
    guess: (api, _, turn) => api.get("/protected/", { cookie: `session=${String(turn).padStart(43, "A")}` }),
  },
  {
    what: "expired access tokens",
    async guess(api, ann) {
      const { access } = (await api.post("/api/token/", { username: ann.email, password: ann.password })).json;
      api.clock.turn(1);
      return api.get("/protected/", { authorization: `Bearer ${access}` });
    },
  },
  {
    what: "revoked access and refresh tokens",
    async guess(api, ann) {
      const { access, refresh } = (await api.post("/api/token/", { username: ann.email, password: ann.password })).json;
      await api.ask("DELETE", "/api/token/", { body: { refresh } });
      await api.post("/api/token/refresh/", { refresh });
      return api.get("/protected/", { authorization: `Bearer ${access}` });
    },
  },
  {
    what: "revoked API tokens",
    async guess(api, ann) {
      const { token } = (await api.post(`/users/${ann.id}/token`, undefined, ann.headers)).json;
      await api.delete(`/users/${ann.id}/token`, ann.headers);
      return api.get("/protected/", { authorization: `Token ${token}` });
    },
  },
  { what: "requests without any credential", guess: (api) => api.get("/protected/") },
  {
    what: "logins with wrong fields",
    guess: async (api) => ({ status: (await api.post("/api/token/", { username: "admin" })).status + 1 }),
  },
];

test("does not count requests that are not guesses", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_ACCESS_SECONDS: "1" } });
  const ann = await api.user("Ann");

  for (const { what, guess } of uncounted) {
    await t.test(what, async () => {
      for (let turn = 0; turn < 12; turn++) assert.equal((await guess(api, ann, turn)).status, 401);

      assert.equal((await api.post("/api/token/", { username: "admin", password: adminPassword })).status, 200);
    });
  }
});

test("still accepts known credentials while guesses are refused", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const session = await startSession(api, ann);
  const pair = (await api.post("/api/token/", { username: ann.email, password: ann.password })).json;
  const { token } = (await api.post(`/users/${ann.id}/token`, undefined, ann.headers)).json;
  for (let turn = 0; turn < 10; turn++) await api.post("/api/token/", { username: ann.email, password: "wrong" });

  assert.equal((await api.post("/api/token/", { username: ann.email, password: ann.password })).status, 429);
  for (const headers of [
    session,
    ann.headers,
    { authorization: `Token ${token}` },
    { authorization: `Bearer ${pair.access}` },
  ])
    assert.equal((await api.get("/protected/", headers)).status, 200);
  assert.equal((await api.post("/api/token/refresh/", { refresh: pair.refresh })).status, 200);
  assert.equal((await api.get("/protected/", basicHeader(ann.email, "wrong"))).status, 429);
});

test("counts guesses per account over all addresses, and per address over all names", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_TRUSTED_PROXIES: "127.0.0.1" } });
  const ann = await api.user("Ann");
  const logIn = (address: string, username: string, password: string) =>
    arrive(api, "/api/token/", {
      method: "POST",
      headers: [
        ["X-Forwarded-For", address],
        ["X-Forwarded-Proto", "https"],
      ],
      body: { username, password },
    });

  for (let turn = 0; turn < 10; turn++)
    assert.equal(
      (await logIn(`203.0.113.${turn}`, turn % 2 === 0 ? ann.email : ann.email.toUpperCase(), "wrong")).status,
      401,
    );
  assert.equal((await logIn("203.0.113.99", ann.email, ann.password)).status, 429);
  assert.equal((await logIn("203.0.113.1", "admin", adminPassword)).status, 200);

  for (let turn = 0; turn < 10; turn++)
    assert.equal((await logIn(`2001:db8::${turn}`, `nobody ${turn}`, "wrong")).status, 401);
  assert.equal((await logIn("2001:db8::ffff", "admin", adminPassword)).status, 429);
  assert.equal((await logIn("2001:db8:0:1::1", "admin", adminPassword)).status, 200);
});

test("counts guesses for the address of the peer, and not for an address that an untrusted peer names", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_TRUSTED_PROXIES: "10.0.0.1" } });
  const logIn = (turn: number, password: string) =>
    arrive(api, "/api/token/", {
      method: "POST",
      peer: "203.0.113.7",
      encrypted: true,
      headers: [
        ["X-Forwarded-For", `198.51.100.${turn}`],
        ["Forwarded", `for=198.51.100.${turn}`],
      ],
      body: { username: `nobody ${turn}`, password },
    });

  for (let turn = 0; turn < 10; turn++) assert.equal((await logIn(turn, "wrong")).status, 401);
  assert.equal((await logIn(10, "wrong")).status, 429);
});

test("checks only ten of thirty concurrent guesses", async (t) => {
  const api = await serve(t);

  const replies = await Promise.all(
    Array.from({ length: 30 }, () => api.post("/api/token/", { username: "admin", password: "wrong" })),
  );

  assert.equal(replies.filter(({ status }) => status === 401).length, 10);
  assert.equal(replies.filter(({ status }) => status === 429).length, 20);
});

/** Returns functions that send requests through a proxy, which names this client address. */
function from(api: API, address: string) {
  const ask = (method: string, path: string, body?: unknown, authorization?: string) =>
    arrive(api, path, {
      method,
      headers: [
        ["X-Forwarded-For", address],
        ["X-Forwarded-Proto", "https"],
        ...(authorization === undefined ? [] : [["Authorization", authorization] as const]),
      ],
      body,
    });
  return {
    ask,
    logIn: (username: string, password: string) => ask("POST", "/api/token/", { username, password }),
  };
}

const behindProxy = { LATCHKEY_TRUSTED_PROXIES: "127.0.0.1" };

test("allows an account one try a minute after a hundred wrong passwords, except from addresses where the account logged in", async (t) => {
  const api = await serve(t, { settings: behindProxy });
  const ann = await api.user("Ann");
  const home = from(api, "2001:db8:0:7::1");
  assert.equal((await home.logIn(ann.email, ann.password)).status, 200);
  const elsewhere = from(api, "203.0.113.9");

  for (let minute = 0; minute < 10; minute++) {
    const tries = Array.from({ length: 10 }, (_, at) => from(api, `203.0.113.${at}`).logIn(ann.email, `guess ${at}`));
    assert.deepEqual(new Set((await Promise.all(tries)).map(({ status }) => status)), new Set([401]));
    assert.equal((await elsewhere.logIn(ann.email.toUpperCase(), "guess")).status, 429);
    api.clock.turn(60);
  }
  assert.equal((await elsewhere.logIn(ann.email, "guess")).status, 401);
  const refused = await elsewhere.logIn(ann.email, ann.password);
  assert.deepEqual([refused.status, refused.header("retry-after")], [429, ["60"]]);
  assert.equal((await home.logIn(ann.email, ann.password)).status, 200);
  assert.equal((await from(api, "2001:db8:0:7:ffff::1").logIn(ann.email, ann.password)).status, 200);

  api.clock.turn(60);
  assert.equal((await elsewhere.logIn(ann.email, ann.password)).status, 200);
  assert.equal((await from(api, "198.51.100.1").logIn(ann.email, "wrong")).status, 401);
  assert.equal((await from(api, "198.51.100.2").logIn(ann.email, ann.password)).status, 200);
});

test("reveals taken names at most ten times a minute, without blocking logins", async (t) => {
  const api = await serve(t, { settings: behindProxy });
  const [ann, bob] = [await api.user("Ann"), await api.user("Bob")];
  const client = from(api, "203.0.113.7");
  const change = (body: object) => client.ask("PATCH", `/users/${ann.id}`, body, ann.headers.authorization);
  const taken = { name: "Ann", email: bob.email.toUpperCase(), current_password: ann.password };

  for (let turn = 0; turn < 10; turn++) {
    const { status, json } =
      turn % 2 === 0 ? await change(taken) : await change({ ...taken, email: ann.email, username: "ADMIN" });
    assert.deepEqual([status, json.errors[0].pointer], [409, turn % 2 === 0 ? "/email" : "/username"]);
  }
  const refused = await change(taken);
  assert.deepEqual([refused.status, refused.json.code], [429, "too_many_attempts"]);
  assert.match(refused.header("retry-after")[0]!, /^[1-6]\d?$/);
  const account = { username: "admin", current_password: ann.password };
  assert.equal((await client.ask("PATCH", `/users/${ann.id}/account`, account, ann.headers.authorization)).status, 429);
  assert.equal((await change({ name: "Anna" })).status, 200);
  assert.equal((await client.logIn(ann.email, ann.password)).status, 200);
  for (let turn = 0; turn < 12; turn++) {
    const made = await client.ask("POST", "/users", { name: "B", email: bob.email }, api.admin.authorization);
    assert.equal(made.status, 409);
  }
  api.clock.turn(61);
  assert.equal((await change(taken)).status, 409);
});

test("lets an address sign up ten times a minute, and still log in", async (t) => {
  const api = await serve(t, { settings: behindProxy, config: { registration: "open" } });
  const client = from(api, "2001:db8::7");
  const signUp = (name: string, who = client) =>
    who.ask("POST", "/users", { name, email: `${name}@example.com`, password: `password of ${name}` });

  const burst = await Promise.all(Array.from({ length: 14 }, (_, at) => signUp(`user${at % 12}`)));
  const statuses = burst.map(({ status }) => status);

  // Two names are sent twice, so a sign-up that is not limited can also get 409.
  assert.equal(statuses.filter((status) => status === 201 || status === 409).length, 10);
  assert.equal(statuses.filter((status) => status === 429).length, 4);
  assert.equal((await signUp("other", from(api, "2001:db8:1::7"))).status, 201);
  assert.equal((await client.logIn("other@example.com", "password of other")).status, 200);
});

test("computes no hash for a taken name, and checks a precondition before the name", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const body = { name: "Ann", email: ann.email, password: "another password" };

  const burst = await Promise.all(Array.from({ length: 100 }, () => api.post("/users", body, api.admin)));
  const move = { email: ann.email, current_password: adminPassword };
  const stale = await api.patch("/users/1", move, { ...api.admin, "if-match": '"0"' });

  // If these requests needed hashes, too many hashes would wait, and some requests would get 503.
  assert.deepEqual(new Set(burst.map(({ status }) => status)), new Set([409]));
  assert.equal(stale.status, 412);
});

test("serves other clients while one client sends its right password on 80 connections", async (t) => {
  const api = await serve(t, { settings: behindProxy });
  const ann = await api.user("Ann");
  const others = await Promise.all(Array.from({ length: 10 }, (_, at) => api.user(`Other${at}`)));
  const flood = { isOn: true, statuses: [] as number[] };
  const connections = Array.from({ length: 80 }, async () => {
    // Waits for the next turn of the event loop, as a network connection would. Else immediate refusals would block the
    // loop.
    for (; flood.isOn; await nextTurn())
      flood.statuses.push((await from(api, "203.0.113.7").logIn(ann.email, ann.password)).status);
  });

  const logins = await Promise.all(
    others.map(({ email, password }, at) => from(api, `198.51.100.${at}`).logIn(email, password)),
  );
  flood.isOn = false;
  await Promise.all(connections);

  assert.deepEqual(
    logins.map(({ status }) => status),
    others.map(() => 200),
  );
  assert.ok(flood.statuses.length > 0);
});

async function startSession(api: API, { email: username, password }: User): Promise<{ cookie: string }> {
  return {
    cookie: (await api.post("/api/session/", { username, password })).headers.get("set-cookie")!.split(";")[0]!,
  };
}
