import assert from "node:assert/strict";
import { test } from "node:test";
import { memberOf } from "../../src/door/auth.ts";
import { administrator, anyOf, defineResource, enumeration, mount, reference, text } from "../../src/door/index.ts";
import { ownService } from "../harness/own-service.ts";

// Memberships without a unique set: a user may be in one group several times.

const user = defineResource({ name: "user", fields: { name: text() } });
const project = defineResource({ name: "project", fields: { name: text() } });
const membership = defineResource({
  name: "membership",
  fields: {
    user_id: reference(user),
    project_id: reference(project, { onDelete: "cascade" }),
    role: enumeration(["owner", "viewer"]),
  },
});
const task = defineResource({ name: "task", fields: { project_id: reference(project), title: text() } });

test("shows each row once to a user with several memberships of its group, until the last of them is removed", async (t) => {
  const member = anyOf(administrator, memberOf(membership));
  const owner = anyOf(administrator, memberOf(membership, { where: { role: "owner" } }));
  const { ask, get } = await ownService(t, {
    mounts: [
      mount(user, { permission: administrator }),
      mount(project, { permission: member }),
      mount(membership, { permission: administrator }),
      mount(task, { permission: { list: member, read: member, create: owner, update: owner } }),
    ],
  });
  const make = async (path: string, body: object) => {
    const { status, text: sent } = await ask("POST", path, { as: "root", body });
    assert.equal(status, 201, sent);
  };
  for (const name of ["root", "ada"]) await make("/users", { name });
  await make("/projects", { name: "One" });
  for (const role of ["owner", "owner", "viewer"]) await make("/memberships", { user_id: 2, project_id: 1, role });
  for (const title of ["plan", "build"]) await make("/tasks", { project_id: 1, title });
  const remove = (id: number) => ask("DELETE", `/memberships/${id}`, { as: "root" });
  const seen = async () => {
    const { json, headers } = await get("/tasks", { as: "ada", headers: { prefer: "count=exact" } });
    return [json.map(({ id }: { id: number }) => id), headers.get("x-total-count")];
  };
  const change = async () => (await ask("PATCH", "/tasks/1", { as: "ada", body: { title: "changed" } })).status;

  assert.deepEqual(await seen(), [[1, 2], "2"]);
  assert.equal((await remove(1)).status, 204);
  assert.equal(await change(), 200);
  assert.equal((await remove(2)).status, 204);
  assert.equal(await change(), 403);
  assert.deepEqual(await seen(), [[1, 2], "2"]);
  assert.equal((await remove(3)).status, 204);
  assert.equal(await change(), 404);
  assert.deepEqual(await seen(), [[], "0"]);
});
