// Writes whose record another request changes first: a change that the caller cannot see is no conflict.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { administrator, authenticated, defineResource, integer, mount, reference, text } from "../../src/door/index.ts";
import { ownService, type Own } from "../harness/own-service.ts";

const title = text({ maxLength: 40 });

interface Overtaken extends Own {
  /** Does this once, after the next write or action has read its record and before it writes. */
  meanwhile(work: () => Promise<unknown>): void;
  /** How often the action was called. */
  readonly called: { count: number };
}

async function startOvertaken(t: TestContext): Promise<Overtaken> {
  let next: (() => Promise<unknown>) | null = null;
  const called = { count: 0 };
  const overtake = async (): Promise<void> => {
    const work = next;
    next = null;
    await work?.();
  };
  const team = defineResource({ name: "team", fields: { name: title } });
  const task = defineResource({
    name: "task",
    fields: {
      title,
      cost: integer({ optional: true, read: administrator }),
      team_id: reference(team, { optional: true }),
    },
  });
  const own = await ownService(t, {
    mounts: [
      mount(team, { permission: authenticated }),
      mount(task, {
        permission: authenticated,
        arrays: true,
        async beforeWrite() {
          await overtake();
          return {};
        },
        actions: {
          assign: {
            permission: authenticated,
            body: { team_id: integer({ optional: true }) },
            async handle({ draft }) {
              called.count++;
              await overtake();
              return { values: { team_id: draft.team_id ?? null } };
            },
          },
        },
      }),
    ],
  });
  return { ...own, called, meanwhile: (work) => void (next = work) };
}

type Write = readonly [method: string, path: string, body: unknown];

/** Each way to write one task. */
const writes = (id: number, tag: string | null): readonly Write[] => [
  ["PATCH", `/tasks/${id}`, { title: "mine" }],
  ["PUT", `/tasks/${id}`, { title: "mine" }],
  ["PATCH", "/tasks", [{ id, title: "mine", ...(tag === null ? {} : { if_match: tag }) }]],
  ["POST", `/tasks/${id}/assign`, {}],
  ["DELETE", `/tasks/${id}`, undefined],
];

test("tries a write again if another request changes its record, unless the caller named a state that it has left", async (t) => {
  const { ask, get, meanwhile } = await startOvertaken(t);
  const cases = [
    // The caller, the change of the other request, and the status with and without the tag of the caller.
    ["ada", { cost: 2 }, "2xx", "2xx"],
    ["ada", { title: "theirs" }, 412, "2xx"],
    ["root", { cost: 2 }, 412, "2xx"],
    ["root", { title: "theirs" }, 412, "2xx"],
  ] as const;
  for (const [as, change, ...expected] of cases)
    for (const [at, isConditional] of [true, false].entries())
      for (let way = 0; way < writes(1, null).length; way++) {
        const { json, status } = await ask("POST", "/tasks", { as: "root", body: { title: "new", cost: 1 } });
        assert.equal(status, 201);
        const tag = isConditional ? (await get(`/tasks/${json.id}`, { as })).headers.get("etag") : null;
        const [method, path, body] = writes(json.id, tag)[way]!;
        const headers = tag === null || path === "/tasks" ? {} : { "if-match": tag };
        meanwhile(() => ask("PATCH", `/tasks/${json.id}`, { as: "root", body: change }));
        const answer = await ask(method, path, { as, headers, ...(body === undefined ? {} : { body }) });
        const found = answer.status < 300 ? "2xx" : answer.status;
        assert.equal(found, expected[at], `${method} ${path} of ${as}, ${JSON.stringify([change, headers])}`);
      }
});

test("tries a write that the database refuses only once", async (t) => {
  const { ask, called } = await startOvertaken(t);
  assert.equal((await ask("POST", "/tasks", { as: "root", body: { title: "new" } })).status, 201);
  for (const as of ["ada", "root"]) {
    called.count = 0;
    const { status, json } = await ask("POST", "/tasks/1/assign", { as, body: { team_id: 9 } });
    assert.deepEqual([status, json.errors?.[0].pointer, called.count], [400, "/team_id", 1], as);
    const array = await ask("PATCH", "/tasks", { as, body: [{ id: 1, team_id: 9 }] });
    assert.deepEqual([array.status, array.json.errors?.[0].pointer], [400, "/0/team_id"], as);
  }
});
