import assert from "node:assert/strict";
import { test } from "node:test";
import { serve, type API } from "../harness/serve.ts";

const withToken = (token: string) => ({ authorization: `Token ${token}` });

async function issue(api: API, id: number, headers: Readonly<Record<string, string>>): Promise<string> {
  return (await api.post(`/users/${id}/token`, undefined, headers)).json.token;
}

test("gives a user one token: creates it once, returns the same token later, and creates a new one after a revocation", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const path = `/users/${ann.id}/token`;
  assert.equal((await api.get(path, ann.headers)).status, 404);

  const made = await api.post(path, undefined, ann.headers);
  assert.deepEqual(
    [made.status, Object.keys(made.json), made.headers.get("cache-control")],
    [201, ["token"], "no-store"],
  );
  assert.match(made.json.token, /^lk_[0-9A-Za-z]{62}$/);
  for (const [headers, target] of [
    [ann.headers, path],
    [api.admin, path],
    [ann.headers, `${path}/`],
  ] as const) {
    const again = await api.post(target, undefined, headers);
    assert.deepEqual([again.status, again.json], [200, made.json]);
  }
  const obtained = await api.post("/api-token-auth/", { username: ann.email, password: ann.password });
  assert.deepEqual([obtained.status, obtained.json], [200, made.json]);

  const shown = await api.get(path, withToken(made.json.token));
  assert.deepEqual(shown.json, {
    prefix: made.json.token.slice(0, 17),
    created_at: "2026-01-31T09:30:00.000Z",
    last_used_at: shown.json.last_used_at,
  });
  assert.equal((await api.get("/protected/", withToken(made.json.token))).json.scheme, "token");

  assert.equal((await api.delete(path, withToken(made.json.token))).status, 204);
  assert.equal((await api.get("/protected/", withToken(made.json.token))).status, 401);
  assert.equal((await api.get(path, ann.headers)).status, 404);
  const next = await api.post(path, undefined, ann.headers);
  assert.equal(next.status, 201);
  assert.notEqual(next.json.token, made.json.token);
});

test("creates one token for concurrent requests and returns it to all of them", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");

  const replies = await Promise.all(
    Array.from({ length: 12 }, () => api.post(`/users/${ann.id}/token`, undefined, ann.headers)),
  );

  assert.deepEqual(
    [200, 201].map((status) => replies.filter((reply) => reply.status === status).length),
    [11, 1],
  );
  assert.equal(new Set(replies.map(({ json }) => json.token)).size, 1);
});

test("lets only the user and administrators access a token", async (t) => {
  const api = await serve(t);
  const [ann, bob] = [await api.user("Ann"), await api.user("Bob")];
  await issue(api, ann.id, ann.headers);

  for (const method of ["GET", "POST", "DELETE"]) {
    assert.equal((await api.ask(method, `/users/${ann.id}/token`, { headers: bob.headers })).status, 403);
    assert.equal((await api.ask(method, "/users/999/token", { headers: bob.headers })).status, 403);
    assert.equal((await api.ask(method, `/users/${ann.id}/token`)).status, 401);
    assert.equal((await api.ask(method, "/users/999/token", { headers: api.admin })).status, 404);
  }
});

test("revokes a token at deactivation and deletion, and does not restore it with the user", async (t) => {
  const api = await serve(t);
  const [ann, bob] = [await api.user("Ann"), await api.user("Bob")];
  const [annsToken, bobsToken] = [await issue(api, ann.id, ann.headers), await issue(api, bob.id, bob.headers)];

  await api.patch(`/users/${ann.id}/account`, { active: false }, api.admin);
  assert.equal((await api.get("/protected/", withToken(annsToken))).status, 401);
  await api.patch(`/users/${ann.id}/account`, { active: true }, api.admin);
  assert.equal((await api.get("/protected/", withToken(annsToken))).status, 401);
  assert.notEqual(await issue(api, ann.id, ann.headers), annsToken);

  await api.delete(`/users/${bob.id}`, api.admin);
  assert.equal((await api.get("/protected/", withToken(bobsToken))).status, 401);
  api.clock.turn(1);
  assert.equal(
    (await api.put(`/users/${bob.id}`, { name: "Bob", email: bob.email, password: bob.password }, api.admin)).status,
    201,
  );
  assert.equal((await api.get("/protected/", withToken(bobsToken))).status, 401);
});

test("answers a wrong password at /api-token-auth/ with 401, and a missing field with 400", async (t) => {
  const api = await serve(t);

  // This endpoint imitates Django REST framework, but that answers 400 to a wrong password.
  assert.equal((await api.post("/api-token-auth/", { username: "admin", password: "wrong" })).status, 401);
  assert.equal((await api.post("/api-token-auth", { username: "admin" })).status, 400);
  assert.equal((await api.post("/api-token-auth/", "admin", { "content-type": "text/plain" })).status, 415);
  assert.equal((await api.get("/api-token-auth/")).status, 405);
});
