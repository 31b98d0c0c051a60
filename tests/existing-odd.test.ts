import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { anyone, dateTime, defineResource, integer, mount, reference, Secret, text } from "../src/door/index.ts";
import { inspectPostgres, inspectSQLite } from "../src/door/stores.ts";
import { declarationsOf } from "../src/service/inspecting/inspect.ts";
import type { ConfigFile } from "../src/service/system/config-file.ts";
import { onBoth, onPostgres, type Before } from "./existing.ts";
import "./from-source.ts";

/** Tables with the traits that schemas of others have, and that a tidy one has not. */

async function inspected({ engine, url }: Before): Promise<string> {
  return declarationsOf(
    engine === "sqlite" ? await inspectSQLite(url.replace("sqlite:", "")) : await inspectPostgres(new Secret(url)),
  );
}

onPostgres(
  "tables whose names have points and quotes are found, and served",
  `CREATE SCHEMA "Odd.Schema";
   CREATE SCHEMA a;
   CREATE TABLE "Odd.Schema"."Ta.ble ""x""" (id serial PRIMARY KEY, v text);
   CREATE TABLE "a.b" (id serial PRIMARY KEY, v text);
   CREATE TABLE a.b (id serial PRIMARY KEY, v text, other integer REFERENCES "a.b");
   INSERT INTO "Odd.Schema"."Ta.ble ""x""" (v) VALUES ('odd');
   INSERT INTO "a.b" (v) VALUES ('pointed');
   INSERT INTO a.b (v, other) VALUES ('in a schema', 1);`,
  async (before) => {
    const declared = await inspected(before);
    const tables = [...declared.matchAll(/^ {2}table: (".*"),$/gm)].map(([, name]) => JSON.parse(name!) as string);
    const resources = ["one", "two", "three"].map((name, at) =>
      mount(defineResource({ name, table: tables.toSorted()[at]!, fields: { v: text() } }), { permission: anyone }),
    );
    const api = await before.serve(...resources);

    assert.deepEqual(tables.toSorted(), ['"Odd.Schema"."Ta.ble ""x"""', '"a.b"', "a.b"]);
    assert.match(declared, /other: reference\("a_bs"/);
    const shown = await Promise.all(["ones", "twos", "threes"].map(async (at) => (await api.get(`/${at}`)).json[0].v));
    assert.deepEqual(shown, ["odd", "pointed", "in a schema"]);
  },
);

const ownNames = {
  sqlite: `CREATE TABLE person (pk integer PRIMARY KEY, id integer NOT NULL, constructor text UNIQUE); INSERT INTO person VALUES (1, 7, 'x');`,
  postgres: `CREATE TABLE person (pk serial PRIMARY KEY, id integer NOT NULL, constructor text UNIQUE); INSERT INTO person VALUES (1, 7, 'x');`,
};

onBoth("a column named id beside the key, and one named constructor, are served", ownNames, async (before, t) => {
  const declared = await inspected(before);
  const folder = mkdtempSync(path.join(import.meta.dirname, ".inspected-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, "latchkey.config.ts");
  writeFileSync(file, declared);
  const { default: config } = (await import(pathToFileURL(file).href)) as { readonly default: ConfigFile };
  const api = await before.serve(...config.mounts!);

  assert.match(declared, /columns: \{ id: "pk", own_id: "id", own_constructor: "constructor" \}/);
  assert.deepEqual((await api.get("/persons?own_constructor=x", { as: "root" })).json, [
    { id: 1, own_id: 7, own_constructor: "x" },
  ]);
});

onPostgres(
  "a domain of a domain is told as the type behind both",
  `CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
   CREATE DOMAIN small AS positive NOT NULL CHECK (VALUE < 100);
   CREATE DOMAIN label AS varchar(20);
   CREATE DOMAIN nickname AS label DEFAULT 'x';
   CREATE TABLE things (id serial PRIMARY KEY, amount small, title nickname);`,
  async (before) => {
    const declared = await inspected(before);

    assert.match(declared, /amount: integer\(\)/);
    assert.match(
      declared,
      /title: text\(\{ minLength: 0, maxLength: 20, trim: false, optional: true, filled: true \}\)/,
    );
  },
);

onPostgres(
  "a filter that inspect writes is served by an index",
  `CREATE EXTENSION citext; CREATE TABLE people (id serial PRIMARY KEY, email citext NOT NULL UNIQUE, code char(4) UNIQUE);`,
  async (before) => {
    assert.doesNotMatch(await inspected(before), /filters/);
    await before.sql("DROP EXTENSION citext CASCADE");
  },
);

onPostgres(
  "a date-time of the first and of the last day is kept with a time zone",
  "CREATE TABLE event (id serial PRIMARY KEY, at timestamptz NOT NULL);",
  async ({ serve }) => {
    const events = defineResource({ name: "event", table: "event", writes: ["create"], fields: { at: dateTime() } });
    const api = await serve(mount(events, { permission: anyone }));

    for (const at of ["0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"]) {
      const made = await api.ask("POST", "/events", { body: { at } });
      assert.equal(made.status, 201, made.text);
      assert.equal(new Date(made.json.at).toISOString(), at);
    }
  },
);

onPostgres(
  "a value that the type of its column does not hold is told with its field",
  "CREATE TABLE parent (id serial PRIMARY KEY); CREATE TABLE child (id serial PRIMARY KEY, amount smallint, parent_id integer REFERENCES parent, name varchar(3));",
  async ({ serve, sql }) => {
    const parents = defineResource({ name: "parent", table: "parent", fields: {} });
    const children = defineResource({
      name: "child",
      plural: "children",
      table: "child",
      writes: ["create"],
      fields: {
        amount: integer({ optional: true }),
        parent_id: reference(parents, { optional: true }),
        name: text({ optional: true }),
      },
    });
    const api = await serve(mount(parents, { permission: anyone }), mount(children, { permission: anyone }));

    for (const [field, value] of [
      ["amount", 32_768],
      ["parent_id", 2 ** 31],
      ["name", "four"],
    ] as const) {
      const { status, json } = await api.ask("POST", "/children", { body: { amount: -32_768, [field]: value } });
      assert.deepEqual([status, json.errors[0].pointer], [400, `/${field}`]);
    }
    assert.deepEqual(await sql("SELECT count(*)::integer AS rows FROM child"), [{ rows: 0 }]);
  },
);

onBoth(
  "a key with a NUL is nobody's, in an address and as a reference",
  "CREATE TABLE country (id text PRIMARY KEY, parent text REFERENCES country(id));",
  async ({ serve, sql }) => {
    const countries = defineResource({
      name: "country",
      plural: "countries",
      table: "country",
      id: "text",
      writes: ["create", "update"],
      fields: { parent: reference("countries", { id: "text", optional: true }) },
    });
    const permission = { list: anyone, read: anyone, update: anyone, replace: anyone };
    const api = await serve(mount(countries, { permission }));

    assert.equal((await api.ask("PUT", "/countries/ch", { body: { parent: "ch\0" } })).status, 400);
    assert.equal((await api.get("/countries/ch%00")).status, 404);
    assert.ok((await api.ask("PUT", "/countries/ch%00", { body: {} })).status < 500);
    assert.deepEqual(await sql("SELECT * FROM country"), []);
  },
);
