import assert from "node:assert/strict";
import { test } from "node:test";
import { callerField, callerFields, defineUsers, sameAs, type OwnUserFields } from "../../src/door/auth.ts";
import {
  accepted,
  accounts,
  administrator,
  anyOf,
  createService,
  defineEndpoint,
  defineResource,
  integer,
  mount,
  text,
} from "../../src/door/index.ts";
import { DeclarationError } from "../../src/door/resources.ts";
import { sqliteStore } from "../../src/door/stores.ts";
import { adminPassword, serve, type API } from "../harness/serve.ts";
import { sharedDatabase } from "../harness/test-store.ts";

const users = defineUsers({
  fields: { tenant_id: integer({ default: 1, minimum: 1 }), desk: text({ maxLength: 20, optional: true }) },
  administered: ["tenant_id"],
  identity: ["tenant_id", "desk"],
});

const notes = defineResource({
  name: "note",
  fields: { tenant_id: integer({ default: callerField(users, "tenant_id") }), body: text() },
});

const mine = defineEndpoint({
  method: "GET",
  path: "/mine",
  access: { name: "known", decide: ({ identity }) => (identity === null ? "deny" : "allow") },
  handle: (context) => ({
    status: 200,
    body: { kind: "data", value: { ...callerFields(users, context.requireIdentity()) }, element: "mine" },
  }),
});

const config = { users, mounts: [mount(notes, { permission: sameAs(users, "tenant_id") })], endpoints: [mine] };

async function createTenants(api: API) {
  const [ann, bob] = [await api.user("Ann"), await api.user("Bob")];
  await api.patch(`/users/${bob.id}`, { tenant_id: 2 }, api.admin);
  return { ann, bob };
}

async function requestTokens(api: API, { email: username, password }: { email: string; password: string }) {
  const { access, refresh } = (await api.post("/api/token/", { username, password })).json;
  return { access, refresh, headers: { authorization: `Bearer ${access}` } };
}

test("lets each user see and create only records of their tenant", async (t) => {
  const api = await serve(t, { config });
  const { ann, bob } = await createTenants(api);

  const made = await api.post("/notes", { body: "of tenant 1" }, ann.headers);
  assert.deepEqual(made.json, { id: 1, tenant_id: 1, body: "of tenant 1" });
  assert.equal((await api.post("/notes", { body: "b" }, bob.headers)).json.tenant_id, 2);

  assert.deepEqual((await api.get("/notes?fields=id", bob.headers)).json, [{ id: 2 }]);
  for (const [method, body] of [["GET"], ["PATCH", { body: "x" }], ["PUT", { body: "x" }], ["DELETE"]] as const)
    assert.equal((await api.ask(method, "/notes/1", { headers: bob.headers, body })).status, 404, method);
  const attempts = [
    await api.post("/notes", { tenant_id: 1, body: "x" }, bob.headers),
    await api.patch("/notes/2", { tenant_id: 1 }, bob.headers),
    await api.put("/notes/2", { tenant_id: 1, body: "x" }, bob.headers),
  ];
  for (const { status } of attempts) assert.equal(status, 403);
  assert.equal((await api.get("/notes")).status, 401);
});

test("gives a handler the identity fields with every scheme", async (t) => {
  const api = await serve(t, { config });
  const { bob } = await createTenants(api);
  const { headers } = await requestTokens(api, bob);
  const { token } = (await api.post(`/users/${bob.id}/token`, undefined, bob.headers)).json;
  const session = await api.post("/api/session/", { username: bob.email, password: bob.password });
  const cookie = session.headers.get("set-cookie")!.split(";")[0]!;

  for (const each of [bob.headers, headers, { authorization: `Token ${token}` }, { cookie }])
    assert.deepEqual((await api.get("/mine", each)).json, { tenant_id: 2, desk: null });
});

test("revokes access tokens when an identity field changes, and uses the new value for new tokens, API tokens and passwords", async (t) => {
  const api = await serve(t, { config });
  const { bob } = await createTenants(api);
  const pair = await requestTokens(api, bob);
  const { token } = (await api.post(`/users/${bob.id}/token`, undefined, bob.headers)).json;
  assert.equal((await api.get("/mine", pair.headers)).json.tenant_id, 2);

  assert.equal((await api.patch(`/users/${bob.id}`, { tenant_id: 3 }, api.admin)).status, 200);

  const refused = await api.get("/mine", pair.headers);
  assert.deepEqual([refused.status, refused.json.code], [401, "token_not_valid"]);
  const { access } = (await api.post("/api/token/refresh/", { refresh: pair.refresh })).json;
  for (const authorization of [`Bearer ${access}`, `Token ${token}`, bob.headers["authorization"]!])
    assert.equal((await api.get("/mine", { authorization })).json.tenant_id, 3);
  // A refused token stays refused when the field has its old value again.
  await api.patch(`/users/${bob.id}`, { tenant_id: 2 }, api.admin);
  assert.equal((await api.get("/mine", pair.headers)).status, 401);
  // A change of a field outside of the identity revokes nothing, and neither does an identity field that is sent with
  // its old value.
  const { headers } = await requestTokens(api, bob);
  await api.patch(`/users/${bob.id}`, { name: "Robert", tenant_id: 2 }, api.admin);
  assert.equal((await api.get("/mine", headers)).status, 200);
});

test("ends all older tokens when role and tenant change together", async (t) => {
  const api = await serve(t, { config });
  const { bob } = await createTenants(api);
  const before = await requestTokens(api, bob);

  const changes = await Promise.all([
    api.patch(`/users/${bob.id}`, { tenant_id: 3 }, api.admin),
    api.patch(`/users/${bob.id}/account`, { role: "admin" }, api.admin),
    api.patch(`/users/${bob.id}`, { desk: "A" }, api.admin),
  ]);

  for (const { status, text: message } of changes) assert.equal(status, 200, message);
  assert.equal((await api.get("/mine", before.headers)).status, 401);
  assert.deepEqual((await api.get("/mine", (await requestTokens(api, bob)).headers)).json, { tenant_id: 3, desk: "A" });
});

test("refuses an access token from before the fields were declared", async (t) => {
  const { url } = await sharedDatabase(t);
  const settings = { LATCHKEY_DATABASE: url, LATCHKEY_SECRET: "a secret of more than 32 characters" };
  const before = await serve(t, { settings, config: { users: { ...users, identity: ["desk"] } } });
  const { refresh, headers } = await requestTokens(before, { email: "admin", password: adminPassword });
  assert.equal((await before.get("/protected/", headers)).status, 200);
  await before.service.close();

  const api = await serve(t, { settings, config });

  assert.equal((await api.get("/mine", headers)).status, 401);
  const { access } = (await api.post("/api/token/refresh/", { refresh })).json;
  assert.equal((await api.get("/mine", { authorization: `Bearer ${access}` })).json.tenant_id, 1);
});

test("denies a user without a value, even for records without a value", async (t) => {
  const desks = defineResource({ name: "desk", fields: { desk: text({ optional: true }) } });
  const permission = anyOf(administrator, sameAs(users, "desk"));
  const api = await serve(t, { config: { users, mounts: [mount(desks, { permission })] } });
  const { ann } = await createTenants(api);
  await api.post("/desks", { desk: null }, api.admin);

  assert.equal((await api.get("/desks", ann.headers)).status, 403);
  await api.patch(`/users/${ann.id}`, { desk: "A" }, api.admin);
  assert.deepEqual((await api.get("/desks", ann.headers)).json, []);
});

const slips: readonly (readonly [users: OwnUserFields, told: RegExp])[] = [
  [{ fields: users.fields, identity: ["tenat_id"] }, /identity names tenat_id, .*did you mean tenant_id\?/],
  [
    { fields: { bio: text({ maxLength: 101, optional: true }) }, identity: ["bio"] },
    /identity names bio, which may be long/,
  ],
  [
    { fields: { pin: integer({ optional: true, writeOnly: true }) }, identity: ["pin"] },
    /identity names pin, which is hidden, but clients can read the claims of tokens/,
  ],
];

for (const [ownFields, pattern] of slips)
  test(`refuses to start with fields that identities cannot contain: ${pattern.source.slice(0, 40)}`, async () => {
    await assert.rejects(
      createService({ store: sqliteStore({ path: ":memory:" }), features: [accounts(ownFields)] }),
      pattern,
    );
  });

test("refuses to start with a permission that uses an unknown identity field", async () => {
  const started = createService({
    store: sqliteStore({ path: ":memory:" }),
    features: [accounts({ fields: users.fields })],
    mounts: config.mounts,
  });

  await assert.rejects(started, (thrown: unknown) => {
    assert.ok(thrown instanceof DeclarationError);
    assert.match(
      thrown.message,
      /mount\(\/notes\): the permission same tenant_id reads the caller's tenant_id, which identities do not have/,
    );
    return true;
  });
});

test("denies an identity without the declared fields, and throws if a handler asks for them", () => {
  const bare = { id: 1, username: "a", role: "user", scheme: "badge", scopes: null, expiresAt: null } as const;
  const request = { identity: bare, action: "list", params: {}, now: 0 } as const;

  assert.equal(sameAs(users, "tenant_id").decide(request), "deny");
  assert.throws(() => callerFields(users, bare), /The identity from badge has no tenant_id/);
  assert.equal(accepted(bare).kind, "accepted");
});

test("refuses unknown identity fields and columns, also at compile time", () => {
  // @ts-expect-error -- tenat_id
  assert.throws(() => sameAs(users, "tenat_id"), /sameAs: identity names no tenat_id; did you mean tenant_id\?/);
  // @ts-expect-error -- tenat
  assert.throws(() => mount(notes, { permission: sameAs(users, "tenant_id", "tenat") }));
  // @ts-expect-error -- a text is no tenant_id
  assert.ok(integer({ default: callerField(users, "desk") }));
  // @ts-expect-error -- plan
  assert.throws(() => defineUsers({ fields: users.fields, identity: ["plan"] }));
});
