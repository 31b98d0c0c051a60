import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import {
  anyone,
  createService,
  dateTime,
  defineResource,
  enumeration,
  integer,
  mount,
  text,
} from "../../src/door/index.ts";
import { array, date, olderShape, url, uuid, type Field, type Mount } from "../../src/door/resources.ts";
import { emptyStore } from "../harness/test-store.ts";

// A function of the application may make the value of a field. The service checks this value, because callers rely on
// the declaration.

const made = (value: unknown) => () => value as never;
const rows: Readonly<Record<string, readonly [field: Field, told: RegExp]>> = {
  "an undeclared word": [enumeration(["open"], { default: made("nope") }), /One of open is required/],
  "a text that is too long": [text({ maxLength: 3, default: made("abcd") }), /At most 3 characters/],
  "a number that is too small": [integer({ minimum: 3, default: made(1) }), /must be 3 or more/],
  NaN: [integer({ default: made(Number.NaN) }), /does not take/],
  "a bigint": [integer({ default: made(1n) }), /does not take/],
  undefined: [
    text({ default: made(undefined) }),
    /the function for the field made gave nothing; it has to give a value/,
  ],
  null: [text({ default: made(null) }), /the function for the field made gave nothing; it has to give a value/],
  "a Date": [dateTime({ default: made(new Date()) }), /date-time is required/],
  "a text that is not a time": [dateTime({ default: made("yesterday") }), /date-time is required/],
  "a day that does not exist": [date({ default: made("2026-02-31") }), /A date is required/],
  "a Map": [array(text(), { default: made(new Map()) }), /does not take/],
  "a list with wrong members": [array(text(), { default: made([1]) }), /does not take/],
  "a text that is not a UUID": [uuid({ default: made("x") }), /does not take/],
  "a text that is not a URL": [url({ default: made("x") }), /does not take/],
  "a generated text that is too long": [text({ maxLength: 2, readOnly: true, generated: made("abc") }), /At most 2/],
  "undefined in `generated`": [text({ readOnly: true, generated: made(undefined) }), /gave nothing/],
};

async function observeFaults(t: TestContext, mounted: Mount, ...more: readonly Mount[]) {
  const faults: string[] = [];
  const service = await createService({
    store: await emptyStore(),
    mounts: [mounted, ...more],
    observe: (each) => void (each.kind === "fault" && faults.push(String(each.error))),
  });
  t.after(() => service.close());
  const ask = (method: string, path: string, body: object) =>
    service.fetch(
      new Request(`http://a${path}`, {
        method,
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      }),
      { peer: null },
    );
  return { faults, ask, store: service.store, count: () => service.store.count(mounted.collection, null) };
}

for (const [what, [field, pattern]] of Object.entries(rows))
  test(`reports a fault that names the field if a function makes ${what}, and stores nothing`, async (t) => {
    const thing = defineResource({ name: "thing", fields: { title: text(), made: field } });
    const { faults, ask, count } = await observeFaults(t, mount(thing, { permission: anyone }));

    assert.equal((await ask("POST", "/things", { title: "a" })).status, 500);

    assert.match(faults[0]!, /^TypeError: \/things: the function for the field made gave /);
    assert.match(faults[0]!, pattern);
    assert.equal(await count(), 0);
  });

test("requires a valid value from a hook for a readable field, but accepts an invalid value for a write-only field", async (t) => {
  const thing = defineResource({
    name: "thing",
    fields: {
      status: enumeration(["open", "closed"], { default: "open" }),
      digest: text({ writeOnly: true, maxLength: 3, optional: true }),
    },
  });
  const mounted = mount(thing, {
    permission: anyone,
    beforeWrite: ({ kind }) => ({
      values: kind === "create" ? { digest: "longer than what is sent" } : { status: "clsed" as "closed" },
    }),
  });
  const { faults, ask, count } = await observeFaults(t, mounted);

  assert.equal((await ask("POST", "/things", {})).status, 201);
  assert.equal((await ask("PATCH", "/things/1", { digest: "a" })).status, 500);

  assert.match(
    faults[0]!,
    /^TypeError: mount\(\/things\): beforeWrite gave a wrong status: One of open, closed is required\./,
  );
  assert.equal(await count(), 1);
});

test("accepts undefined from a function for an optional field, and parses other results like sent values", async (t) => {
  const thing = defineResource({
    name: "thing",
    fields: { none: text({ optional: true, default: made(undefined) }), trimmed: text({ default: () => " a " }) },
  });
  const { ask } = await observeFaults(t, mount(thing, { permission: anyone }));

  const answer = await ask("POST", "/things", {});

  assert.deepEqual([answer.status, await answer.json()], [201, { id: 1, none: null, trimmed: "a" }]);
});

test("stores the result of a function for a field that is never shown as it is", async (t) => {
  const digest = text({ writeOnly: true, maxLength: 3, default: () => " longer than what is sent " });
  const mounted = mount(defineResource({ name: "thing", fields: { digest } }), { permission: anyone });
  const { ask, store } = await observeFaults(t, mounted);

  assert.equal((await ask("POST", "/things", {})).status, 201);

  assert.equal((await store.find(mounted.collection, 1))!.record["digest" as never], " longer than what is sent ");
});

test("checks the values of a hook against the fields of the newer shape, even if the older shape uses the same names", async (t) => {
  const state = enumeration(["open", "lost"], { default: "open", readOnly: true });
  const parcels = mount(defineResource({ name: "parcel", fields: { title: text(), state } }), {
    permission: anyone,
    arrays: true,
    beforeWrite: () => ({ values: { state: "lost" } }),
  });
  const older = olderShape(parcels, {
    prefix: "/v1",
    fields: { title: "title", state: { from: "state", as: integer(), show: (now) => now.length } },
  });
  const { ask } = await observeFaults(t, parcels, older);
  const shown = async (method: string, path: string, body: object) => (await ask(method, path, body)).json();

  assert.deepEqual(await shown("POST", "/v1/parcels", { title: "a" }), { id: 1, title: "a", state: 4 });
  assert.deepEqual(await shown("POST", "/v1/parcels", [{ title: "b" }]), [{ id: 2, title: "b", state: 4 }]);
  assert.deepEqual(await shown("PATCH", "/v1/parcels/1", { title: "c" }), { id: 1, title: "c", state: 4 });
  assert.deepEqual(await shown("PATCH", "/parcels/1", { title: "d" }), { id: 1, title: "d", state: "lost" });
});
