import assert from "node:assert/strict";
import { memberOf } from "../../src/door/auth.ts";
import { administrator, defineResource, enumeration, mount, reference, text } from "../../src/door/index.ts";
import type { Mount } from "../../src/door/resources.ts";
import { StoreSetupError } from "../../src/door/stores.ts";
import { onBoth, type Before } from "../harness/existing.ts";
import type { Own } from "../harness/own-service.ts";

const user = defineResource({ name: "user", fields: { name: text() } });
const project = defineResource({
  name: "project",
  table: "their_projects",
  writes: ["update"],
  fields: { name: text() },
});
const membership = defineResource({
  name: "membership",
  table: "their_members",
  columns: { user_id: "person", project_id: "team" },
  writes: ["create", "update", "delete"],
  fields: { user_id: reference("users"), project_id: reference("projects"), role: enumeration(["owner", "viewer"]) },
});
const task = defineResource({
  name: "task",
  table: "their_tasks",
  columns: { project_id: "team" },
  writes: ["create", "update", "delete"],
  fields: { project_id: reference("projects"), title: text() },
});

const tables = `
  CREATE TABLE their_projects (id integer PRIMARY KEY, name text NOT NULL);
  CREATE TABLE their_members (id integer PRIMARY KEY, person integer NOT NULL, team integer NOT NULL, role text NOT NULL);
  CREATE TABLE their_tasks (id integer PRIMARY KEY, team integer NOT NULL, title text NOT NULL);
  INSERT INTO their_projects VALUES (1, 'first'), (2, 'second');
  INSERT INTO their_members VALUES (1, 2, 1, 'owner'), (2, 3, 2, 'owner'), (3, 2, 2, 'viewer');
  INSERT INTO their_tasks VALUES (1, 1, 'plan 1'), (2, 2, 'plan 2');
`;
const indexes = [
  "CREATE INDEX of_person ON their_members (person)",
  "CREATE UNIQUE INDEX of_both ON their_members (team, person)",
  "CREATE INDEX of_team ON their_tasks (team)",
];

function serve(before: Before, ...further: readonly Mount[]): Promise<Own> {
  const members = memberOf(membership);
  const owners = memberOf(membership, { where: { role: "owner" } });
  return before.serve(
    mount(user, { permission: administrator }),
    mount(project, {
      permission: { list: memberOf(membership), read: memberOf(membership) },
    }),
    mount(membership, { permission: { list: members, read: members, delete: administrator } }),
    mount(task, { permission: { list: members, read: members, create: owners, update: owners, delete: owners } }),
    ...further,
  );
}

onBoth("narrows existing tables by existing memberships", `${tables}${indexes.join(";")};`, async (before) => {
  const own = await serve(before);
  const list = await own.get("/tasks", { as: "ben" });

  assert.deepEqual(
    list.json.map(({ title }: { title: string }) => title),
    ["plan 2"],
  );
  assert.equal((await own.get("/tasks/1", { as: "ben" })).status, 404);
  assert.equal((await own.ask("PATCH", "/tasks/2", { as: "ada", body: { title: "x" } })).status, 403);
  assert.equal((await own.ask("PATCH", "/tasks/1", { as: "ada", body: { title: "x" } })).status, 200);
  assert.equal((await own.ask("PATCH", "/tasks/1", { as: "ada", body: { project_id: 2 } })).status, 403);
  assert.equal((await own.get("/projects", { as: "ada" })).json.length, 2);
  await before.sql("DELETE FROM their_members WHERE person = 3");
  assert.equal((await own.get("/tasks/2", { as: "ben" })).status, 404);
  assert.deepEqual((await own.get("/tasks", { as: "ben" })).json, []);
});

onBoth(
  "names the columns of an existing table without an index, if they have the names of the fields",
  `${tables}CREATE TABLE their_rooms (id integer PRIMARY KEY, project_id integer NOT NULL);${indexes.join(";")};`,
  async (before) => {
    const fields = { project_id: reference("projects") };
    const room = defineResource({ name: "room", table: "their_rooms", writes: [], fields });

    await assert.rejects(serve(before, mount(room, { permission: { list: memberOf(membership) } })), (error) => {
      assert.ok(error instanceof StoreSetupError);
      assert.ok(error.message.includes("their_rooms by (project_id), but no index begins"), error.message);
      return true;
    });
  },
);

onBoth(
  "narrows a view, although the indexes behind it are unknown",
  `${tables}${indexes.join(";")};CREATE VIEW their_plans AS SELECT id, team, title FROM their_tasks;`,
  async (before) => {
    const plan = defineResource({
      name: "plan",
      table: "their_plans",
      columns: { project_id: "team" },
      writes: [],
      fields: { project_id: reference("projects"), title: text() },
    });
    const own = await serve(before, mount(plan, { permission: { list: memberOf(membership) } }));

    assert.deepEqual(
      (await own.get("/plans", { as: "ben" })).json.map(({ title }: { title: string }) => title),
      ["plan 2"],
    );
  },
);

for (const [at, columns] of [
  "their_members by (person)",
  "their_members by (person, team)",
  "their_tasks by (team)",
].entries())
  onBoth(
    `does not start without an index: ${columns}`,
    `${tables}${indexes.filter((_, place) => place !== at).join(";")};`,
    async (before) => {
      await assert.rejects(serve(before), (error) => {
        assert.ok(error instanceof StoreSetupError);
        assert.ok(
          error.message.includes(`searches ${columns}, but no index begins with these columns. Create one:`),
          error.message,
        );
        return true;
      });
    },
  );
