import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { openapiDocument, type RecordWrite } from "../../src/door/features.ts";
import {
  authenticated,
  defineFeature,
  defineResource,
  enumeration,
  mount,
  problem,
  reference,
  text,
} from "../../src/door/index.ts";
import { type Write, type Written } from "../../src/door/resources.ts";
import { keyOf, type Change } from "../../src/door/stores.ts";
import { defineProjects, mountProjects, startTeams, type Projects, type Teams } from "../harness/founders.ts";
import type { Answered } from "../harness/own-logins.ts";

/** Returns the memberships of a project, as ada sees them. */
async function membersOf({ as }: Teams, project: number | string): Promise<readonly Record<string, unknown>[]> {
  return (await as("ada", "GET", `/memberships?project_id=${project}`)).json;
}

const outcome = ({ status, json }: Answered): readonly unknown[] => [status, json?.code];

async function start(t: TestContext, options: Parameters<typeof mountProjects>[1] = {}, projects = defineProjects()) {
  return startTeams(t, { mounts: mountProjects(projects, options) });
}

test("makes the creator of a group its owner, with POST, an array and an older shape", async (t) => {
  const teams = await start(t);
  const { as, ids } = teams;

  const one = await as("ben", "POST", "/projects", { name: "One" });
  const two = await as("ben", "POST", "/projects", [{ name: "Two" }, { name: "Three" }]);
  const four = await as("cleo", "POST", "/v1/projects", { title: "Four" });

  assert.deepEqual([one.status, two.status, four.status], [201, 201, 201], one.text + two.text + four.text);
  assert.deepEqual(await membersOf(teams, one.json.id), [
    { id: 1, user_id: ids["ben"], project_id: one.json.id, role: "owner", level: 3, note: null },
  ]);
  for (const { id } of two.json) {
    const [member, ...others] = await membersOf(teams, id);
    assert.deepEqual([member!["user_id"], member!["role"], others], [ids["ben"], "owner", []]);
  }
  assert.equal((await membersOf(teams, four.json.id))[0]!["user_id"], ids["cleo"]);
});

test("makes the owner of a group that PUT creates, and not of one that it replaces", async (t) => {
  const teams = await start(t, {}, defineProjects({ id: "uuid" }));
  const id = "019c0000-0000-7000-8000-000000000001";

  assert.equal((await teams.as("ben", "PUT", `/projects/${id}`, { name: "One" })).status, 201);
  assert.equal((await teams.as("cleo", "PUT", `/projects/${id}`, { name: "Two" })).status, 200);
  const made = await teams.as("cleo", "POST", "/projects", { name: "Three" });

  assert.deepEqual(
    (await membersOf(teams, id)).map((each) => [each["user_id"], each["role"]]),
    [[teams.ids["ben"], "owner"]],
  );
  assert.equal((await membersOf(teams, made.json.id))[0]!["user_id"], teams.ids["cleo"]);
});

test("stores one group and one membership for repeated requests", async (t) => {
  const teams = await start(t);
  const key = { "idempotency-key": "once-only" };

  const answers = [];
  for (const body of [{ name: "One" }, { name: "One" }])
    answers.push(await teams.as("ben", "POST", "/projects", body, key));
  const all = await teams.as("ben", "POST", "/projects", [{ name: "A" }, { name: "B" }], {
    "idempotency-key": "two-at-once",
  });
  const again = await teams.as("ben", "POST", "/projects", [{ name: "A" }, { name: "B" }], {
    "idempotency-key": "two-at-once",
  });

  assert.deepEqual(answers[1]!.json, answers[0]!.json);
  assert.deepEqual([again.text, again.status], [all.text, 201]);
  assert.equal((await teams.as("ada", "GET", "/memberships")).json.length, 3);
});

test("does not ask the create permission of memberships, and runs their hooks and the features", async (t) => {
  const heard: unknown[] = [];
  const written: unknown[] = [];
  const log = defineResource({ name: "log", fields: { membership: text(), project: text() } });
  const logs = mount(log, { permission: authenticated });
  const listener = defineFeature({
    name: "listener",
    setUp: () => ({
      offer: null,
      alongside: ({ resource, kind, id }: RecordWrite) => {
        heard.push([resource.name, kind, id]);
        return [];
      },
    }),
  });
  const projects = defineProjects();
  const mounts = mountProjects(projects, {
    memberships: {
      permission: { list: authenticated },
      beforeWrite: ({ kind, draft, id, current }: Write<Projects["membership"]>) => {
        assert.deepEqual([kind, id, current], ["create", null, null]);
        assert.deepEqual([draft!.values.role, draft!.values.level, draft!.values.project_id], ["owner", 3, keyOf(-1)]);
        return {
          values: { note: "by hook", role: "viewer" },
          changes: [
            {
              kind: "insert",
              collection: logs.collection,
              values: { membership: "0", project: "hook" },
            },
          ],
          complete: () => [
            { kind: "insert", collection: logs.collection, values: { membership: "1", project: "complete" } },
          ],
        };
      },
      afterWrite: ({ kind, id, after, before }: Written<Projects["membership"]>) =>
        void written.push([kind, id, after?.role, after?.note, before]),
    },
  });
  const teams = await startTeams(t, { mounts: [...mounts, logs] }, [listener]);

  const made = await teams.as("ben", "POST", "/projects", [{ name: "One" }, { name: "Two" }]);

  assert.equal(made.status, 201, made.text);
  const members = (await teams.as("ada", "GET", "/memberships")).json;
  assert.deepEqual(
    members.map((each: Record<string, unknown>) => [each["project_id"], each["role"], each["note"]]),
    [
      [1, "owner", "by hook"],
      [2, "owner", "by hook"],
    ],
  );
  assert.deepEqual(written, [
    ["create", 1, "owner", "by hook", null],
    ["create", 2, "owner", "by hook", null],
  ]);
  assert.equal((await teams.as("ada", "GET", "/logs")).json.length, 4);
  assert.deepEqual(heard.slice(-4), [
    ["project", "create", keyOf(0)],
    ["project", "create", keyOf(1)],
    ["membership", "create", keyOf(2)],
    ["membership", "create", keyOf(5)],
  ]);
});

test("lets the hook of memberships refuse the group, which is then not made", async (t) => {
  const teams = await start(t, {
    memberships: {
      beforeWrite: () => {
        throw problem("conflict");
      },
    },
  });

  assert.deepEqual(outcome(await teams.as("ben", "POST", "/projects", { name: "One" })), [409, "conflict"]);
  assert.equal((await teams.as("ben", "GET", "/projects")).json.length, 0);
});

test("refuses to take the last owner away: deleted, demoted, replaced, moved and in arrays", async (t) => {
  const teams = await start(t);
  const { as, ids } = teams;
  await as("ada", "POST", "/projects", [{ name: "One" }, { name: "Two" }]);
  const demoted = { user_id: ids["ada"], project_id: 1, role: "viewer" };

  const refusals = [
    await as("ada", "DELETE", "/memberships/1"),
    await as("ada", "PATCH", "/memberships/1", { role: "viewer" }),
    await as("ada", "PUT", "/memberships/1", demoted),
    await as("ben", "PATCH", "/memberships/1", { project_id: 2, user_id: ids["ben"] }),
    await as("ada", "PATCH", "/memberships", [{ id: 1, role: "viewer" }]),
    await as("ada", "PATCH", "/memberships", [
      { id: 1, role: "editor", note: "x" },
      { id: 2, note: "y" },
    ]),
  ];

  for (const [at, each] of refusals.entries())
    assert.deepEqual(outcome(each), [409, "last_owner"], `${at} ${each.text}`);
  assert.deepEqual(
    (await membersOf(teams, 1)).map(({ role, note }) => [role, note]),
    [["owner", null]],
  );
  assert.equal((await as("ada", "PATCH", "/memberships/1", { note: "Still here" })).status, 200);
});

test("judges an array by its end, and lets one of two owners leave", async (t) => {
  const teams = await start(t);
  const { as, ids } = teams;
  await as("ada", "POST", "/projects", { name: "One" });
  await as("ada", "POST", "/memberships", { user_id: ids["ben"], project_id: 1, role: "viewer" });

  const swapped = await as("ada", "PATCH", "/memberships", [
    { id: 1, role: "viewer" },
    { id: 2, role: "owner" },
  ]);

  assert.equal(swapped.status, 200, swapped.text);
  assert.deepEqual(outcome(await as("ben", "DELETE", "/memberships/2")), [409, "last_owner"]);
  assert.equal((await as("ben", "PATCH", "/memberships/1", { role: "owner" })).status, 200);
  assert.equal((await as("ben", "DELETE", "/memberships/2")).status, 204);
  assert.deepEqual(outcome(await as("ben", "DELETE", "/memberships/1")), [409, "last_owner"]);
});

test("deletes a group with its owners, and lets a group without owners be changed", async (t) => {
  const teams = await start(t);
  const { as, ids, api } = teams;
  await as("ada", "POST", "/projects", [{ name: "One" }, { name: "Two" }]);
  const { collection } = api.service.mounts.find(({ resource }) => resource.name === "membership")!;
  const values = { role: "viewer" };
  await api.service.store.write({ changes: [{ kind: "update", collection, key: 2, values }] });

  assert.equal((await as("ada", "DELETE", "/projects/1")).status, 204);
  assert.equal((await membersOf(teams, 1)).length, 0);
  assert.equal((await as("ada", "PATCH", "/memberships/2", { role: "editor" })).status, 200);
  await as("ada", "POST", "/memberships", { user_id: ids["ben"], project_id: 2, role: "editor" });
  assert.equal((await as("ada", "DELETE", "/memberships/2")).status, 204);
  assert.deepEqual(outcome(await as("ada", "DELETE", `/users/${ids["ada"]}`)), [204, undefined]);
  assert.deepEqual(outcome(await as("ben", "DELETE", `/users/${ids["ben"]}`)), [409, "referenced"]);
});

test("judges the changes of hooks and actions", async (t) => {
  const projects = defineProjects();
  const note = defineResource({ name: "note", fields: { body: text() } });
  const [ofProjects, memberships, older] = mountProjects(projects, {
    projects: {
      beforeWrite: ({ kind, id }: Write<Projects["project"]>) =>
        kind !== "delete"
          ? {}
          : {
              changes: [
                {
                  kind: "deleteAll",
                  collection: memberships!.collection,
                  where: { column: "project_id", operator: "eq", value: id },
                },
              ],
            },
    },
    memberships: {
      actions: { step_down: { permission: authenticated, handle: () => ({ values: { role: "viewer" } }) } },
    },
  });
  const { collection } = memberships!;
  const takes: Readonly<Record<string, Change>> = {
    deleted: { kind: "delete", collection, key: 1 },
    demoted: { kind: "update", collection, key: 1, values: { role: "viewer" } },
    all_deleted: { kind: "deleteAll", collection, where: { column: "user_id", operator: "eq", value: 1 } },
    all_demoted: {
      kind: "updateAll",
      collection,
      where: { column: "user_id", operator: "eq", value: 1 },
      values: { role: "viewer" },
    },
    touched: { kind: "update", collection, key: 1, values: { note: "touched" } },
  };
  const notes = mount(note, {
    permission: authenticated,
    beforeWrite: ({ draft }) => ({ changes: [takes[draft!.values.body]!] }),
  });
  const teams = await startTeams(t, { mounts: [ofProjects!, memberships!, older!, notes] });
  await teams.as("ada", "POST", "/projects", { name: "One" });

  for (const body of ["deleted", "demoted", "all_deleted", "all_demoted"])
    assert.deepEqual(outcome(await teams.as("ben", "POST", "/notes", { body })), [409, "last_owner"], body);
  assert.deepEqual(outcome(await teams.as("ada", "POST", "/memberships/1/step_down")), [409, "last_owner"]);
  assert.equal((await teams.as("ben", "POST", "/notes", { body: "touched" })).status, 201);
  assert.equal((await teams.as("ada", "DELETE", "/projects/1")).status, 204);
});

test("keeps one owner when 200 leave at once", async (t) => {
  const teams = await start(t);
  const { as, api } = teams;
  await as("ada", "POST", "/projects", { name: "One" });
  const users = api.service.mounts.find(({ resource }) => resource.name === "user")!.collection;
  const memberships = api.service.mounts.find(({ resource }) => resource.name === "membership")!.collection;
  await api.service.store.write({
    changes: Array.from({ length: 199 }, (_, at) => at).flatMap((at) => [
      { kind: "insert", collection: users, values: { name: `u${at}`, email: `u${at}@example.com` } },
      {
        kind: "insert",
        collection: memberships,
        values: { user_id: keyOf(2 * at), project_id: 1, role: "owner", level: 1 },
      },
    ]),
  });

  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, at) =>
      at % 2 === 0
        ? as("ada", "DELETE", `/memberships/${at + 1}`)
        : as("ada", "PATCH", `/memberships/${at + 1}`, { role: "viewer" }),
    ),
  );

  const counts = new Map<number, number>();
  for (const { status } of answers) counts.set(status, (counts.get(status) ?? 0) + 1);
  assert.equal(counts.get(409), 1, JSON.stringify([...counts]));
  assert.equal((counts.get(204) ?? 0) + (counts.get(200) ?? 0), 199);
  const where = { column: "role", operator: "eq", value: "owner" } as const;
  assert.equal(await api.service.store.count(memberships, where), 1);
});

test("founds nested memberships", async (t) => {
  const club = defineResource({ name: "club", fields: { name: text() } });
  const member = defineResource({
    name: "member",
    within: club,
    fields: { user_id: reference("users"), role: enumeration(["owner", "guest"], { default: "guest" }) },
  });
  const clubs = mount(club, {
    permission: authenticated,
    founder: { memberships: member, values: { role: "owner" }, keep: true },
  });
  const teams = await startTeams(t, { mounts: [clubs, mount(member, { permission: authenticated })] });

  assert.equal((await teams.as("ben", "POST", "/clubs", { name: "Chess" })).status, 201);

  assert.deepEqual((await teams.as("ben", "GET", "/clubs/1/members")).json, [
    { id: 1, user_id: teams.ids["ben"], role: "owner" },
  ]);
  assert.deepEqual(outcome(await teams.as("ben", "DELETE", "/clubs/1/members/1")), [409, "last_owner"]);
  assert.equal((await teams.as("ben", "DELETE", "/clubs/1")).status, 204);
});

test("documents last_owner for the writes of memberships", async () => {
  const { paths } = (await openapiDocument({
    title: "Teams",
    version: "1",
    mounts: mountProjects(defineProjects()),
  })) as unknown as { paths: Record<string, Record<string, { responses: Record<string, { $ref: string }> }>> };

  for (const method of ["put", "patch", "delete"])
    assert.match(paths["/memberships/{id}"]![method]!.responses["409"]!.$ref, /LastOwner/);
  assert.doesNotMatch(paths["/projects/{id}"]!["delete"]!.responses["409"]!.$ref, /LastOwner/);
});
