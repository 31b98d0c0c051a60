// Refusals of the database about fields that the caller may not know: a hook or a default has set their values.
import assert from "node:assert/strict";
import { test } from "node:test";
import { hasRole } from "../../src/door/auth.ts";
import {
  administrator,
  anyone,
  anyOf,
  defineFeature,
  defineResource,
  integer,
  mount,
  text,
} from "../../src/door/index.ts";
import { olderShape } from "../../src/door/resources.ts";
import type { Store } from "../../src/door/stores.ts";
import type { RecordWrite } from "../../src/http/request/alongside.ts";
import type { Outcome } from "../../src/store/store.ts";
import { ownService } from "../harness/own-service.ts";
import { emptyStore } from "../harness/test-store.ts";

const trusted = anyOf(administrator, hasRole("finance"));
const rules = { read: trusted, write: trusted };
const task = defineResource({
  name: "task",
  fields: {
    title: text({ maxLength: 40 }),
    limit: integer({ default: 10, ...rules }),
    code: integer({ optional: true, ...rules }),
  },
});

const of = { change: 0 } as const;
/** An outcome, and the answer for a caller who may not know `limit` and `code`, and for one who may. */
const rows: readonly (readonly [outcome: object, hidden: string, known: string])[] = [
  [{ kind: "dangling", column: "limit", ...of }, "409 conflict", "400 /limit invalid"],
  [{ kind: "dangling", column: "title", ...of }, "400 /title invalid", "400 /title invalid"],
  [{ kind: "dangling", column: "code/1", ...of }, "409 conflict", "400 /code/1 invalid"],
  [{ kind: "unfit", column: "limit", ...of }, "409 conflict", "400 /limit invalid"],
  [{ kind: "unfit", column: "title", ...of }, "400 /title invalid", "400 /title invalid"],
  [{ kind: "unfit", column: null, ...of }, "400  invalid", "400  invalid"],
  [{ kind: "taken", column: "limit", ...of }, "409 conflict", "409 /limit taken"],
  [{ kind: "taken", column: "title", ...of }, "409 /title taken", "409 /title taken"],
  [{ kind: "taken", column: null, columns: ["title", "code"], ...of }, "409 conflict", "409 /title taken /code taken"],
];

test("names no field that the caller may not know, if the database refuses its value", async (t) => {
  const inner = await emptyStore();
  let refused: object | null = null;
  const store: Store = {
    ...inner,
    write: (transaction) => (refused === null ? inner.write(transaction) : Promise.resolve(refused as Outcome)),
  };
  const tasks = mount(task, { permission: anyone });
  const older = olderShape(tasks, { prefix: "/v1", fields: { name: "title", most: "limit", number: "code" } });
  const { ask } = await ownService(t, { store, mounts: [tasks, older] });
  for (const [outcome, hidden, known] of rows)
    for (const [as, expected] of [
      ["ada", hidden],
      ["root", known],
    ] as const)
      for (const [path, name] of [
        ["/tasks", "title"],
        ["/v1/tasks", "name"],
      ] as const) {
        refused = outcome;
        const { status, json } = await ask("POST", path, { as, body: { [name]: "x" } });
        const issues = (json.errors ?? [{ pointer: null, code: json.code }]).map(
          ({ pointer, code }: { pointer: string | null; code: string }) =>
            pointer === null ? code : `${pointer} ${code}`,
        );
        assert.equal(
          [status, ...issues].join(" "),
          path === "/tasks"
            ? expected
            : expected.replaceAll("/title", "/name").replaceAll("/limit", "/most").replaceAll("/code", "/number"),
          `${path} of ${as} ${JSON.stringify(outcome)}`,
        );
      }
});

test("takes values of hooks for hidden fields, by the newest names", async (t) => {
  const tasks = mount(task, { permission: anyone, beforeWrite: () => ({ values: { limit: 4 } }) });
  const older = olderShape(tasks, { prefix: "/v1", fields: { name: "title" } });
  const { ask, get } = await ownService(t, { mounts: [tasks, older] });
  assert.equal((await ask("POST", "/v1/tasks", { as: "ada", body: { name: "x" } })).status, 201);
  assert.equal((await ask("PATCH", "/v1/tasks/1", { as: "ada", body: { name: "y" } })).status, 200);
  assert.deepEqual((await get("/tasks/1", { as: "root" })).json, { id: 1, title: "y", limit: 4, code: null });
});

test("gives features the whole resource of a write, by its newest name", async (t) => {
  const writes: RecordWrite[] = [];
  const trail = defineFeature({
    name: "trail",
    setUp: () => ({ offer: null, alongside: (write) => (writes.push(write), []) }),
  });
  const tasks = mount(task, { permission: anyone });
  const older = olderShape(tasks, { prefix: "/v1", fields: { name: "title" } });
  const { ask } = await ownService(t, { mounts: [tasks, older], features: [trail] });
  assert.equal((await ask("POST", "/tasks", { as: "root", body: { title: "x" } })).status, 201);
  for (const [method, path, body] of [
    ["PATCH", "/tasks/1", { title: "y" }],
    ["PATCH", "/v1/tasks/1", { name: "z" }],
    ["DELETE", "/v1/tasks/1", undefined],
  ] as const) {
    writes.length = 0;
    const { status } = await ask(method, path, { as: "ada", ...(body === undefined ? {} : { body }) });
    assert.ok(status < 300, `${method} ${path}`);
    assert.deepEqual(
      writes.map(({ resource, id }) => [resource.path, Object.keys(resource.fields), id]),
      [["/tasks", ["title", "limit", "code"], 1]],
      `${method} ${path}`,
    );
  }
});
