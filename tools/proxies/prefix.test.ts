import assert from "node:assert/strict";
import { test } from "node:test";
import { startNginx } from "./nginx.ts";
import { adminPassword, startUpstream } from "./upstream.ts";

test("names only reachable URLs in responses if nginx serves the service under a path", async (t) => {
  const service = await startUpstream(t, { LATCHKEY_BASE_PATH: "/api/v1" });
  const nginx = await startNginx(t, { block: "prefix", upstream: service.url });

  const login = await nginx.ask("/api/v1/api/token/", {
    method: "POST",
    body: { username: "admin", password: adminPassword },
  });
  const headers = { authorization: `Bearer ${login.json.access}` };
  const made = await nginx.ask("/api/v1/orders", { method: "POST", body: {}, headers });
  const missing = await nginx.ask("/api/v1/orders/999", { headers });
  const { json } = await nginx.ask("/api/v1/openapi.json");

  assert.equal((await nginx.ask(String(made.headers["location"]), { headers })).status, 200);
  assert.equal((await nginx.ask(missing.json.type)).status, 200);
  assert.deepEqual(json.servers, [{ url: "/api/v1" }]);
  assert.equal((await nginx.ask("/users", { headers })).status, 404);
});
