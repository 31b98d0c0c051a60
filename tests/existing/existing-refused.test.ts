import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { anyone, defineResource, integer, mount, Secret, text } from "../../src/door/index.ts";
import { inspectPostgres, inspectSQLite, postgresStore } from "../../src/door/stores.ts";
import { onBoth, onPostgres, onSQLite, type Before } from "../harness/existing.ts";
import { ownService, type Own } from "../harness/own-service.ts";

const things = (writes: readonly ("create" | "update" | "delete")[] = ["create", "update", "delete"]) =>
  mount(
    defineResource({
      name: "thing",
      table: "thing",
      writes,
      fields: { name: text({ maxLength: 40, optional: true }), parent: integer({ optional: true }) },
    }),
    { permission: anyone },
  );

const raising = (name: string, what: string): string =>
  `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN ${what} END $f$;
   CREATE TRIGGER ${name} BEFORE INSERT OR UPDATE ON thing FOR EACH ROW WHEN (new.name = '${name}') EXECUTE FUNCTION ${name}();`;

/** Creates a service with a role that may create tables, and has the rights of `grants` on existing tables. */
async function serveAs(
  role: string,
  grants: string,
  { sql, url }: Before,
  t: TestContext,
  ...mounts: readonly ReturnType<typeof mount>[]
): Promise<Own> {
  await sql(`CREATE ROLE ${role} LOGIN PASSWORD 'pass'`);
  await sql(`GRANT ALL ON SCHEMA public TO ${role}`);
  await sql(`GRANT ${grants} TO ${role}`);
  const { href } = Object.assign(new URL(url), { username: role, password: "pass" });
  return ownService(t, { store: postgresStore({ url: new Secret(href), poolSize: 2 }), mounts });
}

onPostgres(
  "answers 400 if a trigger refuses a row with any SQLSTATE, and 500 if the trigger fails",
  `CREATE TABLE thing (id serial PRIMARY KEY, name text, parent integer);
   ${raising("own", "RAISE EXCEPTION 'no' USING ERRCODE = '45000';")}
   ${raising("word", "RAISE EXCEPTION 'no' USING ERRCODE = 'PT403';")}
   ${raising("rights", "RAISE insufficient_privilege;")}
   ${raising("wrong", "ASSERT FALSE;")}
   ${raising("nobody", "SELECT id INTO STRICT new.parent FROM thing WHERE FALSE; RETURN new;")}`,
  async ({ serve, sql }) => {
    const api = await serve(things());
    assert.equal((await api.ask("POST", "/things", { body: { name: "a" } })).status, 201);

    for (const [name, status] of [
      ["own", 400],
      ["word", 400],
      ["rights", 400],
      ["wrong", 500],
      ["nobody", 500],
    ] as const) {
      const tried = await Promise.all([
        api.ask("POST", "/things", { body: { name } }),
        api.ask("PATCH", "/things/1", { body: { name } }),
      ]);
      for (const answer of tried) assert.equal(answer.status, status, `${name}: ${answer.text}`);
    }
    assert.deepEqual(await sql("SELECT name FROM thing"), [{ name: "a" }]);
  },
);

onPostgres(
  "refuses a row that the row-level policy of the table forbids",
  `CREATE TABLE thing (id serial PRIMARY KEY, name text, parent integer);
   ALTER TABLE thing ENABLE ROW LEVEL SECURITY;
   CREATE POLICY mine ON thing USING (TRUE) WITH CHECK (name <> 'no');
   INSERT INTO thing (name) VALUES ('a');`,
  async (before, t) => {
    const { sql } = before;
    const api = await serveAs("watched", "ALL ON thing, thing_id_seq", before, t, things());

    const made = await api.ask("POST", "/things", { body: { name: "b" } });
    assert.equal(made.status, 201, made.text);
    for (const [method, path] of [
      ["POST", "/things"],
      ["PATCH", "/things/1"],
    ] as const) {
      const { status, text: said } = await api.ask(method, path, { body: { name: "no" } });
      assert.equal(status, 400, said);
    }
    assert.deepEqual(await sql("SELECT name FROM thing ORDER BY id"), [{ name: "a" }, { name: "b" }]);
  },
);

onPostgres(
  "names the columns that a role with rights on columns may not read, with a GRANT of these alone",
  `CREATE TABLE thing (id serial PRIMARY KEY, name text, parent integer, secret text);
   INSERT INTO thing (name) VALUES ('a');
   CREATE SCHEMA shop; CREATE TABLE shop.thing (id serial PRIMARY KEY, name text);`,
  async (before, t) => {
    const shown = (options: { readonly table?: string; readonly revision?: "digest" }) =>
      mount(
        defineResource({
          name: "thing",
          table: "thing",
          writes: ["update", "delete"],
          fields: { name: text({ maxLength: 40, optional: true }) },
          ...options,
        }),
        { permission: anyone },
      );
    const narrow = "SELECT (id, name), UPDATE (name), DELETE ON thing";

    for (const [role, grants, grant] of [
      [
        "narrow",
        narrow,
        'GRANT SELECT ("xmin") ON "thing" TO narrow; the ETags come from xmin, and with revision: "digest"',
      ],
      [
        "narrower",
        "SELECT (id, xmin), UPDATE (name), DELETE ON thing",
        'GRANT SELECT ("name") ON "thing" TO narrower.',
      ],
      ["blind", "UPDATE (name), DELETE ON thing", 'GRANT SELECT ("id", "name", "xmin") ON "thing" TO blind;'],
    ] as const)
      await assert.rejects(serveAs(role, grants, before, t, shown({})), (error: Error) => {
        assert.ok(error.message.includes(grant), error.message);
        assert.doesNotMatch(error.message, /on all tables/);
        return true;
      });
    await assert.rejects(serveAs("outside", narrow, before, t, shown({ table: "shop.thing" })), (error: Error) => {
      assert.match(error.message, /GRANT USAGE ON SCHEMA "shop" TO/);
      assert.doesNotMatch(error.message, /on all tables/);
      return true;
    });

    const api = await serveAs("digesting", narrow, before, t, shown({ revision: "digest" }));
    assert.equal((await api.ask("PATCH", "/things/1", { body: { name: "b" } })).json.name, "b");
    await before.sql("GRANT SELECT (xmin) ON thing TO digesting");
    const { href } = Object.assign(new URL(before.url), { username: "digesting", password: "pass" });
    const other = await ownService(t, { store: postgresStore({ url: new Secret(href) }), mounts: [shown({})] });
    assert.equal((await other.ask("PATCH", "/things/1", { body: { name: "c" } })).json.name, "c");
  },
);

onPostgres(
  "refuses to start with declared writes that a rule of the table prevents or that the role may not make",
  `CREATE TABLE thing (id serial PRIMARY KEY, name text, parent integer);
   CREATE RULE quiet AS ON UPDATE TO thing WHERE new.name = 'no' DO INSTEAD NOTHING;`,
  async (before, t) => {
    const { serve } = before;
    await assert.rejects(serve(things()), (error: Error) => {
      assert.match(error.message, /rows of thing cannot be changed \(.*rule.*\).*take "update" out of writes/i);
      assert.doesNotMatch(error.message, /made|removed/);
      return true;
    });
    await serve(things(["create", "delete"]));

    const grants = "SELECT, INSERT (name), DELETE ON thing";
    await assert.rejects(serveAs("reader", grants, before, t, things(["create", "delete"])), (error: Error) => {
      assert.match(error.message, /rows of thing cannot be made \(permission denied for table thing\)/);
      assert.doesNotMatch(error.message, /removed/);
      return true;
    });
  },
);

onPostgres(
  "does not create a record under a chosen id if the database always generates the ids",
  "CREATE TABLE thing (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text, parent integer);",
  async ({ serve }) => {
    const api = await serve(things());

    assert.equal((await api.ask("PUT", "/things/7", { body: { name: "a" } })).status, 404);
    assert.deepEqual((await api.ask("POST", "/things", { body: { name: "a" } })).json.id, 1);
    assert.equal((await api.ask("PUT", "/things/1", { body: { name: "b" } })).status, 200);
  },
);

onSQLite(
  "requires the id from the caller for a key that SQLite does not generate",
  "CREATE TABLE thing (id INTEGER PRIMARY KEY DESC, name text, parent integer);",
  async ({ serve, sql }) => {
    const api = await serve(things());

    const { status, json: problem } = await api.ask("POST", "/things", { body: { name: "a" } });
    assert.deepEqual([status, problem.errors?.[0].pointer], [400, "/id"]);
    assert.equal((await api.ask("PUT", "/things/7", { body: { name: "a" } })).status, 201);
    assert.deepEqual(
      (await sql("SELECT id FROM thing")).map(({ id }) => id),
      [7],
    );
  },
);

onBoth(
  "answers 400 if the database refuses an undeclared reference at the commit",
  {
    sqlite:
      "CREATE TABLE thing (id integer PRIMARY KEY, name text, parent integer REFERENCES thing (id) DEFERRABLE INITIALLY DEFERRED);",
    postgres:
      "CREATE TABLE thing (id serial PRIMARY KEY, name text, parent integer REFERENCES thing (id) DEFERRABLE INITIALLY DEFERRED);",
  },
  async ({ serve, sql }) => {
    const api = await serve(things());
    const made = await Promise.all(
      [1, 99, 2].map((parent) => api.ask("PUT", `/things/${parent % 90}`, { body: { name: "a", parent } })),
    );

    assert.deepEqual(
      made.map(({ status }) => status),
      [201, 400, 201],
    );
    const changed = await api.ask("PATCH", "/things/1", { body: { parent: 7 } });
    assert.deepEqual([changed.status, changed.json.errors?.[0].code], [400, "invalid"], changed.text);
    const rows = await sql("SELECT id, parent FROM thing ORDER BY id");
    assert.deepEqual(
      rows.map(({ id, parent }) => [id, parent]),
      [
        [1, 1],
        [2, 2],
      ],
    );
  },
);

onBoth(
  "names a row by all digits of its key if the key is beyond the safe integers",
  {
    sqlite: `CREATE TABLE big (id integer PRIMARY KEY, name text); INSERT INTO big VALUES (9007199254740993, 'a'), (9007199254740995, 'b');
      CREATE TABLE low (id integer PRIMARY KEY, name text); INSERT INTO low VALUES (-9007199254740993, 'a');`,
    postgres: `CREATE TABLE big (id bigint PRIMARY KEY, name text); INSERT INTO big VALUES (9007199254740993, 'a'), (9007199254740995, 'b');
      CREATE TABLE low (id bigint PRIMARY KEY, name text); INSERT INTO low VALUES (-9007199254740993, 'a');`,
  },
  async ({ serve, url, engine }) => {
    const over = (table: string) =>
      mount(defineResource({ name: table, table, fields: { name: text() } }), { permission: anyone });

    await assert.rejects(serve(over("big")), /in the rows 9007199254740993, 9007199254740995; mend/);
    await assert.rejects(serve(over("low")), /has a row with the key -9007199254740993, and ids/);
    const found =
      engine === "sqlite" ? await inspectSQLite(url.replace("sqlite:", "")) : await inspectPostgres(new Secret(url));
    assert.match(found.get("low")!.unserved!, /the key -9007199254740993,/);
  },
);

onBoth(
  "names a row without a computed value by all digits of its key",
  {
    sqlite:
      "CREATE TABLE far (id text PRIMARY KEY NOT NULL, n integer); INSERT INTO far VALUES ('9007199254740993', 1);",
    postgres: "CREATE TABLE far (id bigint PRIMARY KEY, n integer); INSERT INTO far VALUES (9007199254740993, 1);",
  },
  async ({ serve }) => {
    const far = defineResource({
      name: "far",
      table: "far",
      id: "text",
      fields: { n: integer() },
      computed: { made: { as: integer(), sql: "nullif(n, 1)" } },
    });

    await assert.rejects(serve(mount(far, { permission: anyone })), /in the rows 9007199254740993; mend it/);
  },
);
