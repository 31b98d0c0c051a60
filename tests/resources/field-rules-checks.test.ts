// Checks of whole records, and the drafts of hooks, for callers from whom rules hide fields.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import {
  administrator,
  authenticated,
  anyone,
  defineResource,
  integer,
  mount,
  owner,
  text,
  caller,
} from "../../src/door/index.ts";
import { type Resource } from "../../src/door/resources.ts";
import { onSQLite } from "../harness/existing.ts";
import { ownService, type Own } from "../harness/own-service.ts";

const title = text({ maxLength: 40 });
const issue = (pointer: string) => [{ pointer, code: "invalid", detail: "Choose another value." }];

/** How a check decides about a title, which callers send. `cost` is not read by them, `limit` and `score` not known. */
const decisions: Readonly<Record<string, (record: Readonly<Record<string, unknown>>) => readonly object[]>> = {
  "by the title": () => issue("/title"),
  "by the whole": () => issue(""),
  "by the title, about the limit": () => issue("/limit"),
  "by the title, within the limit": () => issue("/limit/a"),
  "by the cost": ({ cost }) => (Number(cost) > 100 ? issue("/cost") : []),
  "by the limit": ({ limit }) => (Number(limit) > 5 ? issue("/title") : []),
  "by the score": ({ score }) => (Number(score) === 3 ? issue("/title") : []),
  "by the stock": ({ stock }) => (Number(stock) === 4 ? issue("/title") : []),
  "by the limit, without its error"(record) {
    try {
      assert.ok(Number(record["limit"]) > 0);
    } catch {
      return issue("/title");
    }
    return issue("/title");
  },
};

async function startChecked(t: TestContext): Promise<Own> {
  let calls = 0;
  const both = { read: administrator, write: administrator } as const;
  const task = defineResource({
    name: "task",
    fields: {
      title,
      cost: integer({ optional: true, read: administrator }),
      limit: integer({ default: 10, ...both }),
      score: integer({ default: 3, readOnly: true, read: administrator }),
      stock: integer({ default: 4, readOnly: true }),
    },
    check(record) {
      if (record.title === "changing its mind") return (calls++ % 2 === 0 ? issue("/title") : []) as never;
      return (decisions[record.title] ?? (() => []))(record) as never;
    },
  });
  const own = await ownService(t, { mounts: [mount(task, { permission: authenticated })] });
  const made = await own.ask("POST", "/tasks", { as: "root", body: { title: "one", cost: 200 } });
  assert.equal(made.status, 201, made.text);
  return own;
}

test("names an issue only if the sent and the visible fields alone cause it, and only at a known field", async (t) => {
  const { ask } = await startChecked(t);
  const rows: readonly (readonly [body: object, hidden: string, known: string])[] = [
    [{ title: "by the title" }, "400 /title", "400 /title"],
    [{ title: "by the whole" }, "400 ", "400 "],
    [{ title: "by the title, about the limit" }, "409", "400 /limit"],
    [{ title: "by the title, within the limit" }, "409", "400 /limit/a"],
    [{ title: "by the cost" }, "409", "400 /cost"],
    [{ title: "by the cost", cost: 101 }, "400 /cost", "400 /cost"],
    [{ title: "by the cost", cost: 1 }, "200", "200"],
    [{ title: "by the limit" }, "409", "400 /title"],
    [{ title: "by the score" }, "409", "400 /title"],
    [{ title: "by the stock" }, "400 /title", "400 /title"],
    [{ title: "by the limit, without its error" }, "409", "400 /title"],
    [{ title: "changing its mind" }, "409", "200"],
    [{ title: "fine" }, "200", "200"],
  ];
  for (const [body, hidden, known] of rows)
    for (const [as, expected] of [
      ["ada", hidden],
      ["root", known],
    ] as const) {
      if (as === "root" && "title" in body && body.title === "changing its mind") continue;
      const reset = await ask("PATCH", "/tasks/1", { as: "root", body: { title: "one", cost: 200 } });
      assert.equal(reset.status, 200);
      const { status, json } = await ask("PATCH", "/tasks/1", { as, body });
      const pointers = (json.errors ?? []).map(({ pointer }: { pointer: string }) => pointer);
      assert.equal([status, ...pointers].join(" "), expected, `${as} sends ${JSON.stringify(body)}`);
    }
});

test("takes a visible field that a complete body leaves out as known", async (t) => {
  const { ask } = await startChecked(t);
  const { status, json } = await ask("PUT", "/tasks/1", { as: "ada", body: { title: "by the stock" } });
  assert.deepEqual([status, json.errors?.[0].pointer], [400, "/title"]);
});

test("decides for a caller who may not read the record, and for whom rules hide fields of it", async (t) => {
  const mine = owner("owner_id");
  const project = defineResource({ name: "project", fields: { title } });
  const task = defineResource({
    name: "task",
    within: project,
    fields: {
      title,
      owner_id: integer({ default: caller }),
      limit: integer({ default: 10, read: administrator, write: administrator }),
      score: integer({ default: 3, readOnly: true, read: administrator }),
      cost: integer({ default: 5, read: administrator }),
    },
    check(record) {
      if (record.title === "by the score") return record.score > 99 ? issue("/title") : [];
      if (record.title === "by the cost") return record.cost > 99 ? issue("/title") : [];
      if (record.title === "broken") throw new TypeError("The check has a bug.");
      if (record.title === "by the id") return record.id === 1 ? issue("/title") : [];
      return record.title === "by the limit" && record.limit > 99 ? issue("/title") : [];
    },
  }) as unknown as Resource;
  const { ask } = await ownService(t, {
    mounts: [
      mount(project, { permission: anyone }),
      mount(task, { permission: { read: mine as never, create: authenticated, update: authenticated } }),
    ],
  });
  assert.equal((await ask("POST", "/projects", { as: "root", body: { title: "x" } })).status, 201);
  assert.equal((await ask("POST", "/projects/1/tasks", { as: "root", body: { title: "x" } })).status, 201);
  for (const as of ["ada", "ben"]) {
    const send = async (body: object) => {
      const { status, json } = await ask("PATCH", "/projects/1/tasks/1", { as, body });
      return [status, json?.detail ?? null];
    };
    const invalid = [400, "The data is not valid."];
    assert.deepEqual(await send({ title: "fine" }), [204, null]);
    const detail = "The record would not be valid together with values that you may not read.";
    for (const title of ["by the limit", "by the score", "by the cost"])
      assert.deepEqual(await send({ title }), [409, detail], title);
    assert.deepEqual(await send({ title: "by the cost", cost: 100 }), invalid);
    assert.deepEqual(await send({ title: "by the id" }), invalid);
    assert.equal((await send({ title: "broken" }))[0], 500);
  }
});

test("gives hooks the same draft for every caller who sends the same", async (t) => {
  const drafts: unknown[] = [];
  const note = defineResource({
    name: "note",
    fields: {
      line: title,
      rank: integer({ default: 1, write: administrator }),
      limit: integer({ optional: true, read: administrator, write: administrator }),
      made: text({ default: () => "made" }),
      origin: text({ default: "here", readOnly: true, read: administrator }),
      stamp: text({ generated: () => "stamp", read: administrator }),
      pin: text({ optional: true, writeOnly: true, write: administrator }),
      proof: text({ optional: true, writeOnly: true, transient: true, write: administrator }),
    },
    computed: { letters: { as: integer({ read: administrator }), from: ({ line }) => line.length } },
  });
  const { ask } = await ownService(t, {
    mounts: [
      mount(note, {
        permission: authenticated,
        beforeWrite({ draft }) {
          drafts.push({ values: { ...draft?.values }, transient: { ...draft?.transient } });
          return {};
        },
      }),
    ],
  });
  const stored = { line: "x", rank: 7, limit: 8, pin: "p" };
  assert.equal((await ask("POST", "/notes", { as: "root", body: stored })).status, 201);
  const known = { rank: 7, limit: 8 };
  for (const [method, path, sent] of [
    ["POST", "/notes", {}],
    ["PATCH", "/notes/1", {}],
    ["PUT", "/notes/1", known],
  ] as const) {
    drafts.length = 0;
    for (const [as, body] of [
      ["ada", { line: "y" }],
      ["root", { line: "y", ...sent }],
    ] as const)
      assert.ok((await ask(method, path, { as, body })).status < 300, `${method} of ${as}`);
    assert.deepEqual(drafts[0], drafts[1], `${method} ${path}`);
  }
  const kept = (await ask("GET", "/notes/1", { as: "root" })).json;
  assert.deepEqual([kept.rank, kept.limit, kept.made, kept.origin, kept.stamp], [7, 8, "made", "here", "stamp"]);
});

onSQLite(
  "gives the hooks of an existing table only the fields that change",
  "CREATE TABLE theirs (id integer PRIMARY KEY, line text NOT NULL, cost integer); INSERT INTO theirs VALUES (1, 'x', 5)",
  async ({ serve }) => {
    const drafts: unknown[] = [];
    const their = defineResource({
      name: "their",
      table: "theirs",
      writes: ["update"],
      fields: { line: title, cost: integer({ optional: true, read: administrator, write: administrator }) },
    });
    const { ask } = await serve(
      mount(their, {
        permission: { read: authenticated, update: authenticated },
        beforeWrite({ draft }) {
          drafts.push({ ...draft?.values });
          return {};
        },
      }),
    );
    for (const as of ["ada", "root"])
      assert.equal((await ask("PATCH", "/theirs/1", { as, body: { line: `by ${as}` } })).status, 200);

    assert.deepEqual(drafts, [{ line: "by ada" }, { line: "by root" }]);
    assert.equal((await ask("GET", "/theirs/1", { as: "root" })).json.cost, 5);
  },
);
