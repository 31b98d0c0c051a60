import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { openapiDocument } from "../../src/door/features.ts";
import { authenticated, defineResource, enumeration, mount, reference, text } from "../../src/door/index.ts";
import type { Observation } from "../../src/door/ops.ts";
import { olderShape, references, type Mount, type MountOptions, type Write } from "../../src/door/resources.ts";
import { keyOf, type Change, type Collection } from "../../src/door/stores.ts";
import { defineProjects, mountProjects, startTeams, type Projects, type Teams } from "../harness/founders.ts";
import { emptyStore } from "../harness/test-store.ts";

// The memberships of founders with hooks, checks, rules of fields and maximums of the service.

const log = defineResource({
  name: "log",
  fields: { membership: text(), project: text(), line: text({ unique: true, optional: true }) },
});
const logs = mount(log, { permission: authenticated });
const logged = (values: Record<string, unknown>): Change => ({
  kind: "insert",
  collection: logs.collection,
  values: { membership: "-", project: "-", ...values },
});

type Project = Projects["project"];

/** Mounts projects with memberships of other fields. */
function mountWith(
  fields: object,
  { values = { role: "owner" }, project = defineProjects().project, ...more }: Record<string, unknown> = {},
): readonly Mount[] {
  const membership = defineResource({
    name: "membership",
    fields: {
      user_id: reference("users"),
      project_id: reference(project as Project, { onDelete: "cascade" }),
      ...fields,
    },
    ...(more["check"] === undefined ? {} : { check: more["check"] as never }),
  });
  return [
    mount(project as Project, {
      permission: authenticated,
      arrays: true,
      founder: { memberships: membership, values, of: "project_id" } as never,
      ...(more["projects"] as object),
    }),
    mount(membership, { permission: authenticated, ...(more["memberships"] as object) }),
  ];
}

const role = enumeration(["owner", "viewer"], { default: "viewer" });

async function start(t: TestContext, mounts: readonly Mount[]): Promise<Teams & { readonly faults: string[] }> {
  const faults: string[] = [];
  const observe = (each: Observation): void => {
    if (each.kind === "fault") faults.push(String((each.error as Error).message));
  };
  return { ...(await startTeams(t, { mounts, observe })), faults };
}

test("gives a founder a role that callers cannot set, and shows it to the hook", async (t) => {
  const seen: unknown[] = [];
  const teams = await start(
    t,
    mountWith(
      { role: enumeration(["owner", "viewer"], { default: "viewer", readOnly: true }) },
      { memberships: { beforeWrite: ({ draft }: Write<Projects["membership"]>) => (seen.push(draft!.values), {}) } },
    ),
  );

  assert.equal((await teams.as("ben", "POST", "/projects", { name: "One" })).status, 201);

  assert.equal((await teams.as("ben", "GET", "/memberships/1")).json.role, "owner");
  assert.deepEqual(seen, [{ user_id: teams.ids["ben"], project_id: keyOf(-1), role: "owner" }]);
});

test("gives the hook the ids of the membership and of the group, and links its changes to them", async (t) => {
  for (const id of ["uuid", "integer"] as const) {
    const groups: unknown[] = [];
    const { project } = defineProjects({ id });
    const membership = defineResource({
      name: "membership",
      id,
      fields: { user_id: reference("users"), project_id: reference(project), role },
    });
    const line = defineResource({ name: "line", fields: { at: reference(membership), on: reference(project) } });
    const lines = mount(line, { permission: authenticated });
    const teams = await start(t, [
      mount(project, {
        permission: authenticated,
        founder: { memberships: membership, values: { role: "owner" } },
        beforeWrite: () => ({ changes: [logged({}), logged({})] }),
      }),
      logs,
      mount(membership, {
        permission: authenticated,
        beforeWrite: ({ draft, id: own }) => {
          const on = draft!.values.project_id as never;
          groups.push(on);
          const insert = { kind: "insert", collection: lines.collection } as const;
          return { changes: [{ ...insert, values: { at: (own ?? keyOf(0)) as never, on } }] };
        },
      }),
      lines,
    ]);

    const first = (await teams.as("ben", "POST", "/projects", { name: "One" })).json.id;
    const joined = await teams.as("ben", "POST", "/memberships", { user_id: teams.ids["cleo"], project_id: first });
    assert.equal(joined.status, 201, joined.text);
    const made = await teams.as("ben", "POST", "/projects", { name: "Two" });

    assert.equal(made.status, 201, made.text);
    assert.deepEqual(groups.slice(2), [id === "uuid" ? made.json.id : keyOf(-1)]);
    const members = (await teams.as("ben", "GET", "/memberships")).json;
    const member = members.find((each: { project_id: unknown }) => each.project_id === made.json.id);
    assert.deepEqual((await teams.as("ben", "GET", "/lines")).json.at(-1), { id: 3, at: member.id, on: made.json.id });
  }
});

test("hides the group in the path from the hook of nested memberships, as for every caller", async (t) => {
  const seen: unknown[] = [];
  const club = defineResource({ name: "club", fields: { name: text() } });
  const member = defineResource({ name: "member", within: club, fields: { user_id: reference("users"), role } });
  const teams = await start(t, [
    mount(club, { permission: authenticated, founder: { memberships: member, values: { role: "owner" } } }),
    mount(member, {
      permission: authenticated,
      beforeWrite: ({ draft }) => (seen.push(Object.keys(draft!.values).toSorted()), {}),
    }),
  ]);

  assert.equal((await teams.as("ben", "POST", "/clubs", { name: "Chess" })).status, 201);
  await teams.as("ben", "POST", "/clubs/1/members", { user_id: teams.ids["cleo"] });

  assert.deepEqual(seen, [
    ["role", "user_id"],
    ["role", "user_id"],
  ]);
});

test("makes no group whose membership a check refuses, and says why to the operator", async (t) => {
  const check = (): readonly object[] => [{ pointer: "/role", code: "invalid", detail: "No more owners." }];
  const teams = await start(t, mountWith({ role }, { check }));

  const refused = await teams.as("ben", "POST", "/projects", { name: "One" });

  assert.equal(refused.status, 500, refused.text);
  assert.match(teams.faults.join(), /gets a membership that \/memberships refuses:.*\/role: No more owners\./);
  assert.deepEqual((await teams.as("ben", "GET", "/projects")).json, []);
});

test("makes no group whose membership refers to nothing, and names the column to the operator", async (t) => {
  const tag = defineResource({ name: "tag", fields: { name: text() } });
  const [projects, memberships] = mountWith(
    { role, tag_id: reference(tag) },
    { values: { role: "owner", tag_id: 99 } },
  );
  const teams = await start(t, [projects!, memberships!, mount(tag, { permission: authenticated })]);

  for (const body of [{ name: "One" }, [{ name: "One" }]])
    assert.equal((await teams.as("ben", "POST", "/projects", body)).status, 500);

  assert.match(teams.faults[0]!, /gets no membership of \/memberships: the database answers dangling for tag_id/);
  assert.deepEqual((await teams.as("ben", "GET", "/projects")).json, []);
});

test("answers 409 to a group if a hook of its membership changes a record that is gone", async (t) => {
  const gone: Change = { kind: "delete", collection: logs.collection, key: 99 };
  const teams = await start(t, [
    ...mountWith({ role }, { memberships: { beforeWrite: () => ({ changes: [gone] }) } }),
    logs,
  ]);

  for (const body of [{ name: "One" }, [{ name: "One" }]]) {
    const { status, json } = await teams.as("ben", "POST", "/projects", body);
    assert.deepEqual([status, json.code], [409, "conflict"]);
  }
});

test("points to the value of the group that is taken, and not to one of the membership", async (t) => {
  const project = defineResource({ name: "project", fields: { name: text({ unique: true }) } });
  const tag = defineResource({ name: "tag", fields: { name: text() } });
  const teams = await start(t, [
    ...mountWith({ role, tags: references(tag) }, { project, values: { role: "owner", tags: [1] } }),
    mount(tag, { permission: authenticated }),
  ]);
  await teams.as("ada", "POST", "/tags", { name: "red" });
  const answers = [];
  for (const body of [{ name: "One" }, { name: "One" }, [{ name: "One" }, { name: "Two" }]])
    answers.push(await teams.as("ada", "POST", "/projects", body));

  assert.deepEqual(
    answers.map(({ status, json }) => [status, json.errors?.[0].pointer]),
    [
      [201, undefined],
      [409, "/name"],
      [409, "/0/name"],
    ],
  );
});

test("points to no value of a membership that is taken, and to those of the hooks of the group", async (t) => {
  const teams = await start(t, [
    ...mountWith(
      { role, seat: text({ unique: true, optional: true }) },
      {
        values: { role: "owner", seat: "1" },
        projects: {
          beforeWrite: ({ draft }: Write<Project>) => ({ changes: [logged({ line: draft!.values.name })] }),
        } satisfies Partial<MountOptions<Project>>,
      },
    ),
    logs,
  ]);
  const errors = async (body: unknown): Promise<unknown> => {
    const { status, json } = await teams.as("ada", "POST", "/projects", body);
    return status === 201 ? 201 : [json.code, json.errors ?? []];
  };

  assert.equal(await errors({ name: "One" }), 201);
  assert.deepEqual(await errors({ name: "Two" }), ["taken", []]);
  assert.deepEqual(await errors([{ name: "Two" }]), ["taken", []]);
  assert.deepEqual(
    ((await errors([{ name: "One" }])) as [string, { pointer: string }[]])[1].map(({ pointer }) => pointer),
    ["/0/line"],
  );
  assert.deepEqual(
    ((await errors({ name: "One" })) as [string, { pointer: string }[]])[1].map(({ pointer }) => pointer),
    ["/line"],
  );
});

test("refuses a group above its maximum with the words of the group", async (t) => {
  const projects = { maximum: { per: "name", records: 1 } };
  const teams = await start(t, mountWith({ role }, { projects }));
  await teams.as("ben", "POST", "/projects", { name: "One" });

  const { status, json } = await teams.as("ben", "POST", "/projects", { name: "One" });

  assert.deepEqual([status, json.code], [409, "too_many"]);
  assert.match(json.detail, /At most 1 projects may have the same name/);
});

test("lets the last owner leave a group that need not keep one", async (t) => {
  const teams = await start(t, mountWith({ role }));
  await teams.as("ben", "POST", "/projects", { name: "One" });

  assert.equal((await teams.as("ben", "DELETE", "/memberships/1")).status, 204);
});

test("keeps the last owner of a group with a UUID, and through an older shape of the memberships", async (t) => {
  const projects = defineProjects({ id: "uuid" });
  const [ofProjects, memberships, older] = mountProjects(projects);
  const shaped = olderShape(memberships!, {
    prefix: "/v1",
    fields: { rank: "role", user_id: "user_id", project_id: "project_id" },
  });
  const teams = await start(t, [ofProjects!, memberships!, older!, shaped]);
  await teams.as("ben", "POST", "/projects", { name: "One" });

  const answers = [
    await teams.as("ben", "DELETE", "/memberships/1"),
    await teams.as("ben", "PATCH", "/memberships/1", { role: "viewer" }),
    await teams.as("ben", "DELETE", "/v1/memberships/1"),
    await teams.as("ben", "PATCH", "/v1/memberships/1", { rank: "viewer" }),
  ];

  for (const { status, json, text: said } of answers) assert.deepEqual([status, json?.code], [409, "last_owner"], said);
  const { paths } = (await openapiDocument({
    title: "Teams",
    version: "1",
    mounts: [ofProjects!, memberships!, older!, shaped],
  })) as unknown as { paths: Record<string, Record<string, { responses: Record<string, { $ref: string }> }>> };
  assert.match(paths["/v1/memberships/{id}"]!["delete"]!.responses["409"]!.$ref, /LastOwner/);
});

test("requires one owner once in a group that has an older shape", async (t) => {
  const required: unknown[] = [];
  const store = await emptyStore();
  const write: typeof store.write = (transaction) => {
    for (const each of transaction.changes) if (each.kind === "require") required.push(each.name);
    return store.write(transaction);
  };
  const teams = await startTeams(t, { store: { ...store, write }, mounts: mountProjects(defineProjects()) });
  await teams.as("ben", "POST", "/projects", { name: "One" });
  required.length = 0;

  assert.equal((await teams.as("ben", "DELETE", "/memberships/1")).json.code, "last_owner");

  assert.deepEqual(
    required.filter((name) => name === "last_owner"),
    ["last_owner"],
  );
});

test("changes an account in a service whose groups keep an owner", async (t) => {
  const teams = await start(t, mountProjects(defineProjects()));

  const changed = await teams.as("root", "PATCH", `/users/${teams.ids["ben"]}/account`, { active: false });

  assert.deepEqual([changed.status, changed.json.active], [200, false], changed.text);
});

/** Starts a service whose notes are written with these changes. Ada owns two projects, and ben is a viewer of one. */
async function startTaking(t: TestContext, take: (collection: Collection) => readonly Change[]): Promise<Teams> {
  const [projects, memberships, older] = mountProjects(defineProjects());
  const notes = mount(defineResource({ name: "note", fields: { body: text() } }), {
    permission: authenticated,
    beforeWrite: () => ({ changes: take(memberships!.collection) }),
  });
  const teams = await start(t, [projects!, memberships!, older!, notes]);
  await teams.as("ada", "POST", "/projects", [{ name: "One" }, { name: "Two" }]);
  await teams.as("ada", "POST", "/memberships", { user_id: teams.ids["ben"], project_id: 1, role: "viewer" });
  return teams;
}

const ofAll = { column: "id", operator: "gt", value: 0 } as const;
const rolesOf = async ({ as }: Teams): Promise<readonly string[]> =>
  (await as("ada", "GET", "/memberships")).json.map(({ role: each }: { role: string }) => each);

test("lets a hook make owners of all memberships, also of those that are owners", async (t) => {
  const teams = await startTaking(t, (collection) => [
    { kind: "updateAll", collection, where: ofAll, values: { role: "owner", note: "all" } },
  ]);

  const { status, text: said } = await teams.as("cleo", "POST", "/notes", { body: "x" });

  assert.equal(status, 201, said);
  assert.deepEqual(await rolesOf(teams), ["owner", "owner", "owner"]);
});

test("lets a hook make another owner of a group without one, and demote all others", async (t) => {
  const ofFirst = { column: "project_id", operator: "eq", value: 1 } as const;
  const teams = await startTaking(t, (collection) => [
    { kind: "updateAll", collection, where: ofFirst, values: { role: "editor" } },
    { kind: "update", collection, key: 3, values: { role: "owner" } },
  ]);
  const { collection } = teams.api.service.mounts.find(({ resource }) => resource.name === "membership")!;
  await teams.api.service.store.write({
    changes: [{ kind: "update", collection, key: 1, values: { role: "viewer" } }],
  });

  const { status, text: said } = await teams.as("cleo", "POST", "/notes", { body: "x" });

  assert.equal(status, 201, said);
  assert.deepEqual(await rolesOf(teams), ["editor", "owner", "owner"]);
});

test("answers 409 if a hook deletes a membership that is gone", async (t) => {
  const teams = await startTaking(t, (collection) => [{ kind: "delete", collection, key: 99 }]);

  const { status, json } = await teams.as("cleo", "POST", "/notes", { body: "x" });

  assert.deepEqual([status, json.code], [409, "conflict"]);
});
