// Memberships with several references to users: each column by which users see each other takes only users whom the
// caller may read.
import assert from "node:assert/strict";
import { test } from "node:test";
import { groupInvitations, memberOf, sharesGroup, type Permission } from "../../src/door/auth.ts";
import {
  accounts,
  administrator,
  allOf,
  anyOf,
  authenticated,
  defineFeature,
  defineResource,
  mount,
  reference,
  text,
} from "../../src/door/index.ts";
import { startTeams } from "../harness/founders.ts";
import { open } from "../harness/own-logins.ts";
import { ada, as, root, startMailed } from "../harness/verified-emails.ts";

const project = defineResource({ name: "project", fields: { name: text() } });
const membership = defineResource({
  name: "membership",
  fields: {
    user_id: reference("users"),
    coach_id: reference("users"),
    project_id: reference(project, { onDelete: "cascade" }),
  },
});
const own = anyOf(administrator, memberOf(membership, { user: "user_id" }));

for (const order of [
  ["user_id", "coach_id"],
  ["coach_id", "user_id"],
] as const)
  test(`takes no unknown user in any column that shares a group: ${order.join(", ")}`, async (t) => {
    const seen = anyOf(administrator, ...order.map((user) => sharesGroup(membership, { user })));
    const people = accounts({ ...open, permissions: { list: seen, read: seen } });
    const mounts = [mount(project, { permission: administrator }), mount(membership, { permission: own })];
    const { as: ask, ids } = await startTeams(t, { mounts }, [], people);
    const { ben, cleo } = ids;
    await ask("root", "POST", "/projects", { name: "A" });
    await ask("root", "POST", "/memberships", { user_id: ben, coach_id: ben, project_id: 1 });

    for (const column of order) {
      const body = { user_id: ben, coach_id: ben, project_id: 1 };
      const known = await ask("ben", "POST", "/memberships", { ...body, [column]: cleo });
      const missing = await ask("ben", "POST", "/memberships", { ...body, [column]: 999 });
      assert.deepEqual([known.status, known.json.errors], [400, missing.json.errors], column);
    }
    assert.equal((await ask("ben", "GET", `/users/${cleo}`)).status, 404);
  });

test("lets an administrator make members of all users, although the administrator sees only team mates", async (t) => {
  const seen = sharesGroup(membership, { user: "user_id" });
  const people = accounts({ ...open, permissions: { list: seen, read: seen } });
  const mounts = [mount(project, { permission: administrator }), mount(membership, { permission: own })];
  const { as: ask, ids } = await startTeams(t, { mounts }, [], people);
  await ask("root", "POST", "/projects", { name: "A" });

  assert.equal((await ask("root", "GET", `/users/${ids["cleo"]}`)).status, 404);
  const body = { user_id: ids["cleo"], coach_id: ids["root"], project_id: 1 };
  assert.equal((await ask("root", "POST", "/memberships", body)).status, 201);
});

test("looks for no user whom a membership keeps", async (t) => {
  const seen = sharesGroup(membership, { user: "user_id" });
  const people = accounts({ ...open, permissions: { list: seen, read: seen } });
  const mounts = [mount(project, { permission: administrator }), mount(membership, { permission: authenticated })];
  const { as: ask, ids } = await startTeams(t, { mounts }, [], people);
  await ask("root", "POST", "/projects", { name: "A" });
  const body = { user_id: ids["cleo"], coach_id: ids["root"], project_id: 1 };
  await ask("root", "POST", "/memberships", body);

  assert.equal((await ask("ben", "PUT", "/memberships/1", { ...body, coach_id: ids["ben"] })).status, 200);
  assert.equal((await ask("ben", "PATCH", "/memberships/1", { user_id: ids["root"] })).status, 400);
});

test("makes members of users whom the caller may read, and of the caller, also if a hook sets them", async (t) => {
  let reader = 0;
  const isReader: Permission = {
    name: "is the reader",
    decide: ({ identity }) => (identity?.id === reader ? "allow" : "deny"),
  };
  const seen = sharesGroup(membership, { user: "user_id" });
  const others = anyOf(isReader, allOf(seen, isReader));
  const people = accounts({ ...open, permissions: { list: seen, read: others } });
  let hooked = 0;
  const mounts = [
    mount(project, { permission: administrator }),
    mount(membership, {
      permission: authenticated,
      beforeWrite: () => (hooked === 0 ? {} : { values: { user_id: hooked } }),
    }),
  ];
  const { as: ask, ids } = await startTeams(t, { mounts }, [], people);
  await ask("root", "POST", "/projects", { name: "A" });
  reader = ids["ben"]!;
  const join = async (as: string, user_id: number | undefined) =>
    (await ask(as, "POST", "/memberships", { user_id, coach_id: 1, project_id: 1 })).status;
  let put = 500;
  const putNew = async (as: string, user_id: number | undefined) =>
    (await ask(as, "PUT", `/memberships/${put++}`, { user_id, coach_id: 1, project_id: 1 })).status;

  assert.equal(await join("ben", ids["cleo"]), 201);
  assert.equal(await join("ben", 999), 400);
  assert.equal(await join("cleo", ids["ben"]), 400);
  assert.equal(await join("cleo", ids["cleo"]), 201);
  assert.equal(await putNew("ben", ids["cleo"]), 201);
  assert.equal(await putNew("cleo", ids["ben"]), 400);
  assert.equal(await putNew("cleo", ids["cleo"]), 201);
  hooked = ids["ben"]!;
  assert.equal(await join("cleo", ids["cleo"]), 400);
  assert.equal(await putNew("cleo", ids["cleo"]), 400);
});

test("lets a record that is no membership name a user whom the caller may not read", async (t) => {
  const seen = anyOf(administrator, sharesGroup(membership, { user: "user_id" }));
  const people = accounts({ ...open, permissions: { list: seen, read: seen } });
  const note = defineResource({ name: "note", fields: { user_id: reference("users") } });
  const mounts = [
    mount(project, { permission: administrator }),
    mount(membership, { permission: own }),
    mount(note, { permission: authenticated }),
  ];
  const { as: ask, ids } = await startTeams(t, { mounts }, [], people);

  assert.equal((await ask("ben", "POST", "/notes", { user_id: ids["cleo"] })).status, 201);
  assert.equal((await ask("ben", "GET", `/users/${ids["cleo"]}`)).status, 404);
});

test("invites nobody to a membership that names another user whom the sender may not read", async (t) => {
  const mounts = [
    mount(project, { permission: administrator }),
    mount(membership, { permission: own, invitations: { user: "user_id" } }),
  ];
  const seen = anyOf(administrator, sharesGroup(membership, { user: "coach_id" }));
  const teams = defineFeature({ name: "teams", setUp: () => ({ offer: null, mounts }) });
  const options = { registration: "open", invitations: true, permissions: { list: seen, read: seen } } as const;
  const api = await startMailed(t, options, (people, box) => [groupInvitations(people, box), teams]);
  await api.post("/users", { name: "Cid", email: "cid@example.com", password: "correct horse staple" }, root);
  await api.post("/projects", { name: "A" }, root);
  await api.post("/memberships", { user_id: 2, coach_id: 2, project_id: 1 }, root);
  const invite = (coach: number) =>
    api.post("/memberships/invitations", { email: "second@example.com", coach_id: coach, project_id: 1 }, as(ada));

  const known = await invite(3);
  const missing = await invite(999);

  assert.deepEqual([known.status, known.json.errors], [400, missing.json.errors]);
  assert.equal((await invite(2)).status, 202);
  const { token } = await api.onlyMail();
  const accepted = await api.post("/api/invitations/accept/", {
    token,
    name: "Second",
    password: "correct horse staple",
  });
  assert.equal(accepted.status, 201);
  assert.equal((await api.ask("GET", "/users/3", undefined, as(ada))).status, 404);
});
