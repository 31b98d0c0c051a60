// Rows that a caller may not change: 403 for a row that the caller may read, 404 for any other one. By every method,
// for permissions that allow, deny or narrow.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Permission } from "../../src/door/auth.ts";
import {
  administrator,
  anyone,
  anyOf,
  authenticated,
  boolean,
  defineResource,
  integer,
  mount,
  owner,
  text,
} from "../../src/door/index.ts";
import type { Store } from "../../src/door/stores.ts";
import { ownService } from "../harness/own-service.ts";
import { emptyStore } from "../harness/test-store.ts";

const title = text({ maxLength: 40 });

/** Allows every caller the rows that are open. */
const open: Permission<"is_open"> = {
  name: "open",
  narrows: ["list", "read", "replace", "update", "delete", "call"],
  columns: ["is_open"],
  decide: () => ({ only: { column: "is_open", operator: "eq", value: true } }),
};
const mine = anyOf(owner("owner_id"), administrator);

test("answers by the permission for reading, or else for listing", async (t) => {
  const fields = { title, owner_id: integer(), is_open: boolean({ default: false }) };
  const named = (name: string) => defineResource({ name, fields });
  const change = { create: administrator, replace: mine, update: mine, delete: mine };
  const places = [
    // The two rows are of ben; the second one is open.
    ["/alls", mount(named("all"), { permission: { read: anyone, ...change }, arrays: true }), 403, 403],
    ["/listeds", mount(named("listed"), { permission: { list: anyone, ...change }, arrays: true }), 403, 403],
    ["/opens", mount(named("open"), { permission: { read: anyOf(open, mine), ...change }, arrays: true }), 404, 403],
    [
      "/mixeds",
      mount(named("mixed"), { permission: { list: anyone, read: administrator, ...change }, arrays: true }),
      404,
      404,
    ],
    ["/unreads", mount(named("unread"), { permission: change, arrays: true }), 404, 404],
  ] as const;
  const { ask } = await ownService(t, { mounts: places.map(([, each]) => each) });
  for (const [path, , ...statuses] of places) {
    for (const is_open of [false, true]) {
      const made = await ask("POST", path, { as: "root", body: { title: "x", owner_id: 3, is_open } });
      assert.equal(made.status < 300, true, made.text);
    }
    for (const [at, status] of statuses.entries()) {
      const id = at + 1;
      for (const [method, to, body] of [
        ["PUT", `${path}/${id}`, { title: "y", owner_id: 3 }],
        ["PATCH", `${path}/${id}`, { title: "y" }],
        ["PATCH", path, [{ id, title: "y" }]],
        ["DELETE", `${path}/${id}`, undefined],
      ] as const)
        assert.equal((await ask(method, to, { as: "ada", body })).status, status, `${method} ${to}`);
    }
    assert.equal((await ask("PATCH", `${path}/9`, { as: "ada", body: { title: "y" } })).status, 404, path);
    assert.equal((await ask("PATCH", path, { as: "ada", body: [{ id: 9, title: "y" }] })).status, 404, path);
    assert.ok((await ask("PATCH", `${path}/2`, { as: "ben", body: { title: "z" } })).status < 300, path);
  }
});

test("answers 401 to a caller without a credential who may read the row", async (t) => {
  const door = defineResource({ name: "door", fields: { title, is_open: boolean({ default: false }) } });
  const permission = { list: anyone, read: anyone, create: administrator, update: open, delete: open };
  const { ask } = await ownService(t, { mounts: [mount(door, { permission, arrays: true })] });
  for (const is_open of [false, true]) await ask("POST", "/doors", { as: "root", body: { title: "x", is_open } });
  const patch = (id: number, as?: string) =>
    ask("PATCH", `/doors/${id}`, { body: { title: "y" }, ...(as === undefined ? {} : { as }) });
  assert.deepEqual([(await patch(1)).status, (await patch(1, "ada")).status], [401, 403]);
  assert.deepEqual([(await patch(2)).status, (await patch(2, "ada")).status], [200, 200]);
  assert.equal((await ask("DELETE", "/doors/1")).status, 401);
});

test("answers 404 for every row within a parent that the caller may not read", async (t) => {
  const diary = defineResource({ name: "diary", plural: "diaries", fields: { title, owner_id: integer() } });
  const page = defineResource({ name: "page", within: diary, fields: { title, is_open: boolean({ default: false }) } });
  const permission = { list: anyone, read: anyone, create: authenticated, replace: open, update: open, delete: open };
  const mounts = [mount(diary, { permission: mine }), mount(page, { permission, arrays: true })];
  const { ask } = await ownService(t, { mounts });
  const [to, one] = ["/diaries/1/pages", "/diaries/1/pages/1"];
  assert.equal((await ask("POST", "/diaries", { as: "ben", body: { title: "x", owner_id: 3 } })).status, 201);
  assert.equal((await ask("POST", to, { as: "ben", body: { title: "x" } })).status, 201);
  for (const [method, path, body] of [
    ["PUT", one, { title: "y" }],
    ["PATCH", one, { title: "y" }],
    ["PATCH", to, [{ id: 1, title: "y" }]],
    ["DELETE", one, undefined],
  ] as const) {
    assert.equal((await ask(method, path, { as: "ada", body })).status, 404, `${method} ${path} of another`);
    assert.equal((await ask(method, path, { as: "ben", body })).status, 403, `${method} ${path} of one's own`);
  }
});

test("judges the rows of an array by their ids, and the records that a change results in", async (t) => {
  const notFirst: Permission = {
    name: "not the first",
    decide: ({ params }) => (params["id"] === 1 ? "deny" : "allow"),
  };
  const named = (name: string) => defineResource({ name, fields: { title, owner_id: integer() } });
  const open = { list: anyone, read: anyone, create: authenticated };
  const mounts = [
    mount(named("book"), { permission: { ...open, update: notFirst }, arrays: true }),
    mount(named("note"), { permission: { ...open, update: mine }, arrays: true }),
  ];
  const { ask, get } = await ownService(t, { mounts });
  for (const path of ["/books", "/books", "/notes", "/notes"])
    assert.equal((await ask("POST", path, { as: "ada", body: { title: "x", owner_id: 2 } })).status, 201);
  for (const [path, body, status] of [
    ["/books", [{ id: 1, title: "y" }], 403],
    ["/books", [{ id: 9, title: "y" }], 404],
    ["/books", [{ id: 2, title: "y" }], 200],
    ["/notes", [{ id: 1, owner_id: 3 }], 403],
    ["/notes", [{ id: 1, title: "y", if_match: '"x"' }], 412],
    ["/notes", [{ id: 1, title: "y" }], 200],
  ] as const)
    assert.equal((await ask("PATCH", path, { as: "ada", body })).status, status, JSON.stringify([path, body]));
  assert.equal((await get("/notes/1", { as: "ada" })).json.owner_id, 2);
});

test("answers 404 for a row that another request makes, or gives to the caller, while its refusal is decided", async (t) => {
  const inner = await emptyStore();
  let isMissed = false;
  const store: Store = {
    ...inner,
    find(collection, key) {
      if (!isMissed) return inner.find(collection, key);
      isMissed = false;
      return null;
    },
  };
  const book = defineResource({ name: "book", fields: { title, owner_id: integer() } });
  const permission = { list: anyone, read: anyone, create: authenticated, update: mine };
  const { ask } = await ownService(t, { store, mounts: [mount(book, { permission })] });
  assert.equal((await ask("POST", "/books", { as: "ada", body: { title: "x", owner_id: 2 } })).status, 201);
  for (const as of ["root", "ada"]) {
    const change = () => ask("PATCH", "/books/1", { as, body: { title: "y" } });
    isMissed = true;
    assert.equal((await change()).status, 404, as);
    assert.equal((await change()).status, 200, as);
  }
});

const blind = (where: object, more: object = {}): Permission =>
  ({
    name: "by the secret",
    narrows: ["read"],
    ...more,
    decide: ({ identity }) => (identity?.role === "admin" ? "allow" : { only: where }),
  }) as Permission;

/** The notes that ben sees within the projects `x` and `y`, whose names are secret, at their paths and by `expand`. */
async function notesOf(t: TestContext, read: Permission) {
  const secret = text({ optional: true, read: administrator, write: administrator });
  const projects = defineResource({ name: "project", fields: { title, secret } });
  const notes = mount(defineResource({ name: "note", within: projects, fields: { line: title } }), {
    permission: anyone,
  });
  const permission = { list: anyone, read, create: administrator };
  const { ask, get } = await ownService(t, { mounts: [mount(projects, { permission, expand: { notes } }), notes] });
  for (const [at, name] of ["x", "y"].entries()) {
    await ask("POST", "/projects", { as: "root", body: { title: "A", secret: name } });
    await ask("POST", `/projects/${at + 1}/notes`, { as: "root", body: { line: name } });
  }
  const lines = (found: readonly { readonly line: string }[] = []): string => found.map(({ line }) => line).join();
  const own = [await get("/projects/1/notes", { as: "ben" }), await get("/projects/2/notes", { as: "ben" })];
  const list = await get("/projects?expand=notes", { as: "ben" });
  return {
    own: own.map(({ status, json }) => (status === 200 ? lines(json) : "")),
    expanded: list.status === 200 ? list.json.map((each: { readonly notes: [] }) => lines(each.notes)) : list.status,
  };
}

test("expands the same records as at their own paths if a permission narrows by a hidden column that it does not declare", async (t) => {
  const isX = { column: "secret", operator: "eq", value: "x" };
  for (const [where, shown] of [
    [{ not: isX }, ["", "y"]],
    [isX, ["x", ""]],
  ] as const)
    for (const permission of [
      blind(where),
      blind(where, { columns: ["secret"] }),
      anyOf(blind(where), administrator),
    ]) {
      const { own, expanded } = await notesOf(t, permission);
      assert.deepEqual([own, expanded], [shown, shown]);
    }
});

test("shows nothing if only a part of a permission declares its columns", async (t) => {
  const where = { not: { column: "secret", operator: "eq", value: "x" } };
  const none = blind({ column: "title", operator: "eq", value: "none" }, { columns: ["title"] });

  const { own, expanded } = await notesOf(t, anyOf(blind(where), none));

  assert.deepEqual([own, expanded], [["", "y"], 500]);
});
