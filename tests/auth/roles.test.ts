import assert from "node:assert/strict";
import { test } from "node:test";
import { defineUsers, hasRole } from "../../src/door/auth.ts";
import {
  accounts,
  anyOf,
  administrator,
  createService,
  defineResource,
  mount,
  readOnly,
  text,
} from "../../src/door/index.ts";
import { sqliteStore } from "../../src/door/stores.ts";
import { serve } from "../harness/serve.ts";
import { sharedDatabase } from "../harness/test-store.ts";

const users = defineUsers({ roles: ["user", "editor", "admin"] });
const notes = defineResource({ name: "note", fields: { body: text() } });
const permission = anyOf(readOnly, hasRole(users, "editor"), administrator);
const config = { users, mounts: [mount(notes, { permission })] };

test("assigns, shows and requires a custom role", async (t) => {
  const api = await serve(t, { config });
  const ann = await api.user("Ann");
  assert.equal((await api.post("/notes", { body: "a" }, ann.headers)).status, 403);
  const login = { username: ann.email, password: ann.password };
  const pair = (await api.post("/api/token/", login)).json;

  const response = await api.patch(`/users/${ann.id}/account`, { role: "editor" }, api.admin);

  assert.deepEqual([response.status, response.json.role], [200, "editor"]);
  assert.equal((await api.post("/notes", { body: "a" }, ann.headers)).status, 201);
  assert.equal((await api.get("/notes", { authorization: `Bearer ${pair.access}` })).status, 401);
  const { access } = (await api.post("/api/token/refresh/", { refresh: pair.refresh })).json;
  const headers = { authorization: `Bearer ${access}` };
  assert.equal((await api.post("/notes", { body: "a" }, headers)).status, 201);
  assert.equal((await api.get("/api/session/", headers)).json.role, "editor");
  // The custom role has no rights of an administrator.
  assert.equal((await api.get("/users/1", headers)).status, 403);
  assert.equal((await api.patch(`/users/${ann.id}/account`, { role: "admin" }, headers)).status, 403);
  assert.equal((await api.patch(`/users/${ann.id}/account`, { role: "edtor" }, api.admin)).status, 400);
  const { paths } = (await api.get("/openapi.json")).json;
  for (const place of ["/api/session/", "/users/{id}/account", "/"])
    assert.match(JSON.stringify(paths[place].get), /"enum":\["user","editor","admin"\]/, place);
});

test("refuses to start, and names the remedy, if a user has a role that is no longer declared", async (t) => {
  const settings = {
    LATCHKEY_DATABASE: (await sharedDatabase(t)).url,
    LATCHKEY_SECRET: "a secret of more than 32 characters",
  };
  const before = await serve(t, { settings, config });
  const ann = await before.user("Ann");
  await before.patch(`/users/${ann.id}/account`, { role: "editor" }, before.admin);
  await before.service.close();

  await assert.rejects(
    serve(t, { settings }),
    /feature accounts: 1 accounts have the role editor, which is not declared\. Declare it in roles and start, then give them another role/,
  );

  const again = await serve(t, { settings, config });
  await again.patch(`/users/${ann.id}/account`, { role: "user" }, again.admin);
  await again.service.close();
  assert.equal((await (await serve(t, { settings })).get("/users/1", ann.headers)).status, 403);
});

const slips: readonly (readonly [roles: unknown, told: RegExp])[] = [
  ["admin", /roles is 'admin'; it has to be a list of lower-case names/],
  [["user", "Editor", "admin"], /it has to be a list of lower-case names/],
  [["user", "editor"], /admin has to be among them: administrators have it/],
  [["editor", "admin"], /user has to be among them: users begin with it/],
  [["user", "admin", "user"], /a role is listed twice/],
];

for (const [roles, message] of slips)
  test(`refuses to start with wrong roles: ${JSON.stringify(roles)}`, async () => {
    const features = [accounts({ roles: roles as readonly string[] })];
    await assert.rejects(createService({ store: sqliteStore({ path: ":memory:" }), features }), message);
  });

test("refuses an undeclared role in the compiler and at run time", () => {
  // @ts-expect-error -- edtor
  assert.throws(() => hasRole(users, "edtor"), /hasRole: there is no role edtor; did you mean editor\?/);
  // @ts-expect-error -- editor
  assert.throws(() => hasRole(defineUsers({}), "editor"), /there is no role editor/);
  for (const role of ["", 7])
    assert.throws(() => hasRole("editor", role as "editor"), /hasRole: it names .*, and that is no role/, String(role));
});
