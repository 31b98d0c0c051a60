import assert from "node:assert/strict";
import { test } from "node:test";
import { defineProjects, mountProjects, startTeams } from "../harness/founders.ts";

test("counts as owners only memberships without a value, if the values of the founder have none", async (t) => {
  const projects = defineProjects();
  const { membership } = projects;
  const values = { role: "owner", note: null } as const;
  const mounts = mountProjects(projects, { projects: { founder: { memberships: membership, values, keep: true } } });
  const { as, ids } = await startTeams(t, { mounts });
  const { json: project } = await as("ada", "POST", "/projects", { name: "One" });
  const join = (user: string, note: string | null) =>
    as("ada", "POST", "/memberships", { user_id: ids[user], project_id: project.id, role: "owner", note });
  const isLast = async (method: string, body?: unknown): Promise<void> => {
    const { status, json, text } = await as("ada", method, "/memberships/1", body);
    assert.deepEqual([status, json?.code], [409, "last_owner"], text);
  };

  assert.equal((await join("ben", "for now")).status, 201);
  await isLast("DELETE");
  await isLast("PATCH", { note: "on holiday" });
  await isLast("PATCH", { role: "editor" });
  // Other fields, and the same values, take no owner away.
  assert.equal((await as("ada", "PATCH", "/memberships/1", { level: 4, note: null })).status, 200);
  assert.equal((await join("cleo", null)).status, 201);
  assert.equal((await as("ada", "PATCH", "/memberships/1", { note: "on holiday" })).status, 200);
  // The membership with a note is none of an owner any more.
  assert.equal((await as("ada", "DELETE", "/memberships/1")).status, 204);
  assert.equal((await as("ada", "DELETE", "/memberships/3")).json.code, "last_owner");
});
