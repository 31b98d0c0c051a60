// Writes of callers to whom rules of fields deny something: tags, checks, hooks, repeats and rows.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { hasRole, type Permission } from "../../src/door/auth.ts";
import { consolePages } from "../../src/door/features.ts";
import {
  administrator,
  anyOf,
  anyone,
  authenticated,
  caller,
  defineResource,
  integer,
  mount,
  owner,
  text,
} from "../../src/door/index.ts";
import { ownService, people, type Own } from "../harness/own-service.ts";

const trusted = anyOf(administrator, hasRole("finance"));

const task = defineResource({
  name: "task",
  fields: {
    title: text({ maxLength: 80 }),
    cost: integer({ optional: true, read: trusted }),
    limit: integer({ default: 10, read: trusted, write: trusted }),
  },
  check: ({ title, cost, limit }) => [
    ...(title === "wrong" ? [{ pointer: "/title", code: "invalid", detail: "Choose another title." }] : []),
    ...(cost !== null && cost > limit ? [{ pointer: "/cost", code: "too_large", detail: `At most ${limit}.` }] : []),
  ],
});

async function startTasks(t: TestContext): Promise<Own & { readonly hooks: unknown[] }> {
  const hooks: unknown[] = [];
  const own = await ownService(t, {
    mounts: [
      mount(task, {
        permission: authenticated,
        arrays: true,
        beforeWrite({ kind, current, draft }) {
          hooks.push([kind, { ...current }, { ...draft?.values }]);
          return {};
        },
        afterWrite: ({ kind, after }) => void hooks.push([`after ${kind}`, { ...after }]),
        actions: {
          charge: {
            permission: authenticated,
            body: { by: integer() },
            handle: ({ record, draft }) => ({ values: { cost: (record.cost ?? 0) + draft.by } }),
          },
        },
      }),
    ],
  });
  const made = await own.ask("POST", "/tasks", { as: "root", body: { title: "one", cost: 3, limit: 5 } });
  assert.equal(made.status, 201, made.text);
  return { ...own, hooks };
}

test("gives hooks and actions whole records", async (t) => {
  const { ask, hooks } = await startTasks(t);
  hooks.length = 0;

  const changed = await ask("PATCH", "/tasks/1", { as: "ada", body: { title: "two" } });
  assert.deepEqual([changed.status, changed.json], [200, { id: 1, title: "two" }]);
  assert.deepEqual(hooks, [
    ["update", { id: 1, title: "one", cost: 3, limit: 5 }, { title: "two", cost: 3, limit: 5 }],
    ["after update", { id: 1, title: "two", cost: 3, limit: 5 }],
  ]);
  const charged = await ask("POST", "/tasks/1/charge", { as: "ada", body: { by: 1 } });
  assert.deepEqual([charged.status, charged.json], [200, { id: 1, title: "two" }]);
  assert.deepEqual((await ask("GET", "/tasks/1", { as: "root" })).json, { id: 1, title: "two", cost: 4, limit: 5 });
});

test("says only that values conflict, if a check fails because of values that the caller may not read", async (t) => {
  const { ask } = await startTasks(t);

  const ok = await ask("PATCH", "/tasks/1", { as: "ada", body: { cost: 5 } });
  assert.equal(ok.status, 200);
  const tooMuch = await ask("PATCH", "/tasks/1", { as: "ada", body: { cost: 6 } });
  assert.deepEqual([tooMuch.status, tooMuch.json.code, tooMuch.json.errors], [409, "conflict", undefined]);
  assert.equal(tooMuch.json.detail, "The record would not be valid together with values that you may not read.");
  const wrong = await ask("PATCH", "/tasks/1", { as: "ada", body: { title: "wrong" } });
  assert.deepEqual([wrong.status, wrong.json.code], [409, "conflict"], "the check reads hidden values too");
  const charged = await ask("POST", "/tasks/1/charge", { as: "ada", body: { by: 9 } });
  assert.deepEqual([charged.status, charged.json.code], [409, "conflict"]);
  const openly = await ask("POST", "/tasks/1/charge", { as: "root", body: { by: 9 } });
  assert.deepEqual([openly.status, openly.json.errors?.[0].code], [400, "too_large"]);
  const open = await ask("PATCH", "/tasks/1", { as: "root", body: { cost: 6 } });
  assert.deepEqual(
    [open.status, open.json.errors],
    [400, [{ pointer: "/cost", code: "too_large", detail: "At most 5." }]],
  );
});

test("names the field that a check reads, if the caller may know its name but not read the record", async (t) => {
  const { ask } = await ownService(t, {
    mounts: [mount(task, { permission: { create: authenticated, update: authenticated } })],
  });
  assert.equal((await ask("POST", "/tasks", { as: "root", body: { title: "one", cost: 3 } })).status, 201);
  const { status, json } = await ask("PATCH", "/tasks/1", { as: "root", body: { cost: 4 } });
  assert.deepEqual([status, json.code], [409, "conflict"]);
  assert.match(json.detail, /depends on title, which you may not read and did not send/);
});

test("names no hidden field in the refusal of one record too many, and in explanations", async (t) => {
  const rule = { read: trusted, write: trusted };
  const bid = defineResource({ name: "bid", fields: { owner_id: integer({ default: caller, ...rule }) } });
  const maximum = { per: "owner_id", records: 1 } as const;
  const { ask, get } = await ownService(t, {
    mounts: [mount(bid, { permission: owner("owner_id"), maximum })],
    features: [consolePages({ title: "Bids" })],
  });
  assert.equal((await ask("POST", "/bids", { as: "ada", body: {} })).status, 201);
  const { status, json } = await ask("POST", "/bids", { as: "ada", body: {} });
  assert.deepEqual(
    [status, json.code, json.detail],
    [409, "too_many", "At most 1 bids are allowed. Delete one first."],
  );

  const why = async (as: string) => (await get("/console/why?of=/bids", { as })).json.permission;
  assert.deepEqual(await why("ada"), { name: "owner", action: "list", said: "some rows", by: [] });
  assert.deepEqual((await why("root")).by, ["owner_id"]);
});

test("writes nothing if a hidden field of its result cannot be computed", async (t) => {
  const sum = defineResource({
    name: "sum",
    fields: { title: text({ maxLength: 80 }) },
    computed: {
      doubled: {
        as: text({ read: administrator }),
        from: (record) => {
          if (record.title === "bad") throw new TypeError("The title is bad.");
          return record.title.repeat(2);
        },
      },
    },
  });
  const spoil = { permission: authenticated, handle: () => ({ values: { title: "bad" } }) };
  const everyRow: Permission = {
    name: "every row",
    narrows: ["read", "create", "update"],
    decide: () => ({ only: { column: "id", operator: "lt", value: 100 } }),
  };
  for (const permission of [authenticated, everyRow]) {
    const { ask } = await ownService(t, {
      mounts: [
        mount(sum, {
          permission: { read: authenticated, create: authenticated, update: permission },
          actions: { spoil },
        }),
      ],
    });
    assert.equal((await ask("POST", "/sums", { as: "ada", body: { title: "good" } })).status, 201);

    assert.equal((await ask("POST", "/sums/1/spoil", { as: "ada" })).status, 500);
    assert.equal((await ask("PATCH", "/sums/1", { as: "ada", body: { title: "bad" } })).status, 500);

    assert.equal((await ask("GET", "/sums/1", { as: "ada" })).json.title, "good");
  }
});

test("shows callers who see the same fields the same tag, which moves with every write", async (t) => {
  const note = defineResource({
    name: "note",
    fields: { line: text({ maxLength: 80 }), rank: integer({ default: 1, write: administrator }) },
  });
  const { ask } = await ownService(t, { mounts: [mount(note, { permission: authenticated })] });
  const made = await ask("POST", "/notes", { as: "ada", body: { line: "x" } });
  const tagFor = async (as: string) => (await ask("GET", "/notes/1", { as })).headers.get("etag");

  assert.equal(await tagFor("ada"), made.headers.get("etag"));
  assert.equal(await tagFor("root"), made.headers.get("etag"));
  for (const line of ["y", "x"])
    assert.equal((await ask("PATCH", "/notes/1", { as: "root", body: { line } })).status, 200);
  assert.notEqual(await tagFor("ada"), made.headers.get("etag"));
  assert.equal(await tagFor("ada"), await tagFor("root"));
});

test("accepts a tag of version 0.1, which is a revision, only from callers who see the whole record", async (t) => {
  const { ask, service } = await startTasks(t);
  const { collection } = service.mounts[0]!;
  const revision = async () => String((await service.store.find(collection, 1))!.revision);
  const change = async (as: string, tag: string) =>
    (await ask("PATCH", "/tasks/1", { as, body: { title: `by ${as}` }, headers: { "if-match": tag } })).status;

  assert.equal(await change("ada", `"${await revision()}"`), 412);
  assert.equal(await change("root", `"x", "${await revision()}"`), 412, "a list of tags could be a guess");
  assert.equal(await change("root", `"${await revision()}"`), 200);
  assert.equal(await change("root", `"${Number(await revision()) - 1}"`), 412);
});

test("calls no function of a field for a patch of a missing record, and reports what is wrong in it", async (t) => {
  let made = 0;
  const stamp = (): string => `stamp ${++made}`;
  const note = defineResource({
    name: "note",
    fields: {
      line: text({ maxLength: 80 }),
      first: text({ default: stamp, read: administrator, write: administrator }),
      last: text({ generated: stamp, regenerated: true, read: administrator }),
    },
  });
  const { ask } = await ownService(t, { mounts: [mount(note, { permission: authenticated, arrays: true })] });
  for (const as of ["ada", "root"])
    for (const [body, status] of [
      [{ line: "x" }, 404],
      [{ line: 7 }, 400],
    ] as const) {
      assert.equal((await ask("PATCH", "/notes/9", { as, body })).status, status, as);
      assert.equal((await ask("PATCH", "/notes", { as, body: [{ id: 9, ...body }] })).status, status, as);
    }
  assert.equal(made, 0);
});

test("moves tags with the visible content alone", async (t) => {
  const { ask } = await startTasks(t);
  const tagFor = async (as: string) => (await ask("GET", "/tasks/1", { as })).headers.get("etag")!;
  const [before, whole] = [await tagFor("ada"), await tagFor("root")];

  assert.equal((await ask("PATCH", "/tasks/1", { as: "root", body: { cost: 4 } })).status, 200);
  assert.equal(await tagFor("ada"), before);
  assert.notEqual(await tagFor("root"), whole);
  const cached = await ask("GET", "/tasks/1", { as: "ada", headers: { "if-none-match": before } });
  assert.equal(cached.status, 304);
  const conditional = { as: "ada", headers: { "if-match": before } };
  const changed = await ask("PATCH", "/tasks/1", { ...conditional, body: { title: "two" } });
  assert.equal(changed.status, 200);
  assert.notEqual(changed.headers.get("etag"), before);
  for (const [method, path, body] of [
    ["PATCH", "/tasks/1", { title: "three" }],
    ["PUT", "/tasks/1", { title: "three" }],
    ["DELETE", "/tasks/1", undefined],
    ["POST", "/tasks/1/charge", { by: 1 }],
  ] as const)
    assert.equal((await ask(method, path, { ...conditional, body })).status, 412, method);
  const array = (tag: string) => ask("PATCH", "/tasks", { as: "ada", body: [{ id: 1, if_match: tag, title: "four" }] });
  assert.equal((await array(before)).status, 412);
  assert.equal((await array(await tagFor("ada"))).status, 200);
});

test("answers a repeat as the caller of now may see and send it", async (t) => {
  const { ask } = await startTasks(t);
  const ada = people["ada"]!;
  const send = (key: string, body: object) =>
    ask("POST", "/tasks", { as: "ada", body, headers: { "idempotency-key": key } });
  const withRole = async <T>(role: string, work: () => Promise<T>): Promise<T> => {
    Object.assign(people, { ada: { ...ada, role } });
    try {
      return await work();
    } finally {
      Object.assign(people, { ada });
    }
  };

  const first = await withRole("finance", () => send("finance-1", { title: "five", cost: 1 }));
  assert.deepEqual(first.json, { id: 2, title: "five", cost: 1, limit: 10 });
  const later = await send("finance-1", { title: "five", cost: 1 });
  assert.deepEqual([later.status, later.json], [201, { id: 2, title: "five" }]);
  assert.equal(later.headers.get("idempotency-replayed"), "true");

  await withRole("finance", () => send("finance-2", { title: "six", limit: 7 }));
  const refused = await send("finance-2", { title: "six", limit: 7 });
  assert.deepEqual(
    [refused.status, refused.json.errors],
    [400, [{ pointer: "/limit", code: "unknown_field", detail: "There is no field of this name." }]],
  );
});

test("answers 403 for a row that the caller may read but not change, and 404 for a hidden one", async (t) => {
  const mine = anyOf(owner("owner_id"), administrator);
  const book = defineResource({
    name: "book",
    fields: { title: text({ maxLength: 40 }), owner_id: integer({ default: caller }) },
  });
  const hidden = defineResource({
    name: "diary",
    plural: "diaries",
    fields: { title: text({ maxLength: 40 }), owner_id: integer({ default: caller }) },
  });
  const actions = { touch: { permission: mine, handle: () => undefined } };
  const { ask } = await ownService(t, {
    mounts: [
      mount(book, {
        permission: { list: anyone, read: anyone, create: authenticated, replace: mine, update: mine, delete: mine },
        arrays: true,
        actions,
      }),
      mount(hidden, { permission: mine, arrays: true, actions }),
    ],
  });
  for (const path of ["/books", "/diaries"])
    assert.equal((await ask("POST", path, { as: "ben", body: { title: "of Ben" } })).status, 201);

  const tried = (path: string) =>
    [
      ["PUT", `${path}/1`, { title: "x", owner_id: 2 }],
      ["PATCH", `${path}/1`, { title: "x" }],
      ["DELETE", `${path}/1`, undefined],
      ["POST", `${path}/1/touch`, undefined],
      ["PATCH", path, [{ id: 1, title: "x" }]],
    ] as const;
  for (const headers of [{}, { "if-match": '"other"' }])
    for (const [path, status] of [
      ["/books", 403],
      ["/diaries", 404],
    ] as const)
      for (const [method, to, body] of tried(path)) {
        if (Array.isArray(body) && "if-match" in headers) continue;
        const answer = await ask(method, to, { as: "ada", body, headers });
        assert.equal(answer.status, status, `${method} ${to} ${JSON.stringify(headers)} ${answer.text}`);
      }
  assert.equal((await ask("PATCH", "/books/1", { body: { title: "x" } })).status, 401);
  assert.equal((await ask("PATCH", "/books/9", { as: "ada", body: { title: "x" } })).status, 404);
  assert.equal((await ask("GET", "/books/1")).json.title, "of Ben");
  // A repeat shows no record that its caller has lost.
  const key = { headers: { "idempotency-key": "diary-0001" } };
  const made = { as: "ada", body: { title: "mine" }, ...key };
  assert.equal((await ask("POST", "/diaries", made)).status, 201);
  assert.equal((await ask("PATCH", "/diaries/2", { as: "root", body: { owner_id: 3 } })).status, 200);
  const repeat = await ask("POST", "/diaries", made);
  assert.deepEqual([repeat.status, repeat.text], [201, ""]);
  // It does not show that the record was deleted afterwards either.
  assert.equal((await ask("DELETE", "/diaries/2", { as: "root" })).status, 204);
  const later = await ask("POST", "/diaries", made);
  assert.deepEqual([later.status, later.text], [201, ""]);
  for (const { headers } of [repeat, later]) for (const name of ["date", "x-request-id"]) headers.delete(name);
  assert.deepEqual([...later.headers], [...repeat.headers]);
});
