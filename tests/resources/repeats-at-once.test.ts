import assert from "node:assert/strict";
import { test } from "node:test";
import { anyone, defineResource, mount, problem, text, type Context } from "../../src/door/index.ts";
import { ownService, type OwnAnswer } from "../harness/own-service.ts";

const marks = mount(defineResource({ name: "mark", fields: { line: text() } }), { permission: anyone });
const seats = defineResource({ name: "seat", fields: { taken_by: text() } });

/**
 * Returns a hook that refuses every write after the first one. Two calls of the hook run concurrently: the second call
 * continues after the first request was answered.
 */
function onlyOnce() {
  let calls = 0;
  const both = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  return {
    answered: () => answered.resolve(),
    async reserve({ store }: Context) {
      calls++;
      if (calls === 2) both.resolve();
      await (calls === 1 ? both.promise : answered.promise);
      if ((await store.count(marks.collection, null)) > 0) throw problem("conflict", { detail: "It is taken." });
      return { changes: [{ kind: "insert", collection: marks.collection, values: { line: "taken" } }] as const };
    },
  };
}

const writes = {
  "POST of a record": ["POST", "/seats", { taken_by: "Ada" }],
  "POST of an array": ["POST", "/seats", [{ taken_by: "Ada" }]],
  "PATCH of a record": ["PATCH", "/seats/1", { taken_by: "Ada" }],
  "PATCH of an array": ["PATCH", "/seats", [{ id: 1, taken_by: "Ada" }]],
  "POST of an action": ["POST", "/seats/1/reserve", {}],
} as const;

for (const [what, [method, path, body]] of Object.entries(writes))
  test(`sends the same response to a ${what} and to its concurrent repeat, although the hook refuses a second write`, async (t) => {
    const once = onlyOnce();
    let isPrepared = false;
    const mounted = mount(seats, {
      permission: anyone,
      arrays: true,
      beforeWrite: ({ context, kind }) => (isPrepared && kind !== "delete" ? once.reserve(context) : {}),
      actions: { reserve: { permission: anyone, body: {}, handle: ({ context }) => once.reserve(context) } },
    });
    const { ask, get } = await ownService(t, { mounts: [marks, mounted] });
    assert.equal((await ask("POST", "/seats", { body: { taken_by: "nobody" } })).status, 201);
    isPrepared = true;
    const send = (): Promise<OwnAnswer> =>
      ask(method, path, { as: "ada", body, headers: { "idempotency-key": "one-and-only" } });

    const first = [send(), send()];
    const one = await Promise.race(first);
    once.answered();
    const [a, b] = await Promise.all(first);

    assert.ok(one.status === 200 || one.status === 201, one.text);
    assert.deepEqual([a!.status, a!.text], [b!.status, b!.text]);
    const replayed = [a, b].map((each) => each!.headers.get("idempotency-replayed"));
    assert.deepEqual(new Set(replayed), new Set(["true", null]));
    assert.equal((await get("/marks")).json.length, 1);
  });
