import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "./serve.ts";

test("administrators read counts and latencies by route, and nobody else does", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  await api.get("/users/1", api.admin);
  await api.get("/no/such/place");
  await api.get("/protected/", { authorization: "Bearer x.y.z" });

  const metrics = await api.get("/metrics", api.admin);

  assert.equal(metrics.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  assert.equal(metrics.headers.get("cache-control"), "no-store");
  assert.match(metrics.text, /^latchkey_requests_total\{method="GET",route="\/users\/\{id\}",status="200"\} 1$/m);
  assert.match(metrics.text, /^latchkey_requests_total\{method="GET",route="none",status="404"\} 1$/m);
  assert.match(metrics.text, /^latchkey_request_duration_seconds_count\{method="GET",route="\/users\/\{id\}"\} 1$/m);
  assert.match(metrics.text, /^latchkey_refusals_total\{scheme="bearer",reason="malformed"\} 1$/m);
  assert.equal((await api.get("/metrics", ann.headers)).status, 403);
  assert.equal((await api.get("/metrics")).status, 401);
});

test("what callers make up does not become a series", async (t) => {
  const api = await serve(t);
  for (const method of ["BREW", "WHEN"]) await api.ask(method, "/users");
  for (const path of ["/a", "/b"]) await api.get(path);

  const { text } = await api.get("/metrics", api.admin);

  assert.equal(text.includes("BREW") || text.includes('"/a"'), false);
  assert.match(text, /^latchkey_requests_total\{method="GET",route="none",status="404"\} 2$/m);
});
