import assert from "node:assert/strict";
import test from "node:test";
import { basicHeader, serve, type API } from "../harness/serve.ts";

const JSON_PATCH = { "content-type": "application/json-patch+json" };
const MERGE_PATCH = { "content-type": "application/merge-patch+json" };

test("changes the named members by a merge patch, and reads a body of plain JSON as a merge patch", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");

  for (const headers of [MERGE_PATCH, { "content-type": "application/json" }]) {
    const answer = await api.patch(`/users/${ann.id}`, JSON.stringify({ id: ann.id, name: " Bea " }), {
      ...api.admin,
      ...headers,
    });
    assert.deepEqual([answer.status, answer.json], [200, { id: ann.id, name: "Bea", email: ann.email }]);
    assert.ok(answer.headers.has("etag"));
  }
  assert.equal((await api.patch(`/users/${ann.id}`, "{}", { ...api.admin, ...MERGE_PATCH })).status, 200);
});

test("refuses a merge patch with an invalid result, and changes nothing", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const rows: readonly (readonly [patch: unknown, pointer: string])[] = [
    [{ name: null }, "/name"],
    [{ email: null }, "/email"],
    [{ name: { x: 1 } }, "/name"],
    [{ id: null }, "/id"],
    [{ id: 1 }, "/id"],
    [{ id: String(ann.id) }, "/id"],
    [{ bogus: null }, "/bogus"],
    [{ name: "Bea", bogus: 1 }, "/bogus"],
    [[], ""],
    [null, ""],
    ["Bea", ""],
  ];

  for (const [patch, pointer] of rows) {
    const answer = await api.patch(`/users/${ann.id}`, JSON.stringify(patch), { ...api.admin, ...MERGE_PATCH });
    assert.deepEqual(
      [answer.status, answer.json.code, answer.json.errors?.[0].pointer],
      [400, "invalid", pointer],
      JSON.stringify(patch),
    );
  }
  await unchanged(api, ann);
});

test("applies a JSON Patch as a whole", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const patch = [
    { op: "test", path: "/name", value: "Ann" },
    { op: "test", path: "/id", value: ann.id },
    { op: "replace", path: "/name", value: "Bea" },
    { op: "copy", from: "/email", path: "/name" },
    { op: "add", path: "/email", value: "bea@example.com" },
    { op: "add", path: "/password", value: "password of bea" },
    { op: "add", path: "/username", value: "bea" },
  ];

  const answer = await api.patch(`/users/${ann.id}`, patch, { ...api.admin, ...JSON_PATCH });

  assert.deepEqual([answer.status, answer.json], [200, { id: ann.id, name: ann.email, email: "bea@example.com" }]);
  assert.equal((await api.get("/users", basicHeader("bea", "password of bea"))).status, 200);
});

test("changes nothing for a JSON Patch that cannot be applied", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const good = { op: "replace", path: "/name", value: "Bea" };
  const rows: readonly (readonly [patch: unknown, status: number, code: string])[] = [
    [{}, 400, "invalid_patch"],
    [[{}], 400, "invalid_patch"],
    [[good, { op: "replace", path: "/email" }], 400, "invalid_patch"],
    [[good, { op: "replace", path: "email", value: "x" }], 400, "invalid_patch"],
    [[good, { op: "frobnicate", path: "/email" }], 400, "invalid_patch"],
    [[good, { op: "move", from: "/name", path: "/name/x" }], 400, "invalid_patch"],
    [[good, { op: "test", path: "/name", value: "Ann" }], 409, "patch_conflict"],
    [[good, { op: "replace", path: "/nothing", value: 1 }], 409, "patch_conflict"],
    [[good, { op: "remove", path: "/nothing" }], 409, "patch_conflict"],
    [[good, { op: "add", path: "/name/x", value: 1 }], 409, "patch_conflict"],
    [[good, { op: "test", path: "/password", value: "password of Ann" }], 409, "patch_conflict"],
    [[good, { op: "replace", path: "/password", value: "another password" }], 409, "patch_conflict"],
    [[good, { op: "copy", from: "/username", path: "/name" }], 409, "patch_conflict"],
    [[good, { op: "remove", path: "/username" }], 409, "patch_conflict"],
    [[good, { op: "remove", path: "" }], 409, "patch_conflict"],
    [[good, { op: "remove", path: "/email" }], 400, "invalid"],
    [[good, { op: "move", from: "/email", path: "/name" }], 400, "invalid"],
    [[good, { op: "replace", path: "/id", value: 1 }], 400, "invalid"],
    [[good, { op: "add", path: "/__proto__", value: {} }], 400, "invalid"],
    [[good, { op: "replace", path: "", value: 5 }], 400, "invalid"],
    [[good, { op: "replace", path: "", value: { name: "x" } }], 400, "invalid"],
  ];

  for (const [patch, status, code] of rows) {
    const answer = await api.patch(`/users/${ann.id}`, patch, { ...api.admin, ...JSON_PATCH });
    assert.deepEqual([answer.status, answer.json.code], [status, code], `${JSON.stringify(patch)}: ${answer.text}`);
  }
  await unchanged(api, ann);
});

test("accepts an empty JSON Patch, and a JSON Patch that replaces the whole record", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");

  assert.equal((await api.patch(`/users/${ann.id}`, [], { ...api.admin, ...JSON_PATCH })).status, 200);
  const whole = await api.patch(
    `/users/${ann.id}`,
    [{ op: "replace", path: "", value: { name: "Bea", email: ann.email } }],
    { ...api.admin, ...JSON_PATCH },
  );

  assert.deepEqual(whole.json, { id: ann.id, name: "Bea", email: ann.email });
});

test("reads and changes the account as a separate record", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const path = `/users/${ann.id}/account`;
  const read = await api.get(path, ann.headers);
  const tag = read.headers.get("etag")!;

  assert.deepEqual(read.json, {
    username: ann.email,
    role: "user",
    active: true,
    created_at: "2026-01-31T09:30:00.000Z",
    last_login_at: null,
  });
  const patched = await api.patch(path, [{ op: "replace", path: "/role", value: "admin" }], {
    ...api.admin,
    ...JSON_PATCH,
    "if-match": tag,
  });
  assert.deepEqual([patched.status, patched.json.role], [200, "admin"]);
  assert.equal((await api.get(path, api.admin)).headers.get("etag"), patched.headers.get("etag"));
  assert.equal((await api.patch(path, { active: false }, { ...api.admin, "if-match": tag })).status, 412);
  for (const [body, code] of [
    [{ role: "king" }, "invalid"],
    [{ active: "yes" }, "invalid"],
    [{ created_at: "2020-01-01T00:00:00Z" }, "read_only"],
    [{ last_login_at: "2020-01-01T00:00:00Z" }, "read_only"],
    [{ password_hash: "x" }, "unknown_field"],
    [{ generation: 1 }, "unknown_field"],
    [{ username: "a:b" }, "invalid"],
    [{ username: null }, "invalid"],
  ] as const) {
    const answer = await api.patch(path, body, api.admin);
    assert.deepEqual([answer.status, answer.json.errors?.[0].code], [400, code], JSON.stringify(body));
  }
  const ben = await api.user("Ben");
  assert.deepEqual((await api.patch(`/users/${ben.id}/account`, { username: "ADMIN" }, api.admin)).json.errors, [
    { pointer: "/username", code: "taken", detail: "This value is already taken." },
  ]);
  assert.equal((await api.get("/users/999/account", api.admin)).status, 404);
  await api.post("/api/token/", { username: ann.email, password: ann.password });
  assert.equal((await api.get(path, api.admin)).json.last_login_at, "2026-01-31T09:30:00.000Z");
});

async function unchanged(api: API, ann: { id: number; email: string; headers: Record<string, string> }): Promise<void> {
  assert.deepEqual((await api.get(`/users/${ann.id}`, ann.headers)).json, {
    id: ann.id,
    name: "Ann",
    email: ann.email,
  });
}
