import assert from "node:assert/strict";
import { test } from "node:test";
import { arrive } from "../harness/arrive.ts";
import { basicHeader, serve } from "../harness/serve.ts";

// Nightly on PostgreSQL: credentials are read from a request before the store is asked.

const customToken = "custom-token-of-this-service-0123456789";
const settings = { LATCHKEY_CUSTOM_TOKEN: customToken, LATCHKEY_CUSTOM_TOKEN_USERNAME: "admin" };

test("gives a missing and a wrong token the same answer without a challenge if no other scheme is enabled", async (t) => {
  const api = await serve(t, { settings: { ...settings, LATCHKEY_SCHEMES: "custom-header" } });

  for (const headers of [
    {},
    { "x-custom-token": "wrong" },
    { "x-custom-token": "" },
    { "x-custom-token": `${customToken}x` },
    { "x-custom-token": customToken.toUpperCase() },
    { "x-custom-token": "x".repeat(9000) },
    api.admin,
  ]) {
    for (const path of ["/protected/", "/users", "/orders/1"]) {
      const reply = await api.get(path, headers);
      assert.deepEqual(
        [reply.status, reply.json.code, reply.json.detail, reply.headers.get("www-authenticate")],
        [403, "authentication_failed", "Invalid or missing token.", null],
      );
    }
  }
  const reply = await api.get("/protected/", { "x-custom-token": customToken });
  assert.deepEqual(
    [reply.status, reply.json.scheme, reply.json.username, reply.json.user.id],
    [200, "custom-header", "admin", 1],
  );
  assert.match(reply.headers.get("vary")!, /x-custom-token/i);
  assert.equal((await api.get("/livez", { "x-custom-token": "wrong" })).status, 200);
});

test("answers a wrong token with the challenges of the other schemes, and refuses two tokens", async (t) => {
  const api = await serve(t, { settings: { ...settings, LATCHKEY_SCHEMES: "basic,token,custom-header" } });
  const ann = await api.user("Ann");

  // Sent without `api.get`: its fetch over a socket adds Sec-Fetch-Mode, and then the service omits the Basic
  // challenge.
  const wrong = await arrive(api, "/protected/", { headers: [["X-Custom-Token", "wrong"]] });
  assert.deepEqual([wrong.status, wrong.json.detail], [401, "Invalid or missing token."]);
  assert.deepEqual(wrong.header("www-authenticate"), [
    'Basic realm="latchkey", charset="UTF-8"',
    'Token realm="latchkey"',
  ]);
  assert.equal((await api.get("/protected/")).json.detail, "Authentication credentials were not provided.");
  assert.equal((await api.get("/protected/", { "x-custom-token": customToken, ...api.admin })).status, 200);
  assert.equal(
    (await api.get("/protected/", { "x-custom-token": customToken, ...ann.headers })).json.code,
    "conflicting_credentials",
  );
  assert.equal(
    (await api.get("/protected/", { "x-custom-token": customToken, ...basicHeader("admin", "wrong") })).status,
    401,
  );
  const twice = await arrive(api, "/protected/", {
    headers: [
      ["X-Custom-Token", customToken],
      ["x-custom-token", customToken],
    ],
  });
  assert.deepEqual([twice.status, twice.json.code], [400, "duplicate_credentials"]);
});

test("ignores the custom header if its scheme is not enabled", async (t) => {
  const api = await serve(t);

  assert.equal((await api.get("/protected/", { "x-custom-token": customToken })).json.code, "not_authenticated");
  assert.equal((await api.get("/protected/", { "x-custom-token": "wrong", ...api.admin })).status, 200);
});

test("refuses to start if the account of the custom token does not exist, or if no token is set", async (t) => {
  await assert.rejects(
    serve(t, {
      settings: { ...settings, LATCHKEY_SCHEMES: "custom-header", LATCHKEY_CUSTOM_TOKEN_USERNAME: "nobody" },
    }),
    /nobody/,
  );
  await assert.rejects(serve(t, { settings: { LATCHKEY_SCHEMES: "custom-header" } }), /LATCHKEY_CUSTOM_TOKEN/);
});
