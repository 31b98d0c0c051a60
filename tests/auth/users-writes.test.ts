import assert from "node:assert/strict";
import { test } from "node:test";
import { adminPassword, basicHeader, serve } from "../harness/serve.ts";

test("lets administrators see and change all users, and other callers only themselves", async (t) => {
  const api = await serve(t);
  const [ann, bob] = [await api.user("Ann"), await api.user("Bob")];
  const rows: readonly (readonly [method: string, path: string, body: unknown, status: number])[] = [
    ["GET", `/users/${bob.id}`, undefined, 403],
    ["GET", "/users/999", undefined, 403],
    ["PUT", `/users/${bob.id}`, { name: "x", email: "x@example.com" }, 403],
    ["PUT", "/users/999", { name: "x", email: "x@example.com" }, 403],
    ["PATCH", `/users/${bob.id}`, { name: "x" }, 403],
    ["DELETE", `/users/${bob.id}`, undefined, 403],
    ["POST", "/users", { name: "x", email: "x@example.com" }, 403],
    ["GET", `/users/${bob.id}/account`, undefined, 403],
    ["PATCH", `/users/${bob.id}/account`, { username: "x" }, 403],
    ["PATCH", `/users/${ann.id}/account`, { role: "admin" }, 403],
    ["PATCH", `/users/${ann.id}/account`, { active: false }, 403],
    ["GET", `/users/${ann.id}`, undefined, 200],
    ["PATCH", `/users/${ann.id}/account`, { role: "user", active: true }, 200],
    ["PATCH", `/users/${ann.id}`, { name: "Ann the Second" }, 200],
    ["DELETE", `/users/${ann.id}`, undefined, 204],
  ];

  assert.deepEqual(
    (await api.get("/users", ann.headers)).json.map(({ id }: { id: number }) => id),
    [ann.id],
  );
  for (const [method, path, body, status] of rows) {
    assert.equal((await api.ask(method, path, { body, headers: ann.headers })).status, status, `${method} ${path}`);
    if (status === 403) assert.equal((await api.ask(method, path, { body })).status, 401, `${method} ${path}`);
  }
  assert.deepEqual(
    (await api.get("/users", api.admin)).json.map(({ name }: { name: string }) => name),
    ["Administrator", "Bob"],
  );
});

test("replaces the shown fields with PUT, and keeps the password if it is not sent", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");

  const put = await api.put(`/users/${ann.id}/`, { id: ann.id, name: "Bea", email: ann.email }, ann.headers);
  const without = await api.put(`/users/${ann.id}`, { name: "Bea" }, ann.headers);
  const other = await api.put(`/users/${ann.id}`, { id: 1, name: "Bea", email: ann.email }, ann.headers);

  assert.deepEqual([put.status, put.json], [200, { id: ann.id, name: "Bea", email: ann.email }]);
  assert.deepEqual([without.json.code, without.json.errors[0].pointer], ["invalid", "/email"]);
  assert.deepEqual([other.json.errors[0].pointer, other.json.errors[0].code], ["/id", "read_only"]);
  assert.equal((await api.get(`/users/${ann.id}`, ann.headers)).status, 200, "PUT kept the password");
});

test("never assigns an id with POST that PUT has used or that was deleted", async (t) => {
  const api = await serve(t);
  const put = (id: number) => api.put(`/users/${id}`, { name: `n${id}`, email: `n${id}@example.com` }, api.admin);
  let count = 0;
  const post = async (): Promise<number> =>
    (await api.post("/users", { name: "x", email: `x${count++}@example.com` }, api.admin)).json.id;

  const created = await put(3);
  await put(9007199254740991);
  const first = [await post(), await post()];
  await api.delete("/users/3", api.admin);
  await api.delete("/users/4", api.admin);
  await api.delete("/users/9007199254740991", api.admin);

  assert.deepEqual(
    [created.status, created.headers.get("location"), created.json],
    [201, "/users/3", { id: 3, name: "n3", email: "n3@example.com" }],
  );
  assert.ok(created.headers.has("etag"));
  assert.deepEqual(first, [2, 4]);
  assert.deepEqual([await post(), await post()], [5, 6]);
  assert.equal((await put(9007199254740991)).status, 201);
  assert.equal(await post(), 7);
});

test("deletes every credential together with its user, and accepts none of them if the id is used again", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const { access, refresh } = (await api.post("/api/token/", { username: ann.email, password: ann.password })).json;
  const bearer = { authorization: `Bearer ${access}` };
  assert.equal((await api.get("/users", bearer)).status, 200);

  assert.equal((await api.delete(`/users/${ann.id}`, api.admin)).status, 204);
  assert.equal((await api.get("/users", bearer)).status, 401);
  assert.equal((await api.get(`/users/${ann.id}`, api.admin)).status, 404);
  assert.equal((await api.delete(`/users/${ann.id}`, api.admin)).status, 404);
  api.clock.turn(1);
  await api.put(`/users/${ann.id}`, { name: "Bob", email: "bob@example.com", password: "password of bob" }, api.admin);

  for (const headers of [bearer, ann.headers]) assert.equal((await api.get("/users", headers)).status, 401);
  assert.equal((await api.post("/api/token/refresh/", { refresh })).status, 401);
  assert.equal((await api.get("/users", basicHeader("bob@example.com", "password of bob"))).status, 200);
});

test("refuses to remove the last active administrator, and to delete a user with orders", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  await api.post("/orders", {}, ann.headers);
  const last: readonly (readonly [method: string, path: string, body: unknown])[] = [
    ["DELETE", "/users/1", undefined],
    ["PATCH", "/users/1/account", { role: "user" }],
    ["PATCH", "/users/1/account", { active: false }],
  ];

  for (const [method, path, body] of last) {
    const answer = await api.ask(method, path, { body, headers: api.admin });
    assert.deepEqual([answer.status, answer.json.code], [409, "last_admin"], `${method} ${path}`);
  }
  const referenced = await api.delete(`/users/${ann.id}`, api.admin);
  assert.deepEqual([referenced.status, referenced.json.code], [409, "referenced"]);
  assert.equal((await api.get("/users", ann.headers)).status, 200, "the refused deletion revoked no credential");
  await api.patch(`/users/${ann.id}/account`, { role: "admin", active: false }, api.admin);
  assert.equal(
    (await api.delete("/users/1", api.admin)).json.code,
    "last_admin",
    "an inactive administrator does not count",
  );
});

test("keeps one of two administrators who demote and deactivate each other at the same time", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  await api.patch(`/users/${ann.id}/account`, { role: "admin" }, api.admin);
  // Makes the service cache Ann's password. Otherwise it would check the password only after Ann has lost her role.
  await api.get("/protected/", ann.headers);

  const answers = await Promise.all([
    api.patch("/users/1/account", { role: "user" }, ann.headers),
    api.patch(`/users/${ann.id}/account`, { active: false }, api.admin),
  ]);

  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((one, other) => one - other),
    [200, 409],
  );
});

test("applies all of many concurrent changes of a record without If-Match", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");

  const answers = await Promise.all(
    Array.from({ length: 64 }, (_, at) => api.patch(`/users/${ann.id}`, { name: `Ann ${at}` }, api.admin)),
  );

  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
});

test("requires the current password to change your own password or username", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const current_password = ann.password;
  const rows: readonly (readonly [path: string, body: object, code: string])[] = [
    ["", { password: "another password" }, "required"],
    ["", { username: "ann" }, "required"],
    ["", { password: "another password", current_password: "wrong" }, "invalid"],
    ["/account", { username: "ann" }, "required"],
    ["/account", { username: "ann", current_password: "wrong" }, "invalid"],
  ];

  for (const [path, body, code] of rows) {
    const answer = await api.patch(`/users/${ann.id}${path}`, body, ann.headers);
    assert.deepEqual(
      [answer.status, answer.json.errors[0].pointer, answer.json.errors[0].code],
      [400, "/current_password", code],
      JSON.stringify(body),
    );
  }
  assert.equal(
    (await api.patch("/users/1", { password: "another password" }, api.admin)).json.errors[0].pointer,
    "/current_password",
  );
  assert.equal(
    (await api.patch(`/users/${ann.id}`, { username: ann.email.toUpperCase(), current_password }, ann.headers)).status,
    200,
  );
  assert.equal(
    (await api.patch(`/users/${ann.id}/account`, { username: "ann", current_password }, ann.headers)).json.username,
    "ann",
  );
  const asAnn = basicHeader("ann", ann.password);
  assert.equal(
    (
      await api.put(
        `/users/${ann.id}`,
        { name: "Ann", email: ann.email, password: "a third password", current_password },
        asAnn,
      )
    ).status,
    200,
  );
  assert.equal((await api.get("/users", asAnn)).status, 401);
  assert.equal((await api.get("/users", basicHeader("ann", "a third password"))).status, 200);
  assert.equal(
    (await api.patch(`/users/${ann.id}`, { password: "given by the admin", username: "bea" }, api.admin)).status,
    200,
  );
  assert.equal((await api.get("/users", basicHeader("BEA", "given by the admin"))).status, 200);
  assert.equal(
    (await api.patch("/users/1", { password: "another password", current_password: adminPassword }, api.admin)).status,
    200,
  );
});

test("lets anonymous callers create a user if registration is open, but nothing else", async (t) => {
  const api = await serve(t, { config: { registration: "open" } });

  const made = await api.post("/users", { name: "Ann", email: "ann@example.com", password: "password of ann" });
  const role = await api.post("/users", { name: "Bob", email: "bob@example.com", role: "admin" });

  assert.deepEqual([made.status, made.headers.get("location")], [201, "/users/2"]);
  assert.equal(role.json.errors[0].code, "unknown_field");
  assert.equal((await api.put("/users/9", { name: "x", email: "x@example.com" })).status, 401);
  assert.equal(
    (await api.get("/users/2/account", basicHeader("ann@example.com", "password of ann"))).json.role,
    "user",
  );
});

test("still accepts an ETag in If-Match after a login of the account, but shows the new login time for If-None-Match", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const path = `/users/${ann.id}/account`;
  const read = await api.get(path, api.admin);
  const page = await api.get(path, { ...api.admin, accept: "text/html" });
  const etag = read.headers.get("etag")!;

  const login = { username: ann.email, password: ann.password };
  assert.equal((await api.post("/api/token/", login)).status, 200);
  const later = await api.get(path, { ...api.admin, "if-none-match": etag });
  const change = (role: string, tag: string) => api.patch(path, { role }, { ...api.admin, "if-match": tag });

  assert.equal(later.status, 200);
  assert.notEqual(later.json.last_login_at, read.json.last_login_at);
  assert.match(page.text, new RegExp(`data-match="${etag.replaceAll('"', "&quot;")}"`));
  assert.equal((await api.patch(path, { role: "admin" }, { ...api.admin, "if-none-match": etag })).status, 412);
  assert.equal((await change("admin", etag)).status, 200);
  assert.equal((await change("user", etag)).status, 412);
  assert.equal((await change("user", (await api.get(path, api.admin)).headers.get("etag")!)).status, 200);
  assert.equal(
    (await change("admin", etag.replace(/~.*"/, '"'))).status,
    200,
    "If-Match compares only the state of the account",
  );
});
