import assert from "node:assert/strict";
import { test } from "node:test";
import { memberOf } from "../../src/door/auth.ts";
import { administrator, anyOf, defineResource, mount, reference, text } from "../../src/door/index.ts";
import { olderShape } from "../../src/door/resources.ts";
import { ownService } from "../harness/own-service.ts";

// Memberships and other records within a group. A reader of the group writes a membership if its own permission allows
// it. Another record also needs the permission to update the group.

const user = defineResource({ name: "user", fields: { name: text() } });
const project = defineResource({ name: "project", fields: { name: text() } });
const membership = defineResource({ name: "membership", within: project, fields: { user_id: reference(user) } });
const note = defineResource({ name: "note", within: project, fields: { line: text() } });

test("asks the permission to update a group for its records, but not for its memberships in any shape", async (t) => {
  const member = anyOf(administrator, memberOf(membership));
  const memberships = mount(membership, { permission: member });
  const { ask } = await ownService(t, {
    mounts: [
      mount(user, { permission: administrator }),
      mount(project, { permission: { list: member, read: member, create: administrator, update: administrator } }),
      memberships,
      olderShape(memberships, { prefix: "/v1", fields: { member: "user_id" } }),
      mount(note, { permission: member }),
    ],
  });
  for (const name of ["root", "ada"]) await ask("POST", "/users", { as: "root", body: { name } });
  await ask("POST", "/projects", { as: "root", body: { name: "first" } });
  await ask("POST", "/projects/1/memberships", { as: "root", body: { user_id: 2 } });
  const addMember = async (path: string, body: object) => (await ask("POST", path, { as: "ada", body })).status;
  const writeNote = async (as: string) =>
    (await ask("POST", "/projects/1/notes", { as, body: { line: "hello" } })).status;

  assert.equal(await addMember("/projects/1/memberships", { user_id: 1 }), 201);
  assert.equal(await addMember("/v1/projects/1/memberships", { member: 1 }), 201);
  assert.equal(await writeNote("ada"), 403);
  assert.equal(await writeNote("root"), 201);
});
