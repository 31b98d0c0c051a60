import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { anyone, defineResource, integer, mount } from "../../src/door/index.ts";
import { ownService, type OwnAnswer } from "../harness/own-service.ts";

// `If-Match: *` is true as long as the record exists (RFC 9110 §13.1.1), also if another write comes between read and
// write.

const counters = defineResource({ name: "counter", fields: { count: integer(), size: integer({ default: 0 }) } });

/** Serves two counters. During the next `overtaken` writes, another process changes or deletes the record first. */
async function counting(t: TestContext, between: "update" | "delete", overtaken = 2) {
  let left = 0;
  const mounted = mount(counters, {
    permission: anyone,
    arrays: true,
    actions: {
      double: {
        on: "record",
        permission: anyone,
        async handle({ record }) {
          await overtake(record.id);
          return { values: { count: record.count * 2 } };
        },
      },
    },
    beforeWrite: async ({ kind, id }) => {
      if (kind !== "create") await overtake(Number(id));
      return {};
    },
  });
  const { ask, service } = await ownService(t, { mounts: [mounted] });
  async function overtake(key: number): Promise<void> {
    if (left === 0) return;
    left--;
    const row = { collection: mounted.collection, key };
    const change =
      between === "update" ? { kind: between, ...row, values: { size: left + 7 } } : { kind: between, ...row };
    assert.equal((await service.store.write({ changes: [change] })).kind, "written");
  }
  for (const count of [1, 2]) assert.equal((await ask("POST", "/counters", { body: { count } })).status, 201);
  left = overtaken;
  return {
    ask: (method: string, path: string, ifMatch: string | null, body?: unknown): Promise<OwnAnswer> =>
      ask(method, path, { body, headers: ifMatch === null ? {} : { "if-match": ifMatch } }),
  };
}

const writes = [
  ["PATCH", "/counters/1", { count: 5 }, 200],
  ["PUT", "/counters/1", { count: 5 }, 200],
  ["DELETE", "/counters/1", undefined, 204],
  ["POST", "/counters/1/double", undefined, 200],
  [
    "PATCH",
    "/counters",
    [
      { id: 2, count: 5, if_match: "*" },
      { id: 1, count: 6, if_match: " * " },
    ],
    200,
  ],
  ["PATCH", "/counters", [{ id: 1, count: 5 }], 200],
] as const;

test("makes a write with If-Match: * that another write overtakes, like a write without If-Match", async (t) => {
  for (const [method, path, body, status] of writes)
    for (const ifMatch of [null, "*", " *"]) {
      const { ask } = await counting(t, "update");

      const answer = await ask(method, path, ifMatch, body);

      assert.equal(answer.status, status, `${method} ${path} ${ifMatch}: ${answer.text}`);
      if (path === "/counters/1" && method === "PATCH")
        assert.deepEqual((await ask("GET", "/counters/1", null)).json, { id: 1, count: 5, size: 7 });
    }
});

test("answers 412 to an overtaken write that names a state of the record", async (t) => {
  for (const [method, path, body] of writes.slice(0, 4)) {
    const { ask } = await counting(t, "update", 1);
    const tag = (await ask("GET", "/counters/1", null)).headers.get("etag")!;

    assert.equal((await ask(method, path, `"x", ${tag}`, body)).status, 412, `${method} ${path}`);
  }
  const { ask } = await counting(t, "update", 1);
  const tag = (await ask("GET", "/counters/1", null)).headers.get("etag")!;
  const array = [
    { id: 1, count: 5, if_match: tag },
    { id: 2, count: 5, if_match: "*" },
  ];

  const answer = await ask("PATCH", "/counters", null, array);

  assert.deepEqual([answer.status, answer.json.errors[0].pointer], [412, "/0/if_match"]);
});

test("makes no write with If-Match: * if the record is deleted first", async (t) => {
  for (const [method, path, body] of writes) {
    const { ask } = await counting(t, "delete", 1);

    const answer = await ask(method, path, "*", body);

    assert.equal(answer.status, method === "PUT" ? 412 : 404, `${method} ${path}: ${answer.text}`);
    assert.equal((await ask("GET", "/counters", null)).json.length, 1);
  }
});
