import assert from "node:assert/strict";
import { test } from "node:test";
import { anyone, defineResource, integer, mount, text } from "../../src/door/index.ts";
import { DeclarationError } from "../../src/door/resources.ts";
import { onBoth } from "../harness/existing.ts";

// Names that SQL, JavaScript or our own code also uses.
const names =
  "r t rowid oid index values constructor to_string value_of prototype current_user page record ends rows related key json found more total at value old new row select order group user from null default change word c0 folded told".split(
    " ",
  );

onBoth("accepts field names that are keywords of SQL", "SELECT 1", async ({ serve }) => {
  const fields = Object.fromEntries(names.map((name) => [name, text({ maxLength: 50, optional: true })]));
  const each = <V>(value: V) => Object.fromEntries(names.map((name) => [name, value]));
  const thing = defineResource({
    name: "thing",
    fields: { ...fields, last: integer() },
    filters: each(["eq", "icontains"] as const),
    sorts: names as never,
    search: names as never,
    scans: true,
  });
  const part = defineResource({ name: "part", within: thing, fields });
  const parts = mount(part, { permission: anyone });
  const api = await serve(mount(thing, { permission: anyone, expand: { parts } }), parts);
  const first = await api.ask("POST", "/things", { body: { ...each("One of them"), last: 1 } });
  await api.ask("POST", "/things/1/parts", { body: each("Part") });

  for (const name of names) {
    for (const query of [`${name}[eq]=One%20of%20them`, `${name}[icontains]=ONE`, `sort=-${name}`, "search=them"]) {
      const found = await api.get(`/things?${query}`);
      assert.deepEqual([found.status, found.json?.[0]], [200, first.json], `${name}: ${query} ${found.text}`);
    }
  }
  const expanded = await api.get("/things?expand=parts");
  assert.equal(expanded.json[0].parts[0].r, "Part", expanded.text);
  const changed = await api.ask("PATCH", "/things/1", { body: each("Two") });
  assert.deepEqual(changed.json, { ...first.json, ...each("Two") });
});

test("reports reserved names of a database when they are declared", () => {
  for (const name of ["true", "false", "ctid", "xmin", "tableoid"]) {
    assert.throws(
      () => defineResource({ name: "thing", fields: { [name]: text() } }),
      new RegExp(`field ${name}: ${name} is a reserved name of databases`),
    );
    assert.throws(
      () => defineResource({ name: "thing", fields: {}, computed: { [name]: { as: text(), from: () => "" } } }),
      /a reserved name of databases/,
    );
  }
});

onBoth(
  "reads an existing column with a reserved name under another name",
  `CREATE TABLE theirs (id integer PRIMARY KEY, "true" text, "false" integer); INSERT INTO theirs VALUES (1, 'Ann', 7)`,
  async ({ serve }) => {
    const their = defineResource({
      name: "their",
      table: "theirs",
      columns: { yes: "true", no: "false" },
      fields: { yes: text({ maxLength: 9, optional: true }), no: integer({ optional: true }) },
      computed: { loud: { as: text({ optional: true }), sql: `"yes" || '!'` } },
      filters: { yes: ["eq"], no: ["gt"] },
      scans: true,
    });
    const api = await serve(mount(their, { permission: anyone }));

    assert.deepEqual((await api.get("/theirs?yes=Ann&no[gt]=6")).json, [{ id: 1, yes: "Ann", no: 7, loud: "Ann!" }]);
  },
);

onBoth("refuses a declaration with too long a name on every database", "SELECT 1", async ({ serve }) => {
  const long = defineResource({ name: "thing", fields: { ["a".repeat(64)]: text() } });
  await assert.rejects(serve(mount(long, { permission: anyone })), DeclarationError);
});
