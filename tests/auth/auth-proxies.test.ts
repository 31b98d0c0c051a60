import assert from "node:assert/strict";
import { test } from "node:test";
import { arrive, type Arriving } from "../harness/arrive.ts";
import { adminPassword, serve, type API } from "../harness/serve.ts";

// Nightly on PostgreSQL: credentials are read from a request before the store is asked.

const secret = "what-only-the-proxy-knows";
const proxy = "10.0.0.1";
const withRemoteUser = { LATCHKEY_SCHEMES: "basic,session,token,bearer,remote-user", LATCHKEY_TRUSTED_PROXIES: proxy };
const forwarded = [
  ["X-Forwarded-For", "203.0.113.7"],
  ["X-Forwarded-Proto", "https"],
] as const;

const ask = (api: API, headers: NonNullable<Arriving["headers"]> = [], peer = proxy) =>
  arrive(api, "/protected/", { peer, headers: [...forwarded, ...headers] });

test("accepts the user that a trusted proxy names", async (t) => {
  const api = await serve(t, { settings: withRemoteUser });
  const ann = await api.user("Ann");

  for (const name of ["X-Remote-User", "x-remote-user", "X-REMOTE-USER"]) {
    const answer = await ask(api, [[name, ann.email]]);
    assert.deepEqual([answer.status, answer.json.scheme, answer.json.user.id], [200, "remote-user", ann.id]);
  }
  const unknown = await ask(api, [["X-Remote-User", "nobody"]]);
  assert.equal(unknown.status, 401);
  assert.equal((await ask(api, [["X-Remote-User", ""]])).status, 401);
  assert.match((await ask(api, [["X-Remote-User", ann.email]])).header("vary").join(), /X-Remote-User/i);
});

test("drops and reports the user header of a peer that is not a trusted proxy", async (t) => {
  const api = await serve(t, { settings: withRemoteUser });

  for (const peer of ["203.0.113.7", "10.0.0.2", "127.0.0.1", "::1"]) {
    api.observed.length = 0;
    const answer = await ask(api, [["X-Remote-User", "admin"]], peer);
    assert.deepEqual([answer.status, answer.json.code], [401, "not_authenticated"], peer);
    assert.deepEqual(api.observed.filter(({ kind }) => kind === "identity_header_dropped").length, 1);
    const { json } = await arrive(api, "/protected/", {
      peer,
      encrypted: true,
      headers: [
        ["X-Remote-User", "admin"],
        ["Authorization", api.admin["authorization"]!],
      ],
    });
    assert.equal(json.scheme, "basic");
  }
});

test("refuses a request that has the user header twice, in any spelling", async (t) => {
  const api = await serve(t, { settings: withRemoteUser });
  const name = ["X-Remote-User", "admin"] as const;

  for (const other of ["X-Remote-User", "x-remote-user", "X_Remote_User", "x-remote_user"]) {
    for (const headers of [
      [name, [other, "other"]],
      [[other, "admin"], name],
    ] as const) {
      const answer = await ask(api, headers);
      assert.deepEqual([answer.status, answer.json.code], [400, "duplicate_credentials"], other);
    }
  }
  assert.equal((await ask(api, [["X_Remote_User", "admin"]])).json.code, "not_authenticated");
});

test("believes a proxy only if it sends the configured secret", async (t) => {
  const api = await serve(t, { settings: { ...withRemoteUser, LATCHKEY_REMOTE_USER_SECRET: secret } });
  const name = ["X-Remote-User", "admin"] as const;

  assert.equal((await ask(api, [name, ["X-Remote-User-Secret", secret]])).json.scheme, "remote-user");
  for (const headers of [
    [name],
    [name, ["X-Remote-User-Secret", ""]],
    [name, ["X-Remote-User-Secret", "wrong"]],
    [name, ["X_Remote_User_Secret", secret]],
  ] as const) {
    assert.equal((await ask(api, headers)).status, 401);
  }
  assert.equal(
    (await ask(api, [name, ["X-Remote-User-Secret", secret], ["X-Remote-User-Secret", secret]])).status,
    400,
  );
  assert.equal(
    (await ask(api, [name, ["X-Remote-User-Secret", secret]], "203.0.113.7")).json.code,
    "not_authenticated",
  );
});

test("sends no challenge if remote-user is the only scheme", async (t) => {
  const api = await serve(t, {
    settings: {
      LATCHKEY_SCHEMES: "remote-user",
      LATCHKEY_TRUSTED_PROXIES: proxy,
      LATCHKEY_REMOTE_USER_HEADER: "X-Who",
    },
  });

  for (const headers of [[], [["X-Who", "nobody"]], [["X-Remote-User", "admin"]]] as const) {
    const answer = await ask(api, headers);
    assert.deepEqual(
      [answer.status, answer.json.code, answer.header("www-authenticate")],
      [403, "authentication_failed", []],
    );
  }
  assert.equal((await ask(api, [["X-Who", "admin"]])).status, 200);
});

test("uses the username as the name of a new user if the proxy sends a blank name", async (t) => {
  const api = await serve(t, { settings: { ...withRemoteUser, LATCHKEY_REMOTE_USER_CREATE: "true" } });

  for (const [username, name] of [
    ["cal", ""],
    ["dan", " "],
    ["eli", "\u00a0"],
  ] as const) {
    const headers = [
      ["X-Remote-User", username],
      ["X-Remote-Email", `${username}@example.com`],
      ["X-Remote-Name", name],
    ] as const;
    assert.equal((await ask(api, headers)).json.user?.name, username);
  }
});

test("creates one account for an unknown user if LATCHKEY_REMOTE_USER_CREATE is true and the proxy sends an e-mail address", async (t) => {
  const api = await serve(t, { settings: { ...withRemoteUser, LATCHKEY_REMOTE_USER_CREATE: "true" } });
  const zoe = [
    ["X-Remote-User", "zoe"],
    ["X-Remote-Email", "zoe@example.com"],
    ["X-Remote-Name", Buffer.from("Zoë").toString("latin1")],
  ] as const;

  for (const headers of [[zoe[0]], [zoe[0], ["X-Remote-Email", "none"]]] as const)
    assert.equal((await ask(api, headers)).status, 401);
  const taken = await ask(api, [zoe[0], ["X-Remote-Email", "admin@example.invalid"]]);
  assert.deepEqual([taken.status, taken.json.code], [403, "identity_not_bound"]);
  assert.equal((await ask(api, [zoe[0], zoe[1], ["X-Remote-Email", "evil@example.com"]])).status, 400);
  const answers = await Promise.all(Array.from({ length: 5 }, () => ask(api, zoe)));

  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.equal(new Set(answers.map(({ json }) => json.user.id)).size, 1);
  assert.deepEqual({ ...answers[0]!.json.user, id: 0 }, { id: 0, name: "Zoë", email: "zoe@example.com" });
  assert.equal((await ask(api, [["X-Remote-User", "zoe"]])).status, 200);
  assert.equal((await ask(api, [["X-Remote-User", "ZOE"]])).json.code, "identity_not_bound");
  const plain = await ask(api, [
    ["X-Remote-User", "bob"],
    ["X-Remote-Email", "bob@example.com"],
  ]);
  assert.equal(plain.json.user.name, "bob");
  assert.equal(
    (
      await arrive(api, "/protected/", {
        peer: "203.0.113.7",
        headers: [
          ["X-Remote-User", "eve"],
          ["X-Remote-Email", "eve@example.com"],
        ],
      })
    ).status,
    401,
  );
  assert.equal((await api.get("/users?limit=100", api.admin)).json.length, 3);
});

test("does not count unknown users as guesses, so that users at the same address can still log in", async (t) => {
  const api = await serve(t, { settings: withRemoteUser });

  for (let turn = 0; turn < 12; turn++)
    assert.equal((await ask(api, [["X-Remote-User", `nobody ${turn}`]])).status, 401);

  const login = await arrive(api, "/api/token/", {
    method: "POST",
    peer: proxy,
    headers: forwarded,
    body: { username: "admin", password: adminPassword },
  });
  assert.equal(login.status, 200);
});

const transports = [
  { from: "loopback", arriving: {}, status: 200 },
  { from: "127.1.2.3", arriving: { peer: "127.1.2.3" }, status: 200 },
  { from: "::1", arriving: { peer: "::1" }, status: 200 },
  { from: "::ffff:127.0.0.1", arriving: { peer: "::ffff:127.0.0.1" }, status: 200 },
  { from: "another machine", arriving: { peer: "203.0.113.7" }, status: 403 },
  { from: "another machine over TLS", arriving: { peer: "203.0.113.7", encrypted: true }, status: 200 },
  {
    from: "another machine that claims https",
    arriving: { peer: "203.0.113.7", headers: [["X-Forwarded-Proto", "https"]] },
    status: 403,
  },
  { from: "a trusted proxy that says https", arriving: { peer: proxy, headers: forwarded }, status: 200 },
  {
    from: "a trusted proxy that says http",
    arriving: {
      peer: proxy,
      headers: [
        ["X-Forwarded-For", "203.0.113.7"],
        ["X-Forwarded-Proto", "http"],
      ],
    },
    status: 403,
  },
  { from: "a trusted proxy that names no protocol", arriving: { peer: proxy }, status: 403 },
  {
    from: "a trusted proxy that passes on the caller's headers",
    arriving: {
      peer: proxy,
      headers: [
        ["X-Forwarded-For", "127.0.0.1, 203.0.113.7"],
        ["X-Forwarded-Proto", "https, http"],
      ],
    },
    status: 403,
  },
] as const;

test("refuses Basic credentials over cleartext from another host, whether right or wrong", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_TRUSTED_PROXIES: proxy } });

  for (const { from, arriving, status } of transports) {
    await t.test(`${from}: ${status}`, async () => {
      const headers = "headers" in arriving ? arriving.headers : [];
      const answer = await arrive(api, "/protected/", {
        ...arriving,
        headers: [...headers, ["Authorization", api.admin["authorization"]!]],
      });

      assert.equal(answer.status, status);
      if (status === 200) return;
      assert.equal(answer.json.code, "insecure_transport");
      const wrong = await arrive(api, "/protected/", {
        ...arriving,
        headers: [...headers, ["Authorization", "Basic YTpi"]],
      });
      assert.equal(wrong.json.code, "insecure_transport");
    });
  }
});
