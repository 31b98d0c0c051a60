import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { memberOf } from "../../src/door/auth.ts";
import { authenticated, owner } from "../../src/door/index.ts";
import { anyOf } from "../../src/door/index.ts";
import { keyOf } from "../../src/door/stores.ts";
import { defineProjects, mountProjects, startTeams, type Teams } from "../harness/founders.ts";

// Owners whose writes are allowed because of their memberships, which the same transactions remove.

async function start(t: TestContext): Promise<Teams> {
  const projects = defineProjects();
  const { membership } = projects;
  const owners = memberOf(membership, { where: { role: "owner" } });
  const mounts = mountProjects(projects, {
    projects: {
      permission: {
        list: authenticated,
        read: authenticated,
        create: authenticated,
        update: owners,
        delete: owners,
      },
    },
    memberships: {
      permission: {
        list: authenticated,
        read: authenticated,
        create: owners,
        update: owners,
        delete: anyOf(owners, owner("user_id")),
      },
    },
  });
  return startTeams(t, { mounts });
}

/** Makes a project of ada with ben and cleo as further owners. Returns its id. */
async function makeOwners({ as, ids }: Teams): Promise<number> {
  const { json } = await as("ada", "POST", "/projects", { name: "One" });
  for (const name of ["ben", "cleo"])
    await as("ada", "POST", "/memberships", { user_id: ids[name], project_id: json.id, role: "owner" });
  return json.id;
}

async function ownersOf({ as }: Teams, project: number): Promise<number> {
  const { json } = await as("ada", "GET", `/memberships?project_id=${project}`);
  return json.filter(({ role }: { role: string }) => role === "owner").length;
}

test("keeps an owner when three owners leave and demote each other at once", async (t) => {
  const teams = await start(t);
  const { as } = teams;

  for (let round = 0; round < 10; round++) {
    const project = await makeOwners(teams);
    const first = round * 3 + 1;
    const answers = await Promise.all([
      as("ada", "DELETE", `/memberships/${first}`),
      as("ben", "PATCH", `/memberships/${first}`, { role: "viewer" }),
      as("ben", "DELETE", `/memberships/${first + 1}`),
      as("cleo", "PATCH", `/memberships/${first + 1}`, { role: "viewer" }),
      as("cleo", "DELETE", `/memberships/${first + 2}`),
      as("ada", "PATCH", `/memberships/${first + 2}`, { role: "viewer" }),
      as("ada", "PATCH", `/projects/${project}`, { name: "Two" }),
    ]);

    assert.ok(
      answers.every(({ status }) => [200, 204, 403, 404, 409].includes(status)),
      answers.map(({ text }) => text).join(),
    );
    assert.ok((await ownersOf(teams, project)) >= 1, `round ${round}`);
  }
});

test("lets a group be deleted while its owners leave", async (t) => {
  const teams = await start(t);
  const { as } = teams;
  const project = await makeOwners(teams);

  const [deleted, ...left] = await Promise.all([
    as("ada", "DELETE", `/projects/${project}`),
    as("ben", "DELETE", "/memberships/2"),
    as("cleo", "DELETE", "/memberships/3"),
  ]);

  assert.equal(deleted.status, 204, deleted.text);
  for (const { status, text } of left) assert.ok([204, 404].includes(status), text);
  assert.equal((await as("ada", "GET", "/memberships")).json.length, 0);
});

test("keeps one owner when 200 leave at once by their own memberships", async (t) => {
  const teams = await start(t);
  const { as, api } = teams;
  const { json } = await as("ada", "POST", "/projects", { name: "One" });
  const collection = (name: string) => api.service.mounts.find(({ resource }) => resource.name === name)!.collection;
  const [users, memberships] = [collection("user"), collection("membership")];
  await api.service.store.write({
    changes: Array.from({ length: 199 }, (_, at) => at).flatMap((at) => [
      { kind: "insert", collection: users, values: { name: `u${at}`, email: `u${at}@example.com` } },
      {
        kind: "insert",
        collection: memberships,
        values: { user_id: keyOf(2 * at), project_id: json.id, role: "owner", level: 1 },
      },
    ]),
  });

  // Ada removes all others and herself, each in a request of its own.
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, at) => as("ada", "DELETE", `/memberships/${200 - at}`)),
  );

  const refused = answers.filter(({ status }) => status !== 204);
  const where = { column: "role", operator: "eq", value: "owner" } as const;
  assert.ok((await api.service.store.count(memberships, where)) >= 1);
  assert.ok(refused.length >= 1);
  assert.ok(refused.every(({ status, json: { code } }) => status === 403 || code === "last_owner" || status === 404));
});
