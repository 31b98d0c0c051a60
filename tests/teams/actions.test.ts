// An action decides what it writes, but moves no record to a group of others, and makes no member of an unknown user.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { memberOf, sharesGroup } from "../../src/door/auth.ts";
import {
  accounts,
  administrator,
  anyOf,
  authenticated,
  defineResource,
  enumeration,
  integer,
  mount,
  reference,
  text,
} from "../../src/door/index.ts";
import { startTeams } from "../harness/founders.ts";
import { open } from "../harness/own-logins.ts";

const project = defineResource({ name: "project", fields: { name: text() } });
const membership = defineResource({
  name: "membership",
  fields: {
    user_id: reference("users"),
    project_id: reference(project, { onDelete: "cascade" }),
    role: enumeration(["owner", "viewer"], { default: "viewer" }),
  },
  unique: [["user_id", "project_id"]],
});
const task = defineResource({
  name: "task",
  fields: { project_id: reference(project, { onDelete: "cascade" }), title: text() },
});
const member = memberOf(membership);
const leader = memberOf(membership, { where: { role: "owner" } });
const body = { to: integer() };
const mounts = [
  mount(project, {
    permission: authenticated,
    founder: { memberships: membership, values: { role: "owner" }, keep: true },
  }),
  mount(membership, {
    permission: { list: member, read: member, create: anyOf(administrator, leader), update: leader },
    actions: {
      hand_over: {
        permission: leader,
        description: "Moves it.",
        body,
        answer: "record",
        handle: ({ draft }) => ({ values: { user_id: draft.to } }),
      },
      move: {
        permission: leader,
        description: "Moves it.",
        body,
        answer: "record",
        handle: ({ draft }) => ({ values: { project_id: draft.to } }),
      },
    },
  }),
  mount(task, {
    permission: { list: member, read: member, create: member, update: member },
    actions: {
      move: {
        permission: member,
        description: "Moves it.",
        body,
        answer: "record",
        handle: ({ draft }) => ({ values: { project_id: draft.to } }),
      },
    },
  }),
];
const seen = anyOf(administrator, sharesGroup(membership));
async function start(t: TestContext) {
  const teams = await startTeams(t, { mounts }, [], accounts({ ...open, permissions: { list: seen, read: seen } }));
  await teams.as("ben", "POST", "/projects", { name: "of ben" });
  await teams.as("cleo", "POST", "/projects", { name: "of cleo" });
  await teams.as("cleo", "POST", "/tasks", { project_id: 2, title: "secret of cleo" });
  return teams;
}

test("moves no task to a foreign project by an action", async (t) => {
  const { as } = await start(t);
  const { json } = await as("ben", "POST", "/tasks", { project_id: 1, title: "x" });
  assert.equal((await as("ben", "PATCH", `/tasks/${json.id}`, { project_id: 2 })).status, 403);
  for (const to of [2, 999]) assert.equal((await as("ben", "POST", `/tasks/${json.id}/move`, { to })).status, 403);
  assert.equal((await as("ben", "POST", `/tasks/${json.id}/move`, { to: 1 })).status, 200);
  assert.equal((await as("cleo", "GET", "/tasks")).json.length, 1);
});

test("moves no membership to a foreign project by an action", async (t) => {
  const { as, ids } = await start(t);
  await as("root", "POST", "/memberships", { user_id: ids["root"], project_id: 1, role: "owner" });
  assert.equal((await as("ben", "POST", "/memberships/1/move", { to: 2 })).status, 403);
  assert.deepEqual((await as("ben", "GET", "/tasks")).json, []);
});

test("makes no member of a user whom the caller may not read by an action", async (t) => {
  const { as, ids } = await start(t);
  const { json } = await as("root", "POST", "/memberships", { user_id: ids["root"], project_id: 1, role: "owner" });
  const known = await as("ben", "POST", `/memberships/${json.id}/hand_over`, { to: ids["cleo"] });
  const missing = await as("ben", "POST", `/memberships/${json.id}/hand_over`, { to: 999 });
  assert.deepEqual([known.status, known.json.errors], [400, missing.json.errors]);
  assert.equal((await as("ben", "GET", `/users/${ids["cleo"]}`)).status, 404);
});
