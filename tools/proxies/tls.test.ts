import assert from "node:assert/strict";
import { test } from "node:test";
import { startNginx } from "./nginx.ts";
import { adminPassword, basicHeader, startUpstream } from "./upstream.ts";

const from = "203.0.113.7";
const login = { method: "POST", body: { username: "admin", password: adminPassword } };

test("treats a request as encrypted if its TLS ends in nginx", async (t) => {
  const service = await startUpstream(t);
  const nginx = await startNginx(t, { block: "tls", upstream: service.url });

  const { status, headers } = await nginx.ask("/api/session/", {
    ...login,
    tls: true,
    from,
    headers: { "X-Forwarded-For": "10.9.9.9" },
  });

  assert.equal(status, 201);
  assert.match(String(headers["strict-transport-security"]), /max-age/);
  const cookie = String(headers["set-cookie"]);
  assert.match(cookie, /^__Host-session=[^;]+;.*; Secure/);
  const session = { cookie: cookie.split(";")[0]! };
  assert.equal((await nginx.ask("/api/session/", { tls: true, from, headers: session })).json.scheme, "session");
  const listed = await nginx.ask("/users/1/sessions", { tls: true, from, headers: session });
  assert.deepEqual(
    listed.json.map(({ address }: { address: string }) => address),
    [from],
  );
  const basic = await nginx.ask("/protected/", { tls: true, from, headers: basicHeader("admin", adminPassword) });
  assert.deepEqual([basic.status, basic.json.scheme], [200, "basic"]);

  const logOut = (origin: string) =>
    nginx.ask("/api/session/", { method: "DELETE", tls: true, from, headers: { ...session, origin } });
  assert.equal((await logOut("https://elsewhere.example")).json.code, "cross_site");
  assert.equal((await logOut(`https://127.0.0.1:${nginx.ports.tls}`)).status, 204);
});

test("redirects callers without TLS to https in nginx", async (t) => {
  const service = await startUpstream(t);
  const nginx = await startNginx(t, { block: "tls", upstream: service.url });

  const { status, headers } = await nginx.ask("/users?limit=1", { from });

  assert.deepEqual([status, headers["location"]], [301, "https://127.0.0.1/users?limit=1"]);
});

test("refuses credentials without TLS, even if the caller claims TLS in a header field", async (t) => {
  const service = await startUpstream(t);
  const nginx = await startNginx(t, { block: "cache", upstream: service.url });
  const headers = {
    ...basicHeader("admin", adminPassword),
    "X-Forwarded-Proto": "https",
    "X-Forwarded-For": "127.0.0.1",
  };

  const { status, json } = await nginx.ask("/protected/", { from, headers });
  const loggedIn = await nginx.ask("/api/session/", { ...login, from, headers: { "X-Forwarded-Proto": "https" } });

  assert.deepEqual([status, json.code], [403, "insecure_transport"]);
  assert.deepEqual([loggedIn.status, loggedIn.json.code], [403, "insecure_transport"]);
  assert.equal(loggedIn.headers["set-cookie"], undefined);
});
