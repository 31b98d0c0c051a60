// `permissions` and `rules` in `users` of the config file: the service starts with them, and refuses a mistake with its
// place and its fix.
import assert from "node:assert/strict";
import { test } from "node:test";
import { hasRole } from "../../src/door/auth.ts";
import { administrator, owner, self, text } from "../../src/door/index.ts";
import { DeclarationError } from "../../src/door/resources.ts";
import { defineConfig } from "../../src/service/settings/config-file/config-file.ts";
import { ConfigError, readSettings } from "../../src/service/settings/settings.ts";
import { serve } from "../harness/serve.ts";

// Nightly on PostgreSQL: declarations are checked before the store opens.

const settings = { LATCHKEY_DATABASE: "sqlite::memory:", LATCHKEY_ADMIN_PASSWORD: "first-administrator" };
const misread: readonly (readonly [object, RegExp])[] = [
  [{ permissions: { lists: administrator } }, /permissions is .*there is no option lists; did you mean list\?/],
  [
    { permissions: { create: administrator } },
    /permissions is .*registration decides who creates users; leave create out/,
  ],
  [{ permissions: { list: true } }, /permissions is .*list is true; it has to be a permission/],
  [{ permissions: administrator }, /permissions is .*there is no option name; there are list, read, replace, update/],
  [{ permission: { list: administrator } }, /there is no option permission; did you mean permissions\?/],
  [{ rules: { mail: { read: administrator } } }, /rules is .*there is no option mail; did you mean email\?/],
  [{ rules: { password: { read: administrator } } }, /there is no option password; there are name, username, email/],
  [{ rules: { email: { readable: administrator } } }, /email is .*there is no option readable; did you mean read\?/],
  [{ rules: { email: { readableBy: administrator } } }, /email is .*there is no option readableBy; .*read.*/],
  [{ rules: { email: { read: "admin" } } }, /email is .*read is a text; it has to be a permission, like administrator/],
  [{ rules: { email: { read: self() } } }, /self narrows to rows, and the rule of a field decides by the caller alone/],
  [{ rule: { email: { read: administrator } } }, /there is no option rule; did you mean rules\?/],
];

for (const [users, expected] of misread)
  test(`refuses to start with a mistake in users: ${expected.source.slice(-60)}`, () => {
    assert.throws(
      () => readSettings(settings, { users }),
      (error) => {
        assert.ok(error instanceof ConfigError);
        assert.match(error.message, /^users in the config file: /);
        assert.match(error.message, expected);
        return true;
      },
    );
  });

test("refuses to start with a role that nobody declared, and with rows by a column that users do not have", async (t) => {
  for (const [users, expected] of [
    [
      { permissions: { list: hasRole("librarian") } },
      /mount\(\/users\): .* requires the role librarian.*users in the config file/,
    ],
    [
      { rules: { email: { read: hasRole("clerk") } } },
      /mount\(\/users\): .* requires the role clerk, which no user can have/,
    ],
    [
      { rules: { email: { write: hasRole("clerk") } } },
      /mount\(\/users\): .* requires the role clerk, which no user can have/,
    ],
    [
      { permissions: { update: owner("owner_id") } },
      /mount\(\/users\): .* narrows by the column owner_id, which does not exist/,
    ],
  ] as const)
    await assert.rejects(serve(t, { config: { users } }), (error) => {
      assert.ok(error instanceof DeclarationError);
      assert.match(error.message, expected);
      return true;
    });
});

test("starts with permissions and rules in the config file, and refuses misspelt ones in the compiler", async (t) => {
  const config = defineConfig({
    users: {
      roles: ["user", "admin"],
      permissions: { list: administrator },
      rules: { email: { read: administrator } },
    },
  });
  const api = await serve(t, { config });
  assert.equal((await api.get("/users", (await api.user("Ben")).headers)).status, 403);
  assert.equal((await api.get("/users", api.admin)).status, 200);
  // @ts-expect-error -- a misspelt action
  defineConfig({ users: { permissions: { lists: administrator } } });
  // @ts-expect-error -- a misspelt field
  defineConfig({ users: { rules: { mail: { read: administrator } } } });
  // @ts-expect-error -- a misspelt option
  defineConfig({ users: { rules: { email: { readable: administrator } } } });
  // @ts-expect-error -- a rule that narrows to rows
  defineConfig({ users: { rules: { email: { read: owner("id") } } } });
});

test("counts one permission for the name, the address and the username of users as one of the twelve rules", async (t) => {
  const others = Object.fromEntries(
    Array.from({ length: 10 }, (_, at) => [`own_${at}`, text({ optional: true, read: { ...hasRole("admin") } })]),
  );
  const read = hasRole("admin");
  const rule = { read: administrator };
  const users = { permissions: { update: administrator }, rules: { name: rule, email: rule, username: rule } };
  const api = await serve(t, { config: { users: { ...users, fields: others } } });
  assert.equal((await api.get("/users", api.admin)).status, 200);
  const more = { ...others, own_10: text({ optional: true, read }) };
  await assert.rejects(serve(t, { config: { users: { ...users, fields: more } } }), /13 different rules/);
});

test("describes in OpenAPI who reads and who sends the parts of a login", async (t) => {
  const rules = { email: { read: hasRole("admin") } };
  const { get } = await serve(t, { config: { users: { permissions: { update: administrator }, rules } } });
  const { schemas } = (await get("/openapi.json")).json.components;
  const { email, password, name } = schemas.UserPatch.properties;
  assert.match(
    email.description,
    /Missing for callers who may not read it \(role admin\)\. Read-only for callers who may/,
  );
  assert.match(
    password.description,
    /Only for callers whom this permission allows: administrators, and users for themselves\.$/,
  );
  assert.doesNotMatch(name.description, /callers/);
  assert.deepEqual(schemas.User.required, ["id", "name"]);
});
