import assert from "node:assert/strict";
import { test } from "node:test";
import { arrive } from "../harness/arrive.ts";
import { basicHeader, serve, type API } from "../harness/serve.ts";

// Nightly on PostgreSQL: credentials are read from a request before the store is asked.

const basic = 'Basic realm="latchkey", charset="UTF-8"';
const bearer = 'Bearer realm="latchkey"';
const token = 'Token realm="latchkey"';

const sets = [
  { schemes: "basic,session,token,bearer", challenges: [basic, bearer, token], status: 401, code: "not_authenticated" },
  { schemes: "bearer,token,session,basic", challenges: [basic, bearer, token], status: 401, code: "not_authenticated" },
  { schemes: "basic", challenges: [basic], status: 401, code: "not_authenticated" },
  { schemes: "token", challenges: [token], status: 401, code: "not_authenticated" },
  { schemes: "bearer", challenges: [bearer], status: 401, code: "not_authenticated" },
  { schemes: "session,token", challenges: [token], status: 401, code: "not_authenticated" },
  { schemes: "session", challenges: [], status: 403, code: "authentication_failed" },
];

for (const { schemes, challenges, status, code } of sets) {
  test(`sends an anonymous caller the challenges of ${schemes}, and no other challenges`, async (t) => {
    const api = await serve(t, { settings: { LATCHKEY_SCHEMES: schemes } });

    for (const path of [
      "/protected/",
      "/protected",
      "/users",
      "/users/1",
      "/users/1/account",
      "/orders",
      ...(schemes.includes("session") ? ["/api/session/"] : []),
    ]) {
      const answer = await arrive(api, path);

      assert.equal(answer.status, status, path);
      assert.deepEqual(answer.header("www-authenticate"), challenges);
      assert.deepEqual(answer.header("cache-control"), ["no-store"]);
      assert.equal(answer.json.code, code);
    }
  });
}

test("sends no Basic challenge to a browser's fetch, but sends one if the browser opens a page", async (t) => {
  const api = await serve(t);

  for (const mode of ["cors", "no-cors", "same-origin", "websocket"]) {
    assert.deepEqual(
      (await arrive(api, "/protected/", { headers: [["Sec-Fetch-Mode", mode]] })).header("www-authenticate"),
      [bearer, token],
    );
  }
  assert.deepEqual(
    (await arrive(api, "/protected/", { headers: [["Sec-Fetch-Mode", "navigate"]] })).header("www-authenticate"),
    [basic, bearer, token],
  );
  assert.deepEqual((await arrive(api, "/protected/", { method: "HEAD" })).header("www-authenticate"), [
    basic,
    bearer,
    token,
  ]);
});

test("refuses invalid credentials in Authorization, also if the endpoint accepts anonymous callers", async (t) => {
  const api = await serve(t, { config: { registration: "open" } });
  const ann = await api.user("Ann");
  const wrong = await wrongCredentials(api, ann);

  for (const { name, headers, code } of wrong) {
    await t.test(name, async () => {
      api.clock.turn(61);

      const answers = [
        await arrive(api, "/protected/", { headers }),
        await arrive(api, "/users", { method: "POST", headers, body: { name: "Bob", email: "bob@example.com" } }),
      ];

      for (const answer of answers) {
        assert.equal(answer.status, 401, JSON.stringify(answer.json));
        assert.equal(answer.json.code, code);
        const errors = answer.header("www-authenticate").filter((each) => each.includes("error="));
        assert.equal(errors.length, name.startsWith("Bearer") ? 1 : 0);
        if (errors.length === 1)
          assert.match(errors[0]!, /^Bearer realm="latchkey", error="invalid_token", error_description="[^"]+"$/);
        assert.equal(answer.header("www-authenticate").length, 3);
      }
      assert.equal((await arrive(api, "/livez", { headers })).status, 200);
    });
  }
});

async function wrongCredentials(
  api: API,
  ann: { id: number; email: string; password: string; headers: Readonly<Record<string, string>> },
) {
  const { access, refresh } = (await api.post("/api/token/", { username: ann.email, password: ann.password })).json;
  const { token: apiToken } = (await api.post("/api-token-auth/", { username: ann.email, password: ann.password }))
    .json;
  const base64 = (text: string) => Buffer.from(text, "latin1").toString("base64");
  const authorization = (
    name: string,
    value: string,
    code = name.startsWith("Bearer") ? "token_not_valid" : "invalid_token",
  ) => ({
    name,
    headers: [["Authorization", value]] as const,
    code,
  });
  const [head, payload, signature] = (access as string).split(".");
  const unsigned = Buffer.from(JSON.stringify({ alg: "none", typ: "at+jwt" })).toString("base64url");
  return [
    authorization("Basic with a wrong password", basicHeader(ann.email, "wrong").authorization, "invalid_credentials"),
    authorization("Basic with an unknown user", basicHeader("nobody", "wrong").authorization, "invalid_credentials"),
    authorization("Basic with an empty password", basicHeader(ann.email, "").authorization, "invalid_credentials"),
    authorization("Basic without a colon", `Basic ${base64("ann")}`, "invalid_credentials"),
    authorization("Basic that is no UTF-8", `Basic ${base64("\xff:x")}`, "invalid_credentials"),
    authorization("Basic that is no Base64", "Basic %%%", "invalid_credentials"),
    authorization("Basic without credentials", "Basic", "invalid_credentials"),
    authorization("Basic with U+0000", `Basic ${base64("ann\0:x")}`, "invalid_credentials"),
    authorization("Basic of 9000 bytes", `Basic ${base64(`ann:${"x".repeat(6750)}`)}`, "invalid_credentials"),
    authorization("Token of an unknown form", "Token x"),
    authorization("Token without a value", "Token "),
    authorization("Token with a wrong checksum", `Token ${apiToken.slice(0, -1)}${apiToken.endsWith("a") ? "b" : "a"}`),
    authorization("Token of 9000 bytes", `Token ${"l".repeat(9000)}`),
    authorization("Token that is an access token", `Token ${access}`),
    authorization("Bearer of an unknown form", "Bearer x"),
    authorization("Bearer without a value", "Bearer"),
    authorization("Bearer of 9000 bytes", `Bearer ${"l".repeat(9000)}`),
    authorization(
      "Bearer with a changed payload",
      `Bearer ${head}.${Buffer.from('{"sub":"1"}').toString("base64url")}.${signature}`,
    ),
    authorization("Bearer without a signature", `Bearer ${head}.${payload}.`),
    authorization("Bearer with alg none", `Bearer ${unsigned}.${payload}.`),
    authorization("Bearer that is a refresh token", `Bearer ${refresh}`),
    authorization("Bearer that is an API token", `Bearer ${apiToken}`),
  ];
}

test("refuses two Authorization fields and two cookies of one name, even if they are equal", async (t) => {
  const api = await serve(t);
  const admin = ["Authorization", api.admin["authorization"]!] as const;
  const rows = [
    [admin, admin],
    [admin, ["authorization", "Bearer x"]],
    [["Authorization", `${admin[1]}, Bearer x`]],
    [["Cookie", "session=a; session=b"]],
    [
      ["Cookie", "access_token=a"],
      ["Cookie", "access_token=b"],
    ],
    [admin, ["Cookie", "session=a; session=b"]],
  ] as const;

  for (const headers of rows) {
    const answer = await arrive(api, "/protected/", { headers });

    assert.equal(answer.status, 400, JSON.stringify(headers));
    assert.equal(answer.json.code, "duplicate_credentials");
    assert.equal((await arrive(api, "/readyz", { headers })).status, 200);
  }
});

test("refuses credentials of two users, accepts several of one user, and reports a wrong credential before a conflict", async (t) => {
  const api = await serve(t);
  const [ann, bob] = [await api.user("Ann"), await api.user("Bob")];
  const cookie = (await api.post("/api/session/", { username: bob.email, password: bob.password })).headers
    .get("set-cookie")!
    .split(";")[0]!;

  assert.equal((await api.get("/protected/", { ...ann.headers, cookie })).json.code, "conflicting_credentials");
  assert.equal((await api.get("/protected/", { ...ann.headers, cookie })).status, 400);
  assert.equal((await api.get("/protected/", { ...bob.headers, cookie })).json.scheme, "basic");
  assert.equal((await api.get("/protected/", { ...basicHeader(ann.email, "wrong"), cookie })).status, 401);
  const forged = { ...ann.headers, authorization: "Bearer x", cookie };
  assert.equal((await api.get("/protected/", forged)).status, 401);
  assert.equal((await api.get("/livez", { ...ann.headers, cookie })).status, 200);
});

test("reads a scheme name in any case, and treats an unknown scheme as no credential", async (t) => {
  const api = await serve(t);
  const credentials = api.admin["authorization"]!.slice("Basic ".length);

  for (const name of ["basic", "BASIC", "bAsIc"])
    assert.equal((await api.get("/protected/", { authorization: `${name} ${credentials}` })).status, 200);
  assert.equal(
    (await api.get("/protected/", { authorization: `Digest username="a", realm="b"` })).json.code,
    "not_authenticated",
  );
});
