import assert from "node:assert/strict";
import { test } from "node:test";
import type { Action, Permission } from "../../src/door/auth.ts";
import {
  administrator,
  allOf,
  anyOf,
  anyone,
  authenticated,
  caller,
  defineResource,
  integer,
  mount,
  nobody,
  not,
  owner,
  readOnly,
  scope,
  self,
  text,
} from "../../src/door/index.ts";
import { ownService, people } from "../harness/own-service.ts";

const own = { column: "owner_id", operator: "eq", value: 2 } as const;
const shared = { column: "editor_id", operator: "eq", value: 2 } as const;
const books = scope("books:read");

test("returns the decision of each permission and of their combinations", () => {
  const rows: readonly (readonly [
    permission: Permission<string>,
    who: string | null,
    action: Action,
    decision: unknown,
    params?: Readonly<Record<string, number>>,
  ])[] = [
    [anyone, null, "delete", "allow"],
    [nobody, "root", "read", "deny"],
    [authenticated, null, "read", "deny"],
    [authenticated, "ada", "read", "allow"],
    [administrator, "ada", "read", "deny"],
    [administrator, "root", "read", "allow"],
    [administrator, null, "read", "deny"],
    [self(), "ada", "read", "allow", { id: 2 }],
    [self(), "ada", "read", "deny", { id: 3 }],
    [self(), "ada", "create", "deny"],
    [self(), "ada", "list", { only: { column: "id", operator: "eq", value: 2 } }],
    [self("user_id"), "ada", "call", "allow", { user_id: 2, id: 9 }],
    [self(), null, "list", "deny"],
    [owner("owner_id"), "ada", "read", { only: own }],
    [owner("owner_id"), null, "read", "deny"],
    [books, "reader", "read", "allow"],
    [scope("books:write"), "reader", "read", "deny"],
    [scope("books:write"), "ada", "read", "allow"],
    [books, null, "read", "deny"],
    [readOnly, null, "list", "allow"],
    [readOnly, null, "read", "allow"],
    [readOnly, "root", "update", "deny"],
    [readOnly, "root", "call", "deny"],
    [anyOf(nobody, anyone), null, "read", "allow"],
    [allOf(anyone, nobody), "root", "read", "deny"],
    [anyOf(owner("owner_id"), administrator), "root", "read", "allow"],
    [anyOf(owner("owner_id"), administrator), "ada", "read", { only: own }],
    [anyOf(owner("owner_id"), owner("editor_id")), "ada", "read", { only: { any: [own, shared] } }],
    [allOf(owner("owner_id"), owner("editor_id")), "ada", "read", { only: { all: [own, shared] } }],
    [allOf(owner("owner_id"), readOnly), "ada", "read", { only: own }],
    [allOf(owner("owner_id"), readOnly), "ada", "update", "deny"],
    [anyOf(readOnly, allOf(authenticated, not(administrator))), "root", "update", "deny"],
    [not(administrator), "ada", "read", "allow"],
    [not(administrator), null, "read", "allow"],
    [not(not(administrator)), "root", "read", "allow"],
  ];

  for (const [permission, who, action, decision, params = {}] of rows) {
    const identity = who === null ? null : people[who]!;
    assert.deepEqual(
      permission.decide({ identity, action, params, now: 0 }),
      decision,
      `${permission.name} for ${who} to ${action}`,
    );
  }
  assert.equal(
    anyOf(administrator, allOf(readOnly, not(books))).name,
    "any of (administrator, all of (read only, not scope books:read))",
  );
});

const notes = defineResource({
  name: "note",
  fields: { owner_id: integer({ default: ({ identity }) => identity?.id ?? 0 }), body: text() },
  filters: { owner_id: ["eq"] },
});

test("hides the rows of other users in every action if the permission narrows", async (t) => {
  const { ask } = await ownService(t, {
    mounts: [mount(notes, { permission: anyOf(administrator, owner("owner_id")) })],
  });
  for (const as of ["ada", "ben"]) assert.equal((await ask("POST", "/notes", { as, body: { body: as } })).status, 201);
  const statuses: readonly (readonly [
    method: string,
    path: string,
    as: string | undefined,
    body: object | undefined,
    status: number,
  ])[] = [
    ["GET", "/notes/1", "ada", undefined, 200],
    ["GET", "/notes/1", "ben", undefined, 404],
    ["GET", "/notes/1", "root", undefined, 200],
    ["GET", "/notes/1", undefined, undefined, 401],
    ["GET", "/notes/99", undefined, undefined, 401],
    ["HEAD", "/notes/1", "ben", undefined, 404],
    ["PUT", "/notes/1", "ben", { body: "x" }, 404],
    ["PUT", "/notes/77", "ben", { body: "x" }, 404],
    ["PATCH", "/notes/1", "ben", { body: "x" }, 404],
    ["DELETE", "/notes/1", "ben", undefined, 404],
    ["POST", "/notes", "ben", { body: "x", owner_id: 2 }, 403],
    ["PATCH", "/notes/2", "ben", { owner_id: 2 }, 403],
    ["PUT", "/notes/2", "ben", { body: "x", owner_id: 2 }, 403],
    ["PATCH", "/notes/2", "root", { owner_id: 2 }, 200],
    ["GET", "/notes/2", "ben", undefined, 404],
    ["PUT", "/notes/77", "root", { body: "x" }, 201],
    ["DELETE", "/notes/1", "ada", undefined, 204],
  ];

  for (const [method, path, as, body, status] of statuses) {
    const answered = await ask(method, path, {
      ...(as === undefined ? {} : { as }),
      ...(body === undefined ? {} : { body }),
    });
    assert.equal(answered.status, status, `${method} ${path} as ${as}: ${answered.text}`);
  }
  assert.equal((await ask("GET", "/notes?owner_id=3", { as: "ada" })).text, "[]");
  assert.deepEqual(
    (await ask("GET", "/notes", { as: "ada" })).json.map(({ id }: { id: number }) => id),
    [2],
  );
});

test("uses a separate permission for each action, and answers 405 to an action without a permission", async (t) => {
  const permission = { list: anyone, read: authenticated, create: scope("notes:write"), delete: administrator };
  const { ask } = await ownService(t, { mounts: [mount(notes, { permission })] });
  const rows: readonly (readonly [method: string, path: string, as: string | undefined, status: number])[] = [
    ["GET", "/notes", undefined, 200],
    ["POST", "/notes", "ada", 201],
    ["POST", "/notes", "reader", 403],
    ["POST", "/notes", undefined, 401],
    ["GET", "/notes/1", undefined, 401],
    ["GET", "/notes/1", "reader", 200],
    ["PUT", "/notes/1", "root", 405],
    ["PATCH", "/notes/1", "root", 405],
    ["DELETE", "/notes/1", "ada", 403],
    ["DELETE", "/notes/2", "ada", 403],
    ["DELETE", "/notes/1", "root", 204],
  ];

  for (const [method, path, as, status] of rows) {
    const answered = await ask(method, path, {
      ...(as === undefined ? {} : { as }),
      ...(method === "POST" || method === "PUT" || method === "PATCH" ? { body: { body: "a" } } : {}),
    });
    assert.equal(answered.status, status, `${method} ${path} as ${as}: ${answered.text}`);
    if (status === 405) assert.equal(answered.headers.get("allow"), "GET, HEAD, DELETE, OPTIONS");
    if (status === 401) assert.equal(answered.headers.get("www-authenticate"), "Visitor");
  }
});

test("stores the caller's id as the default of a field that `owner` checks, and answers 401 to an unknown caller", async (t) => {
  const notes = defineResource({ name: "note", fields: { user_id: integer({ default: caller }), title: text() } });
  const open = defineResource({ name: "leaf", plural: "leaves", fields: { user_id: integer({ default: caller }) } });
  const { ask } = await ownService(t, {
    mounts: [mount(notes, { permission: anyOf(administrator, owner("user_id")) }), mount(open, { permission: anyone })],
  });
  const create = (as: string, body: object): ReturnType<typeof ask> => ask("POST", "/notes", { as, body });

  assert.equal((await create("ada", { title: "a" })).json.user_id, 2);
  assert.equal((await create("ada", { title: "a", user_id: 3 })).status, 403);
  assert.equal((await create("root", { title: "a", user_id: 3 })).json.user_id, 3);
  assert.equal((await ask("PUT", "/notes/1", { as: "ada", body: { title: "b" } })).json.user_id, 2);
  assert.equal((await ask("PATCH", "/notes/1", { as: "ada", body: { user_id: 3 } })).status, 403);
  assert.equal((await ask("POST", "/leaves", { body: {} })).status, 401);
  assert.equal((await ask("POST", "/leaves", { body: { user_id: 9 } })).json.user_id, 9);
});
