import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { freePort } from "../../tests/harness/free-port.ts";
import { startHaproxy, type Haproxy } from "./haproxy.ts";
import { adminPassword, startUpstream, type Upstream } from "./upstream.ts";

const from = "127.0.0.2";
const login = { username: "admin", password: adminPassword };

/** Starts haproxy with one replica that answers and one that is down. */
async function behindHaproxy(t: TestContext): Promise<{ readonly service: Upstream; readonly haproxy: Haproxy }> {
  const service = await startUpstream(t);
  const up = Number(new URL(service.url).port);
  return { service, haproxy: await startHaproxy(t, { replicas: [up, await freePort()] }) };
}

test("treats a request as encrypted if its TLS ends in haproxy, and uses the caller's address", async (t) => {
  const { haproxy } = await behindHaproxy(t);

  const { status, headers } = await haproxy.ask("/api/session/", {
    method: "POST",
    body: login,
    tls: true,
    localAddress: from,
    headers: { "X-Forwarded-For": "10.9.9.9", "X-Forwarded-Proto": "http", "X-Forwarded-Host": "elsewhere.example" },
  });

  assert.equal(status, 201);
  const cookie = String(headers["set-cookie"]);
  assert.match(cookie, /^__Host-session=[^;]+;.*; Secure/);
  const session = { cookie: cookie.split(";")[0]! };
  const listed = await haproxy.ask("/users/1/sessions", { tls: true, headers: session });
  assert.deepEqual(
    listed.json.map(({ address }: { address: string }) => address),
    [from],
  );
  const logOut = (origin: string) =>
    haproxy.ask("/api/session/", { method: "DELETE", tls: true, headers: { ...session, origin } });
  assert.equal((await logOut("https://elsewhere.example")).json.code, "cross_site");
  assert.equal((await logOut(`https://127.0.0.1:${haproxy.ports.tls}`)).status, 204);
});

test("redirects callers without TLS to https in haproxy", async (t) => {
  const { haproxy } = await behindHaproxy(t);

  const { status, headers } = await haproxy.ask("/users?limit=1");

  assert.deepEqual([status, headers["location"]], [302, `https://127.0.0.1:${haproxy.ports.clear}/users?limit=1`]);
});

test("sends no request to a replica that is down, from the first request on", async (t) => {
  const { haproxy } = await behindHaproxy(t);

  for (let request = 0; request < 6; request++) assert.equal((await haproxy.ask("/livez", { tls: true })).status, 200);
});
