import assert from "node:assert/strict";
import { test } from "node:test";
import type { OwnUserFields } from "../../src/door/auth.ts";
import { accounts, createService, enumeration, integer, text } from "../../src/door/index.ts";
import { DeclarationError } from "../../src/door/resources.ts";
import { sqliteStore } from "../../src/door/stores.ts";
import { defineConfig } from "../../src/service/settings/config-file/config-file.ts";
import { ConfigError, readSettings } from "../../src/service/settings/settings.ts";
import { serve } from "../harness/serve.ts";
import { sharedDatabase } from "../harness/test-store.ts";

const users = {
  fields: {
    phone: text({ maxLength: 40, optional: true }),
    tenant_id: integer({ default: 0, minimum: 0 }),
    plan: enumeration(["free", "paid"], { default: "free" }),
  },
  filters: { tenant_id: ["eq", "in"], phone: ["starts"] },
  sorts: ["phone"],
  administered: ["tenant_id"],
} satisfies OwnUserFields;

const ann = { name: "Ann", email: "ann@example.com" };

test("shows custom fields of users in every representation, and filters and sorts lists by them", async (t) => {
  const api = await serve(t, { config: { users } });

  const made = await api.post("/users", { ...ann, phone: "+49 30", tenant_id: 7 }, api.admin);
  assert.deepEqual(made.json, { id: 2, ...ann, phone: "+49 30", tenant_id: 7, plan: "free" });
  const first = await api.get("/users/1", api.admin);
  assert.deepEqual([first.json.phone, first.json.tenant_id, first.json.plan], [null, 0, "free"]);
  const asXML = await api.get("/users/2", { ...api.admin, accept: "application/xml" });
  assert.match(asXML.text, /<phone>\+49 30<\/phone><tenant_id>7<\/tenant_id><plan>free<\/plan>/);
  const found = await api.get("/users?tenant_id=7&fields=tenant_id", api.admin);
  assert.deepEqual(found.json, [{ tenant_id: 7 }]);
  const sorted = await api.get("/users?sort=-phone&fields=phone", api.admin);
  assert.deepEqual(sorted.json, [{ phone: "+49 30" }, { phone: null }]);
  assert.equal((await api.patch("/users/2", { plan: "paid" }, api.admin)).json.plan, "paid");
  assert.equal((await api.post("/users", { ...ann, tenant_id: -1 }, api.admin)).json.errors[0].pointer, "/tenant_id");
  const { paths, components } = (await api.get("/openapi.json", api.admin)).json;
  assert.deepEqual(components.schemas.User.properties.plan.enum, ["free", "paid"]);
  assert.ok(paths["/users"].get.parameters.some(({ name }: { name?: string }) => name === "tenant_id[in]"));
});

test("lets only administrators set and change the fields in `administered`, in every kind of write", async (t) => {
  const api = await serve(t, { config: { users, registration: "open" } });
  const self = { ...ann, password: "password of ann" };

  for (const tenant of [7, 1]) {
    const refused = await api.post("/users", { ...self, tenant_id: tenant });
    assert.deepEqual([refused.status, refused.json.code], [403, "permission_denied"], refused.text);
    assert.match(refused.json.detail, /Only administrators can set the field tenant_id/);
  }
  assert.equal((await api.post("/users", { ...self, tenant_id: 0 })).status, 201);
  await api.patch("/users/2", { tenant_id: 7 }, api.admin);
  const login = `Basic ${Buffer.from(`${self.email}:${self.password}`).toString("base64")}`;
  const headers = { authorization: login };
  const pointer = "application/json-patch+json";
  const attempts = [
    await api.patch("/users/2", { tenant_id: 8 }, headers),
    await api.patch("/users/2", [{ op: "replace", path: "/tenant_id", value: 8 }], {
      ...headers,
      "content-type": pointer,
    }),
    await api.put("/users/2", { ...ann, tenant_id: 8 }, headers),
    // A PUT without `tenant_id` would reset it to the default, so the service refuses it too.
    await api.put("/users/2", ann, headers),
  ];
  for (const { status, text: message } of attempts) assert.equal(status, 403, message);
  assert.equal((await api.patch("/users/2", { phone: "1" }, headers)).json.tenant_id, 7);
  assert.equal((await api.put("/users/2", { ...ann, tenant_id: 7 }, headers)).status, 200);
  assert.equal((await api.get("/users/2", api.admin)).json.tenant_id, 7);
});

test("gives existing users the defaults of new fields", async (t) => {
  const settings = {
    LATCHKEY_DATABASE: (await sharedDatabase(t)).url,
    LATCHKEY_SECRET: "a secret of more than 32 characters",
  };
  const before = await serve(t, { settings });
  await before.service.close();

  const api = await serve(t, { settings, config: { users } });

  const { phone, tenant_id: tenant, plan } = (await api.get("/users/1", api.admin)).json;
  assert.deepEqual([phone, tenant, plan], [null, 0, "free"]);
});

const slips: readonly (readonly [users: unknown, told: RegExp])[] = [
  [7, /users in the config file: it is 7; write \{ fields: \{ … \} \}\./],
  [
    { fields: { team: text({ optional: true }) }, administerd: ["team"], identity: ["tem"] },
    /there is no option administerd; did you mean administered\?\n.*identity.*tem.*did you mean team\?/,
  ],
  [{ feilds: {} }, /users in the config file: there is no option feilds; did you mean fields\?$/],
  [{ fields: [] }, /users in the config file: fields is a list; it has to be a plain object/],
  [{ fields: { email: text() } }, /users have the field email already; give yours another name/],
  [{ fields: { password: text() } }, /users have the field password already/],
  [{ fields: { tenant: text() } }, /the field tenant of users is required, .*; make it optional, or give it a default/],
  [{ filters: { tenat: ["eq"] }, fields: users.fields }, /filters names tenat, which is none of your fields/],
  [{ sorts: ["name"], fields: users.fields }, /sorts names name, which is none of your fields/],
  [{ administered: ["tenant"], fields: users.fields }, /administered names tenant, .*did you mean tenant_id\?/],
  [{ administered: "tenant_id", fields: users.fields }, /administered is 'tenant_id'; it has to be a list of texts/],
];

for (const [options, message] of slips)
  test(`refuses to start with wrong fields of users: ${message.source.slice(0, 60)}`, async () => {
    const config = { users: options as OwnUserFields };
    assert.throws(
      () => readSettings({ LATCHKEY_DATABASE: "sqlite::memory:" }, config),
      (thrown: unknown) => {
        assert.ok(thrown instanceof ConfigError);
        assert.match(thrown.message, message);
        return true;
      },
    );
    const features = [accounts(isObject(options) ? options : {})];
    if (isObject(options))
      await assert.rejects(createService({ store: sqliteStore({ path: ":memory:" }), features }), DeclarationError);
  });

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

test("refuses a filter by an unknown field in the compiler", () => {
  // @ts-expect-error -- tenat
  assert.ok(accounts({ fields: users.fields, filters: { tenat: ["eq"] } }));
  // @ts-expect-error -- tenat
  assert.ok(accounts({ fields: users.fields, administered: ["tenat"] }));
  // @ts-expect-error -- fone
  assert.ok(defineConfig({ users: { fields: users.fields, fone: true } }));
});
