import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { memberOf } from "../../src/door/auth.ts";
import { administrator, anyOf, defineResource, integer, mount, reference, text } from "../../src/door/index.ts";
import type { Store } from "../../src/door/stores.ts";
import { table } from "../../src/http/declarations/table.ts";
import { ownService } from "../harness/own-service.ts";
import { emptyStore } from "../harness/test-store.ts";

// The column of a group in the narrowed rows, and the indexes that find memberships without a unique set.

const user = defineResource({ name: "user", fields: { name: text() } });
const project = defineResource({ name: "project", fields: { name: text() } });
const membership = defineResource({
  name: "membership",
  fields: { user_id: reference(user), project_id: reference(project) },
});
const room = defineResource({
  name: "room",
  fields: { project_id: reference(project), home: integer(), name: text() },
});

/** Starts a service in which Ada is a member of the first of two projects. No declaration has an index for it. */
async function start(t: TestContext, store: Store) {
  const memberships = table({ name: "memberships", fields: membership.fields });
  const members = anyOf(administrator, memberOf(membership, { on: "home" }));
  const own = await ownService(t, {
    store,
    mounts: [
      mount(user, { permission: administrator }),
      mount(project, { permission: anyOf(administrator, memberOf(membership)) }),
      mount(membership, { permission: administrator, table: memberships }),
      mount(room, { permission: members }),
    ],
  });
  const make = async (path: string, body: object) => {
    const { status, text: sent } = await own.ask("POST", path, { as: "root", body });
    assert.equal(status, 201, sent);
  };
  for (const name of ["root", "ada"]) await make("/users", { name });
  for (const name of ["first", "second"]) await make("/projects", { name });
  await make("/memberships", { user_id: 2, project_id: 1 });
  return { ...own, make };
}

test("narrows by the column that `on` names, although another column also refers to the group", async (t) => {
  const { make, ask, get } = await start(t, await emptyStore());

  await make("/rooms", { project_id: 2, home: 1, name: "seen" });
  await make("/rooms", { project_id: 1, home: 2, name: "hidden" });

  assert.deepEqual(
    (await get("/rooms", { as: "ada" })).json.map(({ name }: { name: string }) => name),
    ["seen"],
  );
  assert.equal((await get("/rooms/1", { as: "ada" })).status, 200);
  assert.equal((await get("/rooms/2", { as: "ada" })).status, 404);
  const patch = async (body: object) => (await ask("PATCH", "/rooms/1", { as: "ada", body })).status;
  assert.equal(await patch({ project_id: 1 }), 200);
  assert.equal(await patch({ home: 2 }), 403);
});

test("asks for no long read, because the service makes the indexes that find memberships", async (t) => {
  const store = await emptyStore();
  const asked: unknown[] = [];
  const listJSON: Store["listJSON"] = (query) => {
    asked.push([query.collection.name, query.long]);
    return store.listJSON(query);
  };
  const { get } = await start(t, { ...store, listJSON });

  for (const path of ["/projects", "/rooms"]) assert.equal((await get(path, { as: "ada" })).status, 200);

  assert.deepEqual(asked, [
    ["projects", false],
    ["rooms", false],
  ]);
});
