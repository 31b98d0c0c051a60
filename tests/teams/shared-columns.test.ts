// Memberships with several references to users: each column by which users see each other takes only users whom the
// caller may read.
import assert from "node:assert/strict";
import { test } from "node:test";
import { groupInvitations, memberOf, sharesGroup } from "../../src/door/auth.ts";
import {
  accounts,
  administrator,
  anyOf,
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
