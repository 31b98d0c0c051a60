import assert from "node:assert/strict";
import { test } from "node:test";
import { arrive } from "../harness/arrive.ts";
import { adminPassword, serve } from "../harness/serve.ts";

// Nightly on PostgreSQL: credentials are read from a request before the store is asked.

const admin = { username: "admin", password: adminPassword };
const proxied = [
  ["X-Forwarded-For", "203.0.113.7"],
  ["X-Forwarded-Proto", "https"],
] as const;

/** The ways by which requests arrive, with the name and the attribute that their session cookie gets. */
const transports = [
  { from: "loopback", arriving: {}, trust: "", session: "session", secure: "" },
  { from: "127.8.8.8", arriving: { peer: "127.8.8.8" }, trust: "", session: "session", secure: "" },
  {
    from: "loopback over TLS",
    arriving: { encrypted: true },
    trust: "",
    session: "__Host-session",
    secure: "; Secure",
  },
  { from: "another machine", arriving: { peer: "203.0.113.7" }, trust: "", session: "session", secure: "; Secure" },
  {
    from: "another machine over TLS",
    arriving: { peer: "203.0.113.7", encrypted: true },
    trust: "",
    session: "__Host-session",
    secure: "; Secure",
  },
  {
    from: "a trusted proxy that says https",
    arriving: { peer: "10.0.0.1", headers: proxied },
    trust: "10.0.0.0/8",
    session: "__Host-session",
    secure: "; Secure",
  },
  {
    from: "a proxy on this machine that says https",
    arriving: { headers: proxied },
    trust: "127.0.0.1",
    session: "__Host-session",
    secure: "; Secure",
  },
  {
    from: "an untrusted proxy that says https",
    arriving: { headers: proxied },
    trust: "",
    session: "session",
    secure: "",
  },
];

for (const { from, arriving, trust, session, secure } of transports) {
  test(`sets and deletes cookies with the prefix and the attributes for a request from ${from}`, async (t) => {
    const api = await serve(t, {
      settings: { LATCHKEY_CLEARTEXT_LOGINS: "allow", ...(trust === "" ? {} : { LATCHKEY_TRUSTED_PROXIES: trust }) },
    });

    const loggedIn = await arrive(api, "/api/session/", { ...arriving, method: "POST", body: admin });
    assert.equal(loggedIn.status, 201);
    assertCookies(loggedIn.header("set-cookie"), [
      `${session}; Max-Age=1209600; Path=/; HttpOnly${secure}; SameSite=Lax`,
    ]);

    const tokens = await arrive(api, "/api/token/", { ...arriving, method: "POST", body: { ...admin, cookie: true } });
    assert.deepEqual(tokens.json, { token_type: "Bearer", expires_in: 300 });
    assertCookies(tokens.header("set-cookie"), [
      `${session.startsWith("__Host-") ? "__Host-" : ""}access_token; Max-Age=300; Path=/; HttpOnly${secure}; SameSite=Lax`,
      `${session.startsWith("__Host-") ? "__Secure-" : ""}refresh_token; Max-Age=604800; Path=/api/token/; HttpOnly${secure}; SameSite=Strict`,
    ]);

    const cookies = [...loggedIn.header("set-cookie"), ...tokens.header("set-cookie")].map(
      (each) => each.split(";")[0]!,
    );
    const sessionAnswer = await arrive(api, "/api/session/", {
      ...arriving,
      headers: [...(arriving.headers ?? []), ["Cookie", cookies[0]!]],
    });
    assert.deepEqual(
      [sessionAnswer.status, sessionAnswer.json.scheme, sessionAnswer.json.expires_at],
      [200, "session", "2026-02-14T09:30:00.000Z"],
    );

    const out = await arrive(api, "/api/session/", {
      ...arriving,
      method: "DELETE",
      headers: [...(arriving.headers ?? []), ["Cookie", cookies[0]!]],
    });
    assert.equal(out.status, 204);
    assertCookies(out.header("set-cookie"), [`${session}; Max-Age=0; Path=/; HttpOnly${secure}; SameSite=Lax`]);
    assert.equal(
      (
        await arrive(api, "/api/session/", {
          ...arriving,
          headers: [...(arriving.headers ?? []), ["Cookie", cookies[0]!]],
        })
      ).status,
      401,
    );

    const away = await arrive(api, "/api/token/", {
      ...arriving,
      method: "DELETE",
      headers: [...(arriving.headers ?? []), ["Cookie", cookies[2]!]],
    });
    assert.equal(away.status, 204);
    assertCookies(away.header("set-cookie"), [
      `${session.startsWith("__Host-") ? "__Host-" : ""}access_token; Max-Age=0; Path=/; HttpOnly${secure}; SameSite=Lax`,
      `${session.startsWith("__Host-") ? "__Secure-" : ""}refresh_token; Max-Age=0; Path=/api/token/; HttpOnly${secure}; SameSite=Strict`,
    ]);
  });
}

/** Compares names and attributes in any order, without the values. */
function assertCookies(sent: readonly string[], expected: readonly string[]): void {
  const sorted = (cookie: string): string => {
    const [pair = "", ...attributes] = cookie.split("; ");
    return [pair.replace(/=.*/, ""), ...attributes.toSorted()].join("; ");
  };
  assert.deepEqual(sent.map(sorted), expected.map(sorted));
}

test("answers a refresh by cookie with new cookies, and a refresh by body with tokens in the body", async (t) => {
  const api = await serve(t);
  const jar = readCookies(await arrive(api, "/api/token/", { method: "POST", body: { ...admin, cookie: true } }));

  const reply = await arrive(api, "/api/token/refresh/", { method: "POST", headers: [["Cookie", jar]] });

  assert.deepEqual(reply.json, { token_type: "Bearer", expires_in: 300 });
  assert.equal(reply.header("set-cookie").length, 2);
  const fresh = readCookies(reply);
  assert.notEqual(fresh, jar);
  assert.equal((await arrive(api, "/protected/", { headers: [["Cookie", fresh]] })).json.scheme, "bearer");
  const named = await arrive(api, "/api/token/refresh/", {
    method: "POST",
    body: { refresh: fresh.split("refresh_token=")[1] },
    headers: [["Cookie", fresh]],
  });
  assert.deepEqual(Object.keys(named.json), ["access", "refresh", "token_type", "expires_in"]);
  assert.deepEqual(named.header("set-cookie"), []);
});

test("ignores a session cookie without the `__Host-` prefix over TLS", async (t) => {
  const api = await serve(t);
  const cookie = readCookies(await arrive(api, "/api/session/", { method: "POST", body: admin }));

  assert.equal((await arrive(api, "/protected/", { headers: [["Cookie", cookie]] })).status, 200);
  const answer = await arrive(api, "/protected/", { headers: [["Cookie", cookie]], encrypted: true });
  assert.deepEqual([answer.status, answer.json.code], [401, "not_authenticated"]);
});

test("refuses a cookie with two different values at login, refresh and logout", async (t) => {
  const api = await serve(t);
  const session = readCookies(await arrive(api, "/api/session/", { method: "POST", body: admin }));
  const tokens = readCookies(await arrive(api, "/api/token/", { method: "POST", body: { ...admin, cookie: true } }));
  const twice = async (method: string, path: string, cookie: string, site: string) =>
    (
      await arrive(api, path, {
        method,
        headers: [
          ["Cookie", cookie],
          ["Sec-Fetch-Site", site],
        ],
      })
    ).json?.code;

  // The site has no effect, because the service looks for duplicate credentials before it checks the origin.
  for (const site of ["none", "cross-site"]) {
    assert.equal(await twice("DELETE", "/api/session/", `${session}; session=other`, site), "duplicate_credentials");
    assert.equal(
      await twice("POST", "/api/token/refresh/", `${tokens}; refresh_token=other`, site),
      "duplicate_credentials",
    );
    assert.equal(await twice("DELETE", "/api/token/", `${tokens}; refresh_token=other`, site), "duplicate_credentials");
  }
  assert.equal((await arrive(api, "/protected/", { headers: [["Cookie", session]] })).status, 200);
  assert.equal(
    (await arrive(api, "/api/token/refresh/", { method: "POST", headers: [["Cookie", tokens]] })).status,
    200,
  );
});

function readCookies(answer: Awaited<ReturnType<typeof arrive>>): string {
  return answer
    .header("set-cookie")
    .map((each) => each.split(";")[0]!)
    .join("; ");
}

test("reads only the prefixed cookies over TLS, and only the plain ones without TLS", async (t) => {
  const api = await serve(t);
  const pair = (await api.post("/api/token/", admin)).json as { access: string; refresh: string };
  const access = (names: readonly string[]) => names.map((name) => `${name}access_token=${pair.access}`).join("; ");
  const refresh = (names: readonly string[]) => names.map((name) => `${name}refresh_token=${pair.refresh}`).join("; ");
  const ask = async (encrypted: boolean, path: string, method: string, cookie: string): Promise<number> =>
    (await arrive(api, path, { encrypted, method, headers: [["Cookie", cookie]] })).status;

  assert.equal(await ask(true, "/protected/", "GET", access([""])), 401);
  assert.equal(await ask(true, "/protected/", "GET", access(["__Secure-"])), 401);
  assert.equal(await ask(true, "/protected/", "GET", access(["__Host-"])), 200);
  assert.equal(await ask(true, "/protected/", "GET", `access_token=forged; ${access(["__Host-"])}`), 200);
  assert.equal(await ask(false, "/protected/", "GET", access(["__Host-"])), 401);
  assert.equal(await ask(false, "/protected/", "GET", `__Host-access_token=forged; ${access([""])}`), 200);
  assert.equal(await ask(true, "/api/token/refresh/", "POST", refresh([""])), 400);
  assert.equal(await ask(true, "/api/token/refresh/", "POST", refresh(["__Host-"])), 400);
  assert.equal(await ask(false, "/api/token/refresh/", "POST", refresh(["__Secure-"])), 400);
  assert.equal(await ask(true, "/api/token/refresh/", "POST", `refresh_token=x; ${refresh(["__Secure-"])}`), 200);
  const two = `__Secure-refresh_token=x; ${refresh(["__Secure-"])}`;
  assert.equal(await ask(true, "/api/token/refresh/", "POST", two), 400);
});

test("ignores a cookie whose name starts or ends with an unusual space, because a neighboring host can set it", async (t) => {
  const api = await serve(t);
  const { access } = (await api.post("/api/token/", admin)).json as { access: string };
  const own = `__Host-access_token=${access}`;
  const ask = async (cookie: string): Promise<number> =>
    (await arrive(api, "/protected/", { encrypted: true, headers: [["Cookie", cookie]] })).status;

  // JavaScript's `trim` would remove these characters, but browsers and RFC 6265 remove only spaces and tabs.
  for (const odd of ["\u00a0", "\u000b", "\u000c"]) {
    assert.equal(await ask(`${odd}${own}`), 401, JSON.stringify(odd));
    assert.equal(await ask(`__Host-access_token${odd}=${access}`), 401, JSON.stringify(odd));
    assert.equal(await ask(`${odd}__Host-access_token=planted; ${own}`), 200, JSON.stringify(odd));
  }
  assert.equal(await ask(`a=b;\t ${own} `), 200);
});
