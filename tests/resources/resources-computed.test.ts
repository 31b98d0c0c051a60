import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { authenticated, decimal, defineResource, integer, mount, reference, text } from "../../src/door/index.ts";
import { DeclarationError, olderShape } from "../../src/door/resources.ts";
import { serve, type API } from "../harness/serve.ts";

const people = defineResource({
  name: "person",
  plural: "people",
  fields: {
    first: text({ maxLength: 50 }),
    last: text({ maxLength: 50, optional: true }),
    secret: text({ writeOnly: true, optional: true }),
  },
  computed: {
    name: { as: text(), from: ({ first, last }) => (last === null ? first : `${first} ${last}`) },
    initial: {
      as: text({ optional: true, description: "Of the last name." }),
      from: ({ last, ...rest }) => {
        if (rest.first === "Boom") throw new Error("boom");
        if (rest.first === "Odd") return 7 as unknown as string;
        assert.equal("secret" in rest, false);
        return last?.slice(0, 1) ?? null;
      },
    },
  },
  filters: { first: ["eq"] },
  sorts: ["first"],
});
const lines = defineResource({
  name: "line",
  fields: { person_id: reference(people), count: integer(), price: decimal({ scale: 2, maximum: "999.99" }) },
  computed: {
    total: {
      as: decimal({ scale: 2, maximum: "999999.99" }),
      from: ({ count, price }) => ((count * Math.round(Number(price) * 100)) / 100).toFixed(2),
    },
  },
});
const mountedPeople = mount(people, {
  permission: authenticated,
  arrays: true,
  actions: {
    rename: {
      permission: authenticated,
      body: { to: text() },
      handle: ({ draft }) => ({ values: { first: draft.to } }),
    },
  },
});
const mountedLines = mount(lines, { permission: authenticated, expand: { person: "person_id" } });
const older = olderShape(mountedPeople, { prefix: "/v1", fields: { given: "first", full: "name" }, defaults: {} });

async function start(t: TestContext): Promise<API & { readonly as: Readonly<Record<string, string>> }> {
  const api = await serve(t, { config: { mounts: [mountedPeople, mountedLines, older] } });
  return { ...api, as: api.admin };
}

test("shows a computed field in every representation as read-only", async (t) => {
  const api = await start(t);
  const ann = { id: 1, first: "Ann", last: "Lee", name: "Ann Lee", initial: "L" };
  const bo = { id: 2, first: "Bo", last: null, name: "Bo", initial: null };

  const made = await api.post("/people", { first: "Ann", last: "Lee", secret: "s" }, api.as);
  assert.deepEqual([made.status, made.json], [201, ann], made.text);
  assert.deepEqual(Object.keys(made.json), ["id", "first", "last", "name", "initial"]);
  assert.deepEqual((await api.post("/people", { first: "Bo" }, api.as)).json, bo);
  assert.deepEqual((await api.get("/people/1", api.as)).json, ann);
  assert.deepEqual((await api.get("/people/1?fields=name", api.as)).json, { name: "Ann Lee" });
  assert.deepEqual((await api.get("/people", api.as)).json, [ann, bo]);
  assert.deepEqual((await api.get("/people?sort=-first&fields=id,name", api.as)).json, [
    { id: 2, name: "Bo" },
    { id: 1, name: "Ann Lee" },
  ]);
  assert.deepEqual((await api.get("/people?fields=id", api.as)).json, [{ id: 1 }, { id: 2 }]);
  const xml = await api.get("/people/2", { ...api.as, accept: "application/xml" });
  assert.match(xml.text, /<name>Bo<\/name><initial nil="true"\/>/);
  const csv = await api.get("/people", { ...api.as, accept: "text/csv" });
  assert.equal(csv.text, "id,first,last,name,initial\r\n1,Ann,Lee,Ann Lee,L\r\n2,Bo,,Bo,\r\n");
  const page = await api.get("/people", { ...api.as, accept: "text/html" });
  assert.match(page.text, /Ann Lee/);

  // A caller may send back the current value of a computed field. Only a different value is refused.
  assert.equal((await api.put("/people/2", { ...bo, first: "Bob" }, api.as)).json.name, "Bob");
  assert.equal((await api.put("/people/2", { ...bo, name: "Bob" }, api.as)).json.name, "Bo");
  assert.equal((await api.put("/people/2", { ...bo, name: "X" }, api.as)).json.errors[0].pointer, "/name");
  assert.deepEqual((await api.put("/people/1", ann, api.as)).json, ann);
  assert.equal((await api.patch("/people/1", { last: "Li" }, api.as)).json.name, "Ann Li");
  const removed = [{ op: "remove", path: "/name" }];
  const patch = { ...api.as, "content-type": "application/json-patch+json" };
  assert.equal((await api.patch("/people/1", removed, patch)).status, 400);
  for (const body of [
    { first: "A", name: "B" },
    { first: "A", initial: null },
  ])
    assert.equal((await api.post("/people", body, api.as)).json.errors[0].code, "read_only");
  assert.equal((await api.post("/people/1/rename", { to: "Eve" }, api.as)).json.name, "Eve Li");
  for (const query of ["name=Bo", "sort=name"]) assert.equal((await api.get(`/people?${query}`, api.as)).status, 400);

  const line = await api.post("/lines", { person_id: 1, count: 3, price: "1.25" }, api.as);
  assert.equal(line.json.total, "3.75");
  for (const path of ["/lines/1?expand=person", "/lines?expand=person"]) {
    const { json } = await api.get(path, api.as);
    const [shown] = [json].flat();
    assert.deepEqual([shown.total, shown.person.name], ["3.75", "Eve Li"], path);
  }
  assert.deepEqual((await api.get("/v1/people/2", api.as)).json, { id: 2, given: "Bo", full: "Bo" });
  assert.deepEqual((await api.get("/v1/people?fields=full", api.as)).json, [{ full: "Eve Li" }, { full: "Bo" }]);
  const many = Array.from({ length: 150 }, (_, at) => ({ first: `P${at}` }));
  assert.equal((await api.post("/people", many, api.as)).json[149].name, "P149");
  assert.equal((await api.get("/people?limit=1000", api.as)).json[151].name, "P149");
});

test("shows a computed field in the response to a repeated request", async (t) => {
  const api = await start(t);
  const key = { ...api.as, "idempotency-key": "once-and-again" };

  const once = await api.post("/people", { first: "Ann", secret: "s" }, key);
  const again = await api.post("/people", { first: "Ann", secret: "s" }, key);

  assert.deepEqual([again.headers.get("idempotency-replayed"), again.json], ["true", once.json]);
});

test("reports a failing function of a computed field as a fault, and writes nothing", async (t) => {
  const api = await start(t);
  await api.post("/people", { first: "Ann" }, api.as);

  for (const first of ["Boom", "Odd"]) {
    const writes: readonly (readonly [method: string, path: string, body: unknown])[] = [
      ["POST", "/people", { first }],
      ["POST", "/people", [{ first: "Fine" }, { first }]],
      ["PUT", "/people/1", { first }],
      ["PUT", "/people/77", { first }],
      ["PATCH", "/people/1", { first }],
      ["PATCH", "/people", [{ id: 1, first }]],
      ["POST", "/people/1/rename", { to: first }],
      ["POST", "/v1/people", { given: first }],
    ];
    for (const [method, path, body] of writes)
      assert.equal((await api.ask(method, path, { body, headers: api.as })).status, 500, `${method} ${path} ${first}`);
  }
  const { json } = await api.get("/people", api.as);
  assert.deepEqual(
    json.map((each: { first: string }) => each.first),
    ["Ann"],
  );
  const faults = api.observed.flatMap((each) => (each.kind === "fault" ? [String(each.error)] : []));
  assert.equal(faults.length, 16);
  assert.match(faults.at(-1)!, /\/people: the computed field initial gave a value that its kind does not take/);
});

test("describes a computed field as read-only in the API's description", async (t) => {
  const api = await start(t);
  const { Person, PersonDraft, PersonPatch } = (await api.get("/openapi.json")).json.components.schemas;

  assert.deepEqual(Person.properties.name.readOnly, true);
  assert.deepEqual(Person.properties.initial.type, ["string", "null"]);
  assert.ok(Person.required.includes("initial"));
  assert.equal(PersonDraft.properties.name.readOnly, true);
  assert.deepEqual(PersonDraft.required, ["first"]);
  assert.equal(PersonPatch.properties.initial.readOnly, true);
});

test("reports all mistakes in computed fields together", () => {
  const from = (): string => "";
  const wrong = (computed: object, more: object = {}): never =>
    ({ name: "a", fields: { b: text() }, computed, ...more }) as never;
  const rows: readonly (readonly [never, readonly RegExp[]])[] = [
    [wrong([]), [/computed is a list/]],
    [wrong({ b: { as: text(), from } }), [/computed b: there is a field of this name/]],
    [wrong({ id: { as: text(), from }, "C-": { as: text(), from } }), [/computed id/, /computed C-/]],
    [
      wrong({ c: 7, d: { as: text() }, e: { form: from, as: 1, from } }),
      [/computed c: it is 7/, /computed d: from is missing/, /computed e: .*no option form/],
    ],
    [
      wrong({ c: { as: text({ unique: true, default: "x", writeOnly: true }), from } }),
      [/unique applies to stored fields/, /default applies/, /writeOnly applies/],
    ],
    [
      wrong({ c: { as: text(), from } }, { filters: { c: ["eq"] }, sorts: ["c"], search: ["c"] }),
      [/filter c: it is computed/, /sort c: it is computed/, /search c: it is computed/],
    ],
  ];
  for (const [declaration, messages] of rows)
    assert.throws(
      () => defineResource(declaration),
      (error: unknown) => {
        assert.ok(error instanceof DeclarationError, String(error));
        for (const message of messages) assert.match(error.message, message);
        return true;
      },
    );
});
