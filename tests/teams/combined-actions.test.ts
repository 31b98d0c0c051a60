import assert from "node:assert/strict";
import { test } from "node:test";
import { memberOf, type Permission } from "../../src/door/auth.ts";
import {
  administrator,
  allOf,
  anyOf,
  boolean,
  defineResource,
  integer,
  mount,
  owner,
  reference,
  text,
} from "../../src/door/index.ts";
import { ownService } from "../harness/own-service.ts";

// Actions whose permission has further conditions beside `memberOf`. An action may end what such a condition asks for,
// but it moves no record to a foreign group.

const user = defineResource({ name: "user", fields: { name: text() } });
const project = defineResource({ name: "project", fields: { name: text() } });
const membership = defineResource({
  name: "membership",
  fields: { user_id: reference(user), project_id: reference(project) },
});
const task = defineResource({
  name: "task",
  fields: { project_id: reference(project), user_id: reference(user), done: boolean({ default: false }) },
});
const member = memberOf(membership);
const open: Permission<"done"> = {
  name: "open",
  narrows: ["update"],
  columns: ["done"],
  decide: () => ({ only: { column: "done", operator: "eq", value: false } }),
};

const permissions: Readonly<Record<string, Permission<"project_id or id of project" | "done" | "user_id", "user_id">>> =
  {
    "memberOf and another condition": allOf(open, member),
    "memberOf or the owner, and another condition": allOf(open, anyOf(owner("user_id"), member)),
  };

for (const [name, permission] of Object.entries(permissions))
  test(`lets an action end the conditions of its permission, but moves no record to a foreign group: ${name}`, async (t) => {
    const act = { permission, body: { to: integer() } } as const;
    const { ask } = await ownService(t, {
      mounts: [
        mount(user, { permission: administrator }),
        mount(project, { permission: administrator }),
        mount(membership, { permission: administrator }),
        mount(task, {
          permission: { list: anyOf(administrator, member), read: anyOf(administrator, member), create: administrator },
          actions: {
            finish: { ...act, handle: ({ draft }) => ({ values: { done: true, project_id: draft.to } }) },
            close: { ...act, handle: () => ({ values: { done: true } }) },
            move: { ...act, handle: ({ draft }) => ({ values: { project_id: draft.to } }) },
          },
        }),
      ],
    });
    for (const each of ["root", "ada"]) await ask("POST", "/users", { as: "root", body: { name: each } });
    for (const each of ["own", "foreign"]) await ask("POST", "/projects", { as: "root", body: { name: each } });
    await ask("POST", "/memberships", { as: "root", body: { user_id: 2, project_id: 1 } });
    for (const _ of [1, 2]) await ask("POST", "/tasks", { as: "root", body: { user_id: 1, project_id: 1 } });
    const run = async (path: string, to: number) => (await ask("POST", path, { as: "ada", body: { to } })).status;

    assert.equal(await run("/tasks/1/move", 2), 403);
    assert.equal(await run("/tasks/1/finish", 2), 403);
    assert.equal(await run("/tasks/1/move", 1), 200);
    assert.equal(await run("/tasks/1/finish", 1), 200);
    assert.equal(await run("/tasks/2/close", 1), 200);
  });
