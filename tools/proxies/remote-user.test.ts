import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { startNginx, type Nginx, type NginxOptions } from "./nginx.ts";
import { basicHeader, startUpstream, type Upstream } from "./upstream.ts";

const secret = "a-secret-that-only-nginx-knows";
const settings = { LATCHKEY_SCHEMES: "session,token,bearer,remote-user", LATCHKEY_REMOTE_USER_SECRET: secret };
const asAnn = basicHeader("ann@example.com", "checked by nginx");
const hashed = execFileSync("openssl", ["passwd", "-apr1", "checked by nginx"], { encoding: "utf8" }).trim();
const files = { "latchkey.htpasswd": `ann@example.com:${hashed}\nstranger:${hashed}\n` };

async function behindBasic(
  t: TestContext,
  options: Partial<NginxOptions> = {},
): Promise<{ readonly service: Upstream; readonly nginx: Nginx }> {
  const service = await startUpstream(t, settings);
  await service.user("Ann");
  return { service, nginx: await startNginx(t, { block: "basic", upstream: service.url, files, ...options }) };
}

test("accepts the user whose password nginx has checked with auth_basic", async (t) => {
  const { nginx } = await behindBasic(t);

  const annAnswer = await nginx.ask("/protected/", { headers: asAnn });
  const wrong = await nginx.ask("/protected/", { headers: basicHeader("ann@example.com", "wrong") });
  const stranger = await nginx.ask("/protected/", { headers: basicHeader("stranger", "checked by nginx") });

  assert.deepEqual([annAnswer.status, annAnswer.json.scheme, annAnswer.json.user.name], [200, "remote-user", "Ann"]);
  assert.deepEqual([wrong.status, wrong.headers["www-authenticate"]], [401, 'Basic realm="Latchkey"']);
  assert.equal(stranger.status, 401);
});

test("ignores the values that a caller sends in the header fields that nginx sets", async (t) => {
  const { nginx } = await behindBasic(t);

  for (const name of ["X-Remote-User", "x-remote-user", "X_Remote_User", "X-Remote_User"]) {
    const { status, json } = await nginx.ask("/protected/", {
      headers: { ...asAnn, [name]: "admin", "X-Remote-User-Secret": secret },
    });
    assert.deepEqual([status, json.username], [200, "ann@example.com"], name);
  }
});

test("refuses header fields with underscores if nginx passes them on", async (t) => {
  const { nginx } = await behindBasic(t, {
    change: (text) => text.replace("access_log off;", "access_log off; underscores_in_headers on;"),
  });

  for (const name of ["X_Remote_User", "X-Remote_User"]) {
    const { status, json } = await nginx.ask("/protected/", { headers: { ...asAnn, [name]: "admin" } });
    assert.deepEqual([status, json.code], [400, "duplicate_credentials"], name);
  }
});

test("refuses a name without the secret, from a caller that bypasses nginx and from an nginx location without the secret", async (t) => {
  const { service } = await behindBasic(t);
  const forgetful = await startNginx(t, { block: "cache", upstream: service.url });

  assert.equal((await service.ask("/protected/", { "X-Remote-User": "admin" })).status, 401);
  assert.equal((await forgetful.ask("/protected/", { headers: { "X-Remote-User": "admin" } })).status, 401);
});

test("accepts the user whose name nginx received from a custom service through auth_request", async (t) => {
  const service = await startUpstream(t, settings);
  await service.user("Ann");
  const nginx = await startNginx(t, { block: "request", upstream: service.url, signIn: await startSignIn(t) });
  const signedIn = { cookie: "sso=ann" };

  const annAnswer = await nginx.ask("/protected/", { headers: signedIn });
  const spoofed = await nginx.ask("/protected/", {
    headers: { ...signedIn, "X-Remote-User": "admin", "X-User": "admin" },
  });
  const nameless = await nginx.ask("/protected/", { headers: { cookie: "sso=nameless", "X-Remote-User": "admin" } });
  const written = await nginx.ask("/orders", { method: "POST", headers: signedIn, body: { status: "open" } });

  assert.deepEqual(
    [annAnswer.status, annAnswer.json.scheme, annAnswer.json.username],
    [200, "remote-user", "ann@example.com"],
  );
  assert.equal(spoofed.json.username, "ann@example.com");
  assert.equal(nameless.json.code, "not_authenticated");
  assert.equal(written.status, 201);
  assert.equal((await nginx.ask("/protected/", { headers: { "X-Remote-User": "admin" } })).status, 401);
});

/** Starts the service that nginx asks: the cookie names the user. */
async function startSignIn(t: TestContext): Promise<string> {
  const server = createServer(({ headers }, response) => {
    const name = { "sso=ann": "ann@example.com", "sso=nameless": "" }[headers.cookie ?? ""];
    response.writeHead(name === undefined ? 401 : 200, name ? { "X-User": name } : {}).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
