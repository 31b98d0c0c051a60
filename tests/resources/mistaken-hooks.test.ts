import assert from "node:assert/strict";
import { after, test } from "node:test";
import { anyone, createService, defineEndpoint, defineResource, mount, Secret, text } from "../../src/door/index.ts";
import type { Observer } from "../../src/door/ops.ts";
import { postgresStore, sqliteStore, type Change, type Store } from "../../src/door/stores.ts";
import { startPostgres } from "../harness/postgres.ts";

// A mistake in custom code is a fault with a clear message. It is never ignored, and custom code cannot change the
// objects that it gets.

const wrong = (value: unknown) => value as never;
const line = mount(defineResource({ name: "line", fields: { body: text() } }), { permission: anyone });
const written: Change = { kind: "insert", collection: line.collection, values: { body: "a" } };

class Changes {
  readonly changes = [written];
}

class Computed {
  get body(): string {
    return "b";
  }
}

class HalfComputed {
  readonly title = "a";
  get body(): string {
    return "b";
  }
}

const rows: Readonly<
  Record<
    string,
    readonly [give: (input: { readonly record?: object; readonly collection?: object }) => unknown, told: RegExp]
  >
> = {
  "a Date": [() => new Date(), /gave .*a Date, which is none of these/],
  "a Map": [() => new Map([["values", { body: "b" }]]), /values (?:that are no object|is a function)/],
  "a Response of fetch": [() => new Response("a"), /gave .*an object, which is none of these/],
  "a generator": [
    function* () {
      yield written;
    },
    /gave .*an object, which is none of these/,
  ],
  "values in a Map": [() => ({ values: new Map([["body", "b"]]) }), /values.* a Map/],
  "values with only a getter of a class": [() => ({ values: new Computed() }), /values that are an object/],
  "values with a property and a getter of a class": [
    () => ({ values: new HalfComputed() }),
    /values that are an object/,
  ],
  "changes in a Set": [() => ({ changes: new Set([written]) }), /changes/],
};

const server = await startPostgres();
after(() => server.stop());
const stores: Readonly<Record<string, () => Promise<Store>>> = {
  SQLite: async () => sqliteStore({ path: ":memory:" }),
  PostgreSQL: async () => postgresStore({ url: new Secret(await server.makeDatabase()) }),
};

async function serve(store: Store, give: (input: never) => unknown) {
  const note = defineResource({ name: "note", fields: { body: text(), title: text({ optional: true }) } });
  const notes = mount(note, {
    permission: anyone,
    beforeWrite: (write) => (write.kind === "update" ? wrong(give(wrong({ record: write.current }))) : {}),
    actions: { go: { permission: anyone, handle: (call) => wrong(give(wrong(call))) } },
  });
  const faults: string[] = [];
  const service = await createService({
    store,
    mounts: [notes, line],
    endpoints: [defineEndpoint({ method: "GET", path: "/go", access: anyone, handle: () => wrong(give(wrong({}))) })],
    observe: (each) => void (each.kind === "fault" && faults.push(String(each.error))),
  });
  const ask = (method: string, path: string, body?: object) =>
    service.fetch(
      new Request(`http://a${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
      }),
      { peer: null },
    );
  assert.equal((await ask("POST", "/notes", { body: "first" })).status, 201);
  return { service, ask, faults };
}

for (const [database, makeStore] of Object.entries(stores)) {
  for (const [what, [give, pattern]] of Object.entries(rows))
    test(`reports ${what} from an action, a hook or a handler as a fault (${database})`, async (t) => {
      const { service, ask, faults } = await serve(await makeStore(), give);
      t.after(() => service.close());

      for (const [method, path, body] of [
        ["POST", "/notes/1/go", {}],
        ["PATCH", "/notes/1", { body: "second" }],
        ["GET", "/go", undefined],
      ] as const)
        assert.equal((await ask(method, path, body)).status, 500, path);

      for (const fault of faults.slice(0, 2)) assert.match(fault, pattern);
      assert.deepEqual(await (await ask("GET", "/notes/1")).json(), { id: 1, body: "first", title: null });
      assert.equal(await service.store.count(line.collection, null), 0);
    });

  test(`accepts an instance of a class with the right members like a plain object (${database})`, async (t) => {
    const { service, ask } = await serve(await makeStore(), () => new Changes());
    t.after(() => service.close());

    assert.equal((await ask("POST", "/notes/1/go", {})).status, 200);
    assert.equal((await ask("PATCH", "/notes/1", { body: "second" })).status, 200);

    assert.equal(await service.store.count(line.collection, null), 2);
  });
}

for (const [what, change] of Object.entries<
  (input: { readonly record: object; readonly collection: object }) => unknown
>({
  "the record": ({ record }) => Object.assign(record, { body: "of its own" }),
  "the table": ({ collection }) => Object.assign(collection, { name: "others" }),
  "the columns": ({ collection }) => (collection as typeof line.collection & { columns: object[] }).columns.push({}),
}))
  test(`reports a fault if an action tries to change ${what} that it gets, and leaves the original unchanged`, async (t) => {
    const { service, ask, faults } = await serve(sqliteStore({ path: ":memory:" }), (input) => {
      const { collection = line.collection, record = {} } = input as { collection?: object; record?: object };
      change({ record, collection });
      return {};
    });
    t.after(() => service.close());

    assert.equal((await ask("POST", "/notes/1/go", {})).status, 500);

    assert.match(faults[0]!, /^TypeError: Cannot (?:assign to read only|add) property/);
    assert.deepEqual(await (await ask("GET", "/notes/1")).json(), { id: 1, body: "first", title: null });
    assert.equal((await ask("POST", "/notes", { body: "next" })).status, 201);
  });

test("reports an action's answer that is a Map as a fault, and sends no empty response", async (t) => {
  const permission = anyone;
  const answer = { found: text({ optional: true }) };
  const note = defineResource({ name: "note", fields: { body: text() } });
  const notes = mount(note, {
    permission,
    actions: {
      count: { on: "collection", method: "GET", permission, answer, handle: () => ({ answer: wrong(new Map()) }) },
    },
  });
  const faults: string[] = [];
  const observe: Observer = (each) => void (each.kind === "fault" && faults.push(String(each.error)));
  const service = await createService({ store: sqliteStore({ path: ":memory:" }), mounts: [notes], observe });
  t.after(() => service.close());

  assert.equal((await service.fetch(new Request("http://a/notes/count"), { peer: null })).status, 500);
  assert.match(faults[0]!, /an answer that is a Map/);
});
