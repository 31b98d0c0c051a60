// The fields of users that callers of different roles see, if fields of users have rules.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { accountsCollection, hasRole, type AccountsOptions, type Permission } from "../../src/door/auth.ts";
import {
  accounts,
  administrator,
  anyone,
  anyOf,
  authenticated,
  basicLogin,
  integer,
  sessionLogin,
  text,
} from "../../src/door/index.ts";
import type { Store } from "../../src/door/stores.ts";
import { email, open, password, serve } from "../harness/own-logins.ts";
import { basicHeader } from "../harness/serve.ts";
import { emptyStore } from "../harness/test-store.ts";
import { root, startMailed } from "../harness/verified-emails.ts";

const staff = hasRole("staff");

const club = {
  ...open,
  roles: ["user", "staff", "admin"],
  fields: {
    card: text({ optional: true, maxLength: 20, read: staff, write: staff }),
    fines: integer({ default: 0, read: anyOf(staff, administrator), write: administrator }),
    boss_id: integer({ optional: true }),
  },
  rules: { email: { read: administrator } },
} satisfies AccountsOptions;

/** Starts a club with ada (1), ben (2), the employee lea (3) and the administrator root (4). */
async function startClub(t: TestContext, permissions: AccountsOptions["permissions"]) {
  const people = accounts({ ...club, ...(permissions === undefined ? {} : { permissions }) });
  const api = await serve(t, people, [basicLogin(people), sessionLogin(people)]);
  for (const name of ["ben", "lea", "root"]) {
    const made = await api.ask("POST", "/users", { name, email: `${name}@example.com`, password, boss_id: 1 });
    assert.equal(made.status, 201, made.text);
  }
  const setRole = (key: number, role: string) =>
    api.service.store.write({ changes: [{ kind: "update", collection: accountsCollection, key, values: { role } }] });
  await setRole(3, "staff");
  await setRole(4, "admin");
  const addressOf = (name: string) => (name === "ada" ? email : `${name}@example.com`);
  return { ...api, addressOf, as: (name: string) => basicHeader(addressOf(name), password) };
}

test("shows each caller the own user and other users by that caller's rules, one after another", async (t) => {
  const { ask, get, as, addressOf } = await startClub(t, { read: authenticated, list: authenticated });
  const own: Readonly<Record<string, readonly string[]>> = {
    ada: ["id", "name", "email", "boss_id"],
    lea: ["id", "name", "email", "card", "fines", "boss_id"],
    root: ["id", "name", "email", "fines", "boss_id"],
    ben: ["id", "name", "email", "boss_id"],
  };
  const ids: Readonly<Record<string, number>> = { ada: 1, ben: 2, lea: 3, root: 4 };
  for (let turn = 0; turn < 2; turn++)
    for (const [name, fields] of Object.entries(own)) {
      const mine = await get(`/users/${ids[name]}`, as(name));
      assert.deepEqual(Object.keys(mine.json), fields, name);
      const others = fields.filter((field) => field !== "email" || name === "root");
      const other = await get(`/users/${name === "ben" ? 1 : 2}`, as(name));
      assert.deepEqual(Object.keys(other.json), others, name);
      const [first] = (await get("/users", as(name))).json;
      assert.deepEqual(Object.keys(first), others, name);
      const session = await ask("POST", "/api/session/", { username: addressOf(name), password });
      assert.deepEqual(Object.keys(session.json.user), fields, name);
    }
});

test("shows callers without a credential what no rule denies", async (t) => {
  const { get } = await startClub(t, { read: anyone, list: anyone });
  assert.deepEqual((await get("/users/2")).json, { id: 2, name: "ben", boss_id: 1 });
  assert.deepEqual((await get("/users")).json[0], { id: 1, name: "Ada", boss_id: null });
});

test("shows the address only in lists that contain no other user", async (t) => {
  const lists: Readonly<Record<number, ReturnType<Permission<string>["decide"]>>> = {
    1: { only: { column: "boss_id", operator: "eq", value: 1 } },
    2: { only: { column: "id", operator: "lte", value: 2 } },
    3: { only: { column: "id", operator: "eq", value: 1 } },
  };
  const list: Permission<string> = {
    name: "some",
    narrows: ["list"],
    columns: ["boss_id"],
    decide: ({ identity }) => lists[identity!.id] ?? "allow",
  };
  const { get, as } = await startClub(t, { list, read: authenticated });
  for (const [name, count] of [
    ["ada", 3],
    ["ben", 2],
    ["lea", 1],
  ] as const) {
    const { json } = await get("/users", as(name));
    assert.equal(json.length, count, name);
    for (const user of json) assert.equal("email" in user, false, name);
  }
});

test("takes the fields of a sign-up that a caller without a credential may send", async (t) => {
  const roles = ["user", "staff", "admin"];
  const rules = { email: { read: administrator }, name: { write: staff } };
  const api = await startMailed(t, { registration: "verified", roles, fields: club.fields, rules });
  const ben = { name: "Ben", email: "ben@example.com" };
  const refused = await api.post("/users", { ...ben, card: "C-1" });
  assert.deepEqual([refused.status, refused.json.errors?.[0].code], [400, "unknown_field"], refused.text);
  const { status } = await api.post("/users", ben);
  assert.equal(status, 202);
  const made = await api.ask("POST", "/users", { ...ben, password: "copper teapot 17" }, root);
  assert.deepEqual([made.status, made.json.name], [201, "Ben"], "a caller with a credential creates the user at once");
});

test("changes an account with a tag although its owner logs in at the same time", async (t) => {
  const inner = await emptyStore();
  const people = accounts(open);
  let login: (() => Promise<unknown>) | null = null;
  const store: Store = {
    ...inner,
    async write(transaction) {
      const work = transaction.changes.some((each) => each.kind === "update" && "role" in each.values) ? login : null;
      if (work !== null) login = null;
      await work?.();
      return inner.write(transaction);
    },
  };
  const { ask, get, service } = await serve(t, people, [basicLogin(people), sessionLogin(people)], { store });
  const made = await ask("POST", "/users", { name: "Root", email: "root@example.com", password });
  assert.equal(made.status, 201);
  const values = { role: "admin" };
  await service.store.write({ changes: [{ kind: "update", collection: accountsCollection, key: 2, values }] });
  const as = basicHeader("root@example.com", password);
  const before = await get("/users/1/account", as);
  login = () => ask("POST", "/api/session/", { username: email, password });

  const headers = { ...as, "if-match": before.headers.get("etag")! };
  const changed = await ask("PATCH", "/users/1/account", { role: "admin" }, headers);

  assert.deepEqual([changed.status, changed.json.role, login], [200, "admin", null], changed.text);
  assert.notEqual(changed.json.last_login_at, before.json.last_login_at);
});

test("answers 404 to a login whose user is deleted before the answer", async (t) => {
  const inner = await emptyStore();
  const people = accounts(club);
  const store: Store = {
    ...inner,
    async write(transaction) {
      const written = await inner.write(transaction);
      if (!transaction.changes.some(({ collection }) => collection.name === "sessions")) return written;
      const { collection } = service.mounts.find(({ resource }) => resource.path === "/users")!;
      const all = [collection, accountsCollection].map(
        (each) => ({ kind: "delete", collection: each, key: 1 }) as const,
      );
      assert.equal((await inner.write({ changes: all })).kind, "written");
      return written;
    },
  };
  const { ask, service } = await serve(t, people, [sessionLogin(people)], { store });

  const login = await ask("POST", "/api/session/", { username: email, password });

  assert.deepEqual([login.status, login.json.code], [404, "not_found"]);
});
