import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { memberOf, type Permission } from "../../src/door/auth.ts";
import {
  administrator,
  allOf,
  anyOf,
  boolean,
  defineResource,
  enumeration,
  mount,
  owner,
  reference,
  text,
} from "../../src/door/index.ts";
import type { Store } from "../../src/door/stores.ts";
import { ownService } from "../harness/own-service.ts";
import { emptyStore } from "../harness/test-store.ts";

// A list joins the condition of a permission to its query. Single records and the records of an array are judged in
// memory. Both find the same rows for every combination with a permission by memberships.

const user = defineResource({ name: "user", fields: { name: text() } });
const project = defineResource({ name: "project", fields: { name: text() } });
const membership = defineResource({
  name: "membership",
  fields: { user_id: reference(user), project_id: reference(project), role: enumeration(["owner", "viewer"]) },
});
const task = defineResource({
  name: "task",
  fields: {
    project_id: reference(project),
    other_id: reference(project, { optional: true }),
    user_id: reference(user),
    done: boolean(),
    title: text(),
  },
});

const member = memberOf(membership);
const leader = memberOf(membership, { where: { role: "owner" } });
const other = memberOf(membership, { on: "other_id" });
const own = owner("user_id");
const isOpen = { column: "done", operator: "eq", value: false } as const;
const onDone = { narrows: ["list", "read", "update"], columns: ["done"] } as const;
const open: Permission<"done"> = { ...onDone, name: "open", decide: () => ({ only: isOpen }) };
const closed: Permission<"done"> = { ...onDone, name: "closed", decide: () => ({ only: { not: isOpen } }) };

const permissions = {
  "memberOf with another condition": allOf(member, open),
  "memberOf with the opposite of another condition": allOf(member, closed),
  "memberOf or another condition": anyOf(open, member),
  "two conditions by memberships": allOf(member, leader),
  "one of two conditions by memberships": anyOf(leader, other),
  "the same memberships for two columns": allOf(member, other),
  "a condition by memberships or two others": anyOf(other, allOf(own, open)),
  "memberOf by itself": member,
  "memberOf or the owner": anyOf(member, own),
  "nested conditions": allOf(anyOf(leader, own), anyOf(open, other)),
};

/** The memberships of Ada: two of the first project, one of the second one, and none of the third one. */
const roles = [
  [1, "owner"],
  [1, "viewer"],
  [2, "viewer"],
] as const;
const tasks = [1, 2, 3].flatMap((project_id) =>
  [1, 3, null].flatMap((other_id) =>
    [1, 2].flatMap((user_id) => [true, false].map((done) => ({ project_id, other_id, user_id, done, title: "made" }))),
  ),
);

type Combined = (typeof permissions)[keyof typeof permissions];

/** Starts a service with the tasks. `between` is called in each change of a task, before it is committed. */
async function start(
  t: TestContext,
  permission: Combined,
  { store, between }: { readonly store?: Store; readonly between?: () => Promise<unknown> } = {},
) {
  const own = await ownService(t, {
    ...(store === undefined ? {} : { store }),
    mounts: [
      mount(user, { permission: administrator }),
      mount(project, { permission: administrator }),
      mount(membership, { permission: administrator }),
      mount(task, {
        permission: { list: permission, read: permission, update: permission, create: administrator },
        arrays: true,
        beforeWrite: () => ({ complete: async () => (await between?.(), []) }),
      }),
    ],
  });
  const make = async (path: string, body: unknown) => {
    const { status, text: sent } = await own.ask("POST", path, { as: "root", body });
    assert.equal(status, 201, sent);
  };
  for (const each of ["root", "ada"]) await make("/users", { name: each });
  for (const each of ["owned", "viewed", "foreign"]) await make("/projects", { name: each });
  for (const [project_id, role] of roles) await make("/memberships", { user_id: 2, project_id, role });
  await make("/tasks", tasks);
  return own;
}

for (const [name, permission] of Object.entries(permissions))
  test(`finds the same records in a list, one by one and in an array: ${name}`, async (t) => {
    const { ask, get } = await start(t, permission);
    const ids = tasks.map((_, at) => at + 1);

    const { json } = await get("/tasks?limit=100", { as: "ada" });
    const listed: readonly number[] = json.map(({ id }: { id: number }) => id);

    assert.ok(listed.length > 0 && listed.length < ids.length, String(listed));
    for (const id of ids) {
      const isListed = listed.includes(id);
      const status = isListed ? 200 : 404;
      assert.equal((await get(`/tasks/${id}`, { as: "ada" })).status, status, `GET ${id}`);
      const patch = { as: "ada", body: { title: "changed" } };
      assert.equal((await ask("PATCH", `/tasks/${id}`, patch)).status, status, `PATCH ${id}`);
      const both = { as: "ada", body: [listed[0], id].map((each) => ({ id: each, title: "again" })) };
      if (id !== listed[0]) assert.equal((await ask("PATCH", "/tasks", both)).status, status, `PATCH with ${id}`);
    }
    const all = { as: "ada", body: listed.map((id) => ({ id, title: "all" })) };
    assert.equal((await ask("PATCH", "/tasks", all)).status, 200);
  });

test("looks memberships up for all records of an array together, and again if the caller has several of them", async (t) => {
  const store = await emptyStore();
  let lookups = 0;
  const list: Store["list"] = (query) => {
    if (query.collection.name === "memberships") lookups++;
    return store.list(query);
  };
  const { ask } = await start(t, member, { store: { ...store, list } });
  const change = async (...ids: readonly number[]) => {
    lookups = 0;
    const body = ids.map((id) => ({ id, title: "changed" }));
    return [(await ask("PATCH", "/tasks", { as: "ada", body })).status, lookups];
  };

  const ofProject = (first: number): readonly number[] => Array.from({ length: 12 }, (_, at) => first + at);
  const ofOne = await change(13);
  assert.deepEqual(await change(...ofProject(13)), ofOne);
  // The first rows that are found are the two memberships of the first project.
  assert.deepEqual(await change(...ofProject(1), ...ofProject(13)), [200, 2 * ofOne[1]!]);
});

test("requires no membership in a transaction if another part of the permission is enough", async (t) => {
  let times = 0;
  let between = async (): Promise<void> => undefined;
  const { ask } = await start(t, anyOf(member, own), { between: () => between() });
  between = async () => {
    times++;
    for (const id of [1, 2]) await ask("DELETE", `/memberships/${id}`, { as: "root" });
  };

  const changed = await ask("PATCH", "/tasks/3", { as: "ada", body: { title: "changed" } });

  assert.deepEqual([changed.status, times], [200, 1]);
});

test("changes no record of an array that a permission denies by its id", async (t) => {
  const first: Permission = {
    name: "first",
    decide: ({ params: { id = 1 } }) => (Number(id) === 1 ? "allow" : "deny"),
  };
  const { ask } = await ownService(t, {
    mounts: [
      mount(project, {
        permission: { list: administrator, create: administrator, read: first, update: first },
        arrays: true,
      }),
    ],
  });
  await ask("POST", "/projects", { as: "root", body: [{ name: "a" }, { name: "b" }] });
  const patch = async (...ids: readonly number[]) =>
    (await ask("PATCH", "/projects", { as: "ada", body: ids.map((id) => ({ id, name: "c" })) })).status;

  assert.equal(await patch(1), 200);
  assert.equal(await patch(1, 2), 404);
});
