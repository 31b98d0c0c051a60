import assert from "node:assert/strict";
import { test } from "node:test";
import { documentation } from "../../src/door/features.ts";
import {
  administrator,
  anyone,
  authenticated,
  createService,
  defineFeature,
  defineResource,
  integer,
  json,
  mount,
  text,
} from "../../src/door/index.ts";
import { DeclarationError, olderShape, references } from "../../src/door/resources.ts";
import { sqliteStore, type Where } from "../../src/door/stores.ts";
import { isServed } from "../../src/store/served.ts";
import { factory } from "../../src/testing/testing.ts";
import { onBoth } from "../harness/existing.ts";
import { ownService, type OwnAnswer } from "../harness/own-service.ts";

const member = defineResource({
  name: "membership",
  fields: {
    user_id: integer(),
    project_id: integer({ optional: true }),
    role: text({ maxLength: 20, default: "editor" }),
  },
  filters: { user_id: ["eq"], project_id: ["eq"] },
  unique: [["user_id", "project_id"]],
});
const members = mount(member, { permission: anyone, arrays: true });
const older = olderShape(members, { prefix: "/v1", fields: { person: "user_id", project: "project_id" } });

const issues = ({ status, json: body }: OwnAnswer): unknown[] => [
  status,
  body.code,
  ...(body.errors ?? []).map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`),
];
const both = ["/user_id taken", "/project_id taken"];

onBoth("refuses a record whose values another record has, at every field of the set", "SELECT 1", async (made) => {
  const { ask } = await made.serve(members, older);
  await ask("POST", "/memberships", { body: { user_id: 1, project_id: 1 } });
  await ask("POST", "/memberships", { body: { user_id: 1, project_id: 2 } });
  const merge = { "content-type": "application/merge-patch+json" };
  const patch = { "content-type": "application/json-patch+json" };
  const replaced = [{ op: "replace", path: "/project_id", value: 1 }];

  const refused = [
    await ask("POST", "/memberships", { body: { user_id: 1, project_id: 1, role: "owner" } }),
    await ask("PUT", "/memberships/2", { body: { user_id: 1, project_id: 1 } }),
    await ask("PUT", "/memberships/7", { body: { user_id: 1, project_id: 1 } }),
    await ask("PATCH", "/memberships/2", { body: { project_id: 1 }, headers: merge }),
    await ask("PATCH", "/memberships/2", { body: replaced, headers: patch }),
  ];
  const inOlder = await ask("POST", "/v1/memberships", { body: { person: 1, project: 2 } });

  for (const answer of refused) assert.deepEqual(issues(answer), [409, "taken", ...both]);
  assert.deepEqual(issues(inOlder), [409, "taken", "/person taken", "/project taken"]);
});

onBoth("accepts its own values, null beside null, and values that differ in one field", "SELECT 1", async (made) => {
  const { ask } = await made.serve(members);
  const statuses: number[] = [];
  const send = async (method: string, path: string, body: unknown): Promise<unknown> =>
    statuses.push((await ask(method, path, { body })).status);

  await send("POST", "/memberships", { user_id: 1, project_id: 1 });
  await send("POST", "/memberships", { user_id: 1 });
  await send("POST", "/memberships", { user_id: 1, project_id: null });
  await send("POST", "/memberships", { user_id: 2, project_id: 1 });
  await send("PUT", "/memberships/1", { user_id: 1, project_id: 1, role: "owner" });
  await send("PATCH", "/memberships/1", { project_id: 1 });

  assert.deepEqual(statuses, [201, 201, 201, 201, 200, 200]);
});

onBoth("compares texts by code point, so case counts", "SELECT 1", async (made) => {
  const tag = defineResource({
    name: "tag",
    fields: { list: text({ maxLength: 50 }), word: text({ maxLength: 50 }) },
    unique: [["list", "word"]],
  });
  const { ask } = await made.serve(mount(tag, { permission: anyone }));
  const send = async (list: string, word: string): Promise<number> =>
    (await ask("POST", "/tags", { body: { list, word } })).status;

  assert.deepEqual(
    [await send("a", "B"), await send("a", "b"), await send("A", "b"), await send("a", "b")],
    [201, 201, 201, 409],
  );
});

onBoth("refuses an array with equal records, and names the later one", "SELECT 1", async (made) => {
  const { ask, get } = await made.serve(members);
  const many = (count: number): { user_id: number; project_id: number }[] =>
    Array.from({ length: count }, (_, at) => ({ user_id: at + 10, project_id: 1 }));

  const few = await ask("POST", "/memberships", { body: [...many(2), { user_id: 10, project_id: 1 }] });
  const more = await ask("POST", "/memberships", { body: [...many(20), { user_id: 13, project_id: 1 }] });
  const [first, second] = (await ask("POST", "/memberships", { body: many(3) })).json;
  const known = await ask("POST", "/memberships", {
    body: [
      { user_id: 1, project_id: 1 },
      { user_id: 11, project_id: 1 },
    ],
  });
  const changed = await ask("PATCH", "/memberships", {
    body: [
      { id: first.id, role: "owner" },
      { id: second.id, user_id: 10 },
    ],
  });

  const at = (place: number): string[] => both.map((each) => `/${place}${each}`);
  assert.deepEqual(issues(few), [409, "taken", ...at(2)]);
  assert.deepEqual(issues(more), [409, "taken", ...at(20)]);
  assert.deepEqual(issues(known), [409, "taken", ...at(1)]);
  assert.deepEqual(issues(changed), [409, "taken", ...at(1)]);
  assert.deepEqual(
    (await get("/memberships")).json.map(({ role }: { role: string }) => role),
    ["editor", "editor", "editor"],
  );
});

onBoth("accepts one of many equal records that are sent at the same time", "SELECT 1", async (made) => {
  const { ask } = await made.serve(members);

  const answers = await Promise.all(
    Array.from({ length: 20 }, () => ask("POST", "/memberships", { body: { user_id: 3, project_id: 3 } })),
  );

  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  for (const answer of answers.filter(({ status }) => status !== 201))
    assert.deepEqual(issues(answer), [409, "taken", ...both]);
});

onBoth("repeats a stored outcome, and frees the key of a refusal", "SELECT 1", async (made) => {
  const { ask } = await made.serve(members);
  const send = (key: string, user: number): Promise<OwnAnswer> =>
    ask("POST", "/memberships", {
      as: "ada",
      body: { user_id: user, project_id: 1 },
      headers: { "idempotency-key": key },
    });

  const first = await send("key-number-1", 1);
  const again = await send("key-number-1", 1);
  const refused = await send("key-number-2", 1);
  const other = await send("key-number-2", 2);

  assert.deepEqual([first.status, again.status, other.status], [201, 201, 201]);
  assert.equal(again.headers.get("idempotency-replayed"), "true");
  assert.deepEqual(issues(refused), [409, "taken", ...both]);
});

onBoth("takes the id of the parent as a column of the set in a nested resource", "SELECT 1", async (made) => {
  const project = defineResource({ name: "project", fields: { name: text() } });
  const note = defineResource({
    name: "note",
    within: project,
    fields: { line: text({ maxLength: 100 }), user_id: integer({ optional: true }) },
    unique: [
      ["project_id", "line"],
      ["line", "user_id"],
    ],
  });
  const { ask } = await made.serve(
    mount(project, { permission: anyone }),
    mount(note, { permission: anyone, arrays: true }),
  );
  for (const name of ["one", "two"]) await ask("POST", "/projects", { body: { name } });

  const first = await ask("POST", "/projects/1/notes", { body: { line: "a", user_id: 1 } });
  const second = await ask("POST", "/projects/2/notes", { body: { line: "a" } });
  const sameParent = await ask("POST", "/projects/1/notes", { body: { line: "a" } });
  const inArray = await ask("POST", "/projects/1/notes", { body: [{ line: "b" }, { line: "b" }] });
  const sameUser = await ask("POST", "/projects/2/notes", { body: { line: "a", user_id: 1 } });

  assert.deepEqual([first.status, second.status], [201, 201]);
  assert.deepEqual(issues(sameParent), [409, "taken", "/line taken"]);
  assert.deepEqual(issues(inArray), [409, "taken", "/1/line taken"]);
  assert.equal(sameUser.status, 409);
});

onBoth("names no field of a set that the caller may not read", "SELECT 1", async (made) => {
  const rule = { default: 1, read: administrator, write: administrator };
  const pay = defineResource({
    name: "pay",
    fields: { line: text(), budget: integer(rule), bonus: integer(rule) },
    unique: [["budget", "bonus"]],
  });
  const { ask } = await made.serve(mount(pay, { permission: anyone }));
  await ask("POST", "/pays", { body: { line: "a" } });

  const hidden = await ask("POST", "/pays", { as: "ada", body: { line: "b" } });
  const seen = await ask("POST", "/pays", { as: "root", body: { line: "b" } });

  assert.deepEqual([hidden.status, hidden.json.code, hidden.json.errors], [409, "conflict", undefined]);
  assert.deepEqual(issues(seen), [409, "taken", "/budget taken", "/bonus taken"]);
});

onBoth("names the fields of the set, or the unique field, that a record breaks", "SELECT 1", async (made) => {
  const seat = defineResource({
    name: "seat",
    fields: { hall: text(), row: integer(), place: integer(), code: text({ unique: true }) },
    unique: [
      ["hall", "row"],
      ["row", "place"],
    ],
  });
  const { ask } = await made.serve(mount(seat, { permission: anyone, arrays: true }));
  const send = (hall: string, row: number, place: number, code: string): Promise<OwnAnswer> =>
    ask("POST", "/seats", { body: { hall, row, place, code } });
  await send("a", 1, 1, "a11");

  const [first, second, alone] = [
    await send("a", 1, 2, "a12"),
    await send("b", 1, 1, "b11"),
    await send("b", 2, 2, "a11"),
  ];

  assert.deepEqual(issues(first), [409, "taken", "/hall taken", "/row taken"]);
  assert.deepEqual(issues(second), [409, "taken", "/row taken", "/place taken"]);
  assert.deepEqual(issues(alone), [409, "taken", "/code taken"]);
  const inArray = await ask("POST", "/seats", { body: [{ hall: "c", row: 3, place: 3, code: "a11" }] });
  assert.deepEqual(issues(inArray), [409, "taken", "/0/code taken"]);
  assert.equal(first.json.errors[0].detail, "These values together are already taken.");
  assert.equal(alone.json.errors[0].detail, "This value is already taken.");
});

test("refuses a set of columns that a collection does not have", async () => {
  const columns = [
    { name: "hall", type: "text" },
    { name: "number", type: "integer" },
  ] as const;
  const rows: readonly (readonly [uniques: unknown, message: RegExp])[] = [
    [[["hall", "numbre"]], /uniques names the column numbre, which does not exist; did you mean number\?/],
    [[["hall"]], /uniques is a list; it has to be a list of lists of at least two columns/],
    [[["hall", 7]], /uniques is a list; it has to be a list of lists of at least two columns/],
    [["hall"], /uniques is a list; it has to be a list of lists of at least two columns/],
    ["hall", /uniques is a text; it has to be a list of lists of at least two columns/],
  ];

  for (const [uniques, message] of rows) {
    const collection = { name: "lockers", key: "integer", columns, uniques: uniques as string[][] } as const;
    const store = sqliteStore({ path: ":memory:" });
    await assert.rejects(
      createService({
        store,
        features: [defineFeature({ name: "lockers", setUp: () => ({ offer: null, collections: [collection] }) })],
      }),
      message,
    );
    await assert.rejects(
      store.open([collection]),
      /unique set \(hall, numbre\) names a column|uniques is a (?:list|text)/,
    );
  }
  const uniques = [["hall", "number"]];
  const collection = { name: "lockers", key: "integer", columns, uniques, indexes: [["hall"]] } as const;
  const service = await createService({
    store: sqliteStore({ path: ":memory:" }),
    features: [defineFeature({ name: "lockers", setUp: () => ({ offer: null, collections: [collection] }) })],
    observe: null,
  });
  const write = async (hall: string, number: number) =>
    (await service.store.write({ changes: [{ kind: "insert", collection, values: { hall, number } }] })).kind;
  assert.deepEqual([await write("a", 1), await write("a", 2), await write("a", 2)], ["written", "written", "taken"]);
  await service.close();
});

test("refuses sets that no index can keep, with their place and the fix", () => {
  const declare = (unique: unknown, more: object = {}): void => {
    const project = defineResource({ name: "project", fields: { name: text() } });
    defineResource({
      name: "note",
      within: project,
      fields: {
        line: text(),
        user_id: integer(),
        meta: json(),
        tags: references("tags"),
        code: text({ writeOnly: true, transient: true }),
        budget: integer({ optional: true, read: administrator, write: administrator }),
        bonus: integer({ optional: true, read: administrator, write: administrator }),
        salary: integer({ optional: true, read: authenticated, write: authenticated }),
      },
      computed: { length: { as: integer(), from: ({ line }) => line.length } },
      unique: unique as [["line", "user_id"]],
      ...more,
    });
  };
  const notStored = "so it cannot be in a set; leave it out";
  const oneRule =
    "a write tells whether another record has the values of a set, so read and write of all its fields have to be the same permission; give it to each of them, or to none";
  const rows: readonly (readonly [unique: unknown, message: string])[] = [
    ["line", 'unique is a text; it has to be a list of sets of fields, like [["user_id", "project_id"]]'],
    [["line", "user_id"], 'unique is a list; it has to be a list of sets of fields, like [["user_id", "project_id"]]'],
    [[[]], "unique []: it names no field; leave it out"],
    [
      [["line"]],
      "unique [line]: a set has at least two fields; for this one alone, write unique: true at the field line",
    ],
    [[["line", 7]], 'unique is a list; it has to be a list of sets of fields, like [["user_id", "project_id"]]'],
    [[["line", "user"]], "unique [line, user]: user is no field; did you mean user_id?"],
    [[["line", "projct_id"]], "unique [line, projct_id]: projct_id is no field; did you mean project_id?"],
    [[["line", "line"]], "unique [line, line]: line is named twice; leave one of them out"],
    [[["id", "line"]], "unique [id, line]: id is unique by itself; leave the set out"],
    [[["line", "length"]], `unique [line, length]: length is computed and not stored, ${notStored}`],
    [[["line", "code"]], `unique [line, code]: code is transient and not stored, ${notStored}`],
    [[["line", "meta"]], "unique [line, meta]: meta is a JSON value, which cannot be in a set; leave it out"],
    [[["line", "tags"]], "unique [line, tags]: tags is a list of ids, which cannot be in a set; leave it out"],
    [[["line", "budget"]], `unique [line, budget]: ${oneRule}`],
    [[["budget", "salary"]], `unique [budget, salary]: ${oneRule}`],
    [
      [
        ["line", "user_id"],
        ["user_id", "line"],
      ],
      "unique [user_id, line]: the set is declared twice; leave one of them out",
    ],
  ];

  for (const [unique, message] of rows)
    assert.throws(
      () => declare(unique),
      (error) => {
        assert.ok(error instanceof DeclarationError);
        assert.deepEqual(error.mistakes, [`resource note: ${message}`]);
        return true;
      },
    );
  const alone = { within: undefined, computed: {} };
  assert.throws(
    () => declare([["line", "project_id"]], alone),
    /unique \[line, project_id\]: project_id is no field; there are line, user_id, [a-z, ]*$/,
  );
  const malformed = { ...alone, fields: { line: text(), user_id: 7 } };
  assert.throws(
    () => declare([["line", "user_id"]], malformed),
    (error) => error instanceof DeclarationError && error.mistakes.length === 1 && /user_id/.test(error.message),
  );
  declare([
    ["project_id", "line"],
    ["line", "user_id"],
    ["budget", "bonus"],
  ]);
});

test("serves a list that names every field of a set, and documents the problem", async (t) => {
  const { collection } = members;
  const equal = (...columns: string[]): Where => ({
    all: columns.map((column) => ({ column, operator: "eq", value: 1 })),
  });
  const isServedBy = (where: Where, column = "role"): boolean => isServed({ collection, where, sort: [{ column }] });
  const plain = mount(defineResource({ name: "plain", fields: { line: text() } }), { permission: anyone });
  const coded = mount(defineResource({ name: "coded", fields: { code: text({ unique: true }) } }), {
    permission: anyone,
  });
  const service = await ownService(t, {
    mounts: [members, plain, coded],
    features: [documentation({ title: "Teams", version: "1" })],
  });

  const { json: document } = await service.get("/openapi.json");

  assert.ok(isServedBy(equal("user_id", "project_id")));
  assert.ok(!isServedBy(equal("user_id")));
  const unset: Where = { column: "project_id", operator: "null", value: true };
  assert.ok(!isServedBy({ all: [equal("user_id"), unset] }));
  const rows: readonly (readonly [where: Where, sort: string, expected: boolean])[] = [
    [{ column: "id", operator: "eq", value: 1 }, "role", true],
    [{ column: "id", operator: "gt", value: 1 }, "role", false],
    [equal("user_id"), "id", true],
    [{ column: "user_id", operator: "gt", value: 1 }, "id", false],
    [{ column: "user_id", operator: "gt", value: true }, "id", false],
    [unset, "id", true],
    [{ ...unset, value: false }, "id", false],
  ];
  for (const [where, sort, expected] of rows)
    assert.equal(isServedBy(where, sort), expected, `${JSON.stringify(where)} ${sort}`);
  const conflictOf = (path: string): string => JSON.stringify(document.paths[path].post.responses["409"] ?? null);
  assert.match(conflictOf("/memberships"), /ConflictTaken/);
  assert.match(conflictOf("/codeds"), /ConflictTaken/);
  assert.doesNotMatch(conflictOf("/plains"), /ConflictTaken/);
});

test("draws records for tests that differ in every set", () => {
  const seat = defineResource({
    name: "seat",
    fields: { row: integer({ minimum: 1, maximum: 5 }), place: integer({ minimum: 1, maximum: 5 }) },
    unique: [["row", "place"]],
  });

  const drafts = factory(seat, { seed: "seats" }).drafts(20);

  assert.equal(new Set(drafts.map(({ row, place }) => `${row} ${place}`)).size, 20);
});

// The compiler reports sets that no resource can have.
const fields = { user_id: integer(), line: text() };
const project = defineResource({ name: "project", fields: { name: text() } });
export const declared = [
  () => defineResource({ name: "note", fields, unique: [["user_id", "line"]] }),
  () => defineResource({ name: "note", within: project, fields, unique: [["project_id", "user_id", "line"]] }),
  // @ts-expect-error -- there is no field of this name
  () => defineResource({ name: "note", fields, unique: [["user", "line"]] }),
  // @ts-expect-error -- the resource has no parent
  () => defineResource({ name: "note", fields, unique: [["project_id", "line"]] }),
  // @ts-expect-error -- a set has at least two fields
  () => defineResource({ name: "note", fields, unique: [["line"]] }),
  // @ts-expect-error -- a list of sets is required
  () => defineResource({ name: "note", fields, unique: ["user_id", "line"] }),
  () =>
    defineResource({
      name: "note",
      fields,
      computed: { length: { as: integer(), from: () => 1 } },
      // @ts-expect-error -- a computed field is not stored
      unique: [["line", "length"]],
    }),
];
