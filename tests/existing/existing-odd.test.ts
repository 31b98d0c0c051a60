import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import {
  anyone,
  dateTime,
  decimal,
  defineResource,
  integer,
  json,
  mount,
  reference,
  Secret,
  text,
} from "../../src/door/index.ts";
import { date } from "../../src/door/resources.ts";
import { checkSQLite, inspectPostgres, inspectSQLite } from "../../src/door/stores.ts";
import { formatDeclarations } from "../../src/service/inspecting/inspect.ts";
import type { ConfigFile } from "../../src/service/settings/config-file/config-file.ts";
import { onBoth, onPostgres, onSQLite, type Before } from "../harness/existing.ts";
import "../harness/doors-of-source.ts";

/** Returns the declarations that `db inspect` writes for a database. */
async function inspected({ engine, url }: Before): Promise<string> {
  return formatDeclarations(
    engine === "sqlite" ? await inspectSQLite(url.replace("sqlite:", "")) : await inspectPostgres(new Secret(url)),
  );
}

onPostgres(
  "finds and serves tables with dots and quotes in their names",
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

onBoth("serves a column named id that is not the key, and a column named constructor", ownNames, async (before, t) => {
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
  "declares a column of a nested domain as a field of the base type",
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
  "declares only filters that an index serves",
  `CREATE EXTENSION citext; CREATE TABLE people (id serial PRIMARY KEY, email citext NOT NULL UNIQUE, code char(4) UNIQUE);`,
  async (before) => {
    assert.doesNotMatch(await inspected(before), /filters/);
    await before.sql("DROP EXTENSION citext CASCADE");
  },
);

onPostgres(
  "inspects and serves numerics with a negative scale, or with a scale above the precision",
  "CREATE TABLE stock (id serial PRIMARY KEY, rough numeric(5,-2), fine numeric(3,5)); INSERT INTO stock (rough, fine) VALUES (9999900, 0.00999);",
  async (before) => {
    const declared = await inspected(before);
    assert.match(declared, /rough: decimal\(\{ scale: 0, minimum: "-9999900", maximum: "9999900", optional: true \}\)/);
    assert.match(
      declared,
      /fine: decimal\(\{ scale: 5, minimum: "-0\.00999", maximum: "0\.00999", optional: true \}\)/,
    );
    const rough = decimal({ scale: 0, maximum: "9999900" });
    const stock = {
      name: "stock",
      plural: "stock",
      table: "stock",
      fields: { rough, fine: decimal({ scale: 5, maximum: "0.00999" }) },
    };
    const api = await before.serve(mount(defineResource(stock), { permission: anyone }));

    assert.deepEqual((await api.get("/stock")).json, [{ id: 1, rough: "9999900", fine: "0.00999" }]);
  },
);

onPostgres(
  "stores the first and the last date-time in a column with a time zone",
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
  "refuses a value that is out of the range of its column, and names the field",
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
  "finds no record for a key with a NUL, in a path or as a reference",
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

for (const [type, value, field] of [
  ["datetime", "0000-00-00 00:00:00", dateTime()],
  ["datetime", "2026-13-01 00:00:00", dateTime()],
  ["date", "2026-00-10", date()],
] as const)
  onSQLite(
    `refuses to start if a row has a ${type} that does not exist, and names the row: ${value}`,
    `CREATE TABLE post (id integer PRIMARY KEY, at ${type} NOT NULL DEFAULT '${value}'); INSERT INTO post (id) VALUES (7)`,
    async ({ serve }) => {
      const posts = defineResource({ name: "post", table: "post", fields: { at: field } });

      await assert.rejects(serve(mount(posts, { permission: anyone })), (error: Error) => {
        assert.match(`${error.message} ${String(error.cause)}`, /post\.at has values .* in the rows 7/);
        return true;
      });
    },
  );

onSQLite(
  "stores and shows a number in a column of the type json, whose affinity is numeric",
  "CREATE TABLE note (id integer PRIMARY KEY, meta json)",
  async ({ serve }) => {
    const fields = { meta: json({ optional: true }) };
    const notes = defineResource({ name: "note", table: "note", writes: ["create", "update"], fields });
    const api = await serve(mount(notes, { permission: anyone }));

    for (const meta of [-1, 0, 0.5, 1e-7, 2 ** 53 - 1, "12", true, null, [1], { a: 1.5 }]) {
      const { status, json: made, text: said } = await api.ask("POST", "/notes", { body: { meta } });
      assert.equal(status, 201, said);
      assert.deepEqual(made.meta, meta);
      assert.deepEqual((await api.get(`/notes/${made.id}`)).json.meta, meta);
    }
    assert.equal((await api.get("/notes")).json.length, 10);
  },
);

onSQLite(
  "reports a view that calls a function of another program, and declares the other tables",
  "CREATE TABLE book (id integer PRIMARY KEY, tags text); CREATE VIEW shelf AS SELECT id, sortconcat(tags) AS tags FROM book",
  async (before) => {
    const declared = await inspected(before);

    assert.match(declared, /shelf is not declared: it cannot be read: no such function: sortconcat\./);
    assert.match(declared, /defineResource\(\{\n {2}name: "book"/);
  },
);

onBoth(
  "reports a table that has a row with the key 0, and declares a reference to it as an integer",
  "CREATE TABLE language (id integer PRIMARY KEY, name text NOT NULL); INSERT INTO language VALUES (0, 'none'), (1, 'Deutsch'); CREATE TABLE post (id integer PRIMARY KEY, language_id integer NOT NULL REFERENCES language(id)); INSERT INTO post VALUES (1, 0);",
  async (before) => {
    const declared = await inspected(before);

    assert.match(declared, /\/\/ language is not declared: it has a row with the key 0/);
    assert.match(declared, /language_id: integer\(/);
  },
);

onPostgres(
  "shows a network address as it was written",
  "CREATE TABLE visit (id serial PRIMARY KEY, address inet NOT NULL)",
  async ({ serve }) => {
    const visits = defineResource({
      name: "visit",
      table: "visit",
      writes: ["create", "update"],
      fields: { address: text() },
      filters: { address: ["eq"] },
      scans: true,
    });
    const api = await serve(mount(visits, { permission: anyone }));

    for (const address of ["10.0.0.1", "10.0.0.0/8", "2001:db8::1"]) {
      const made = await api.ask("POST", "/visits", { body: { address } });
      assert.equal(made.json.address, address);
      assert.deepEqual((await api.get(`/visits?address=${encodeURIComponent(address)}`)).json, [made.json]);
    }
  },
);

onPostgres(
  "answers 500 if a trigger does not find its table, and continues to serve",
  `CREATE SCHEMA shop; CREATE TABLE shop.note (id serial PRIMARY KEY, body text NOT NULL); CREATE TABLE shop.log (at timestamptz);
   CREATE FUNCTION shop.noted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log VALUES (now()); RETURN NEW; END $$;
   CREATE TRIGGER noted AFTER INSERT ON shop.note FOR EACH ROW EXECUTE FUNCTION shop.noted();`,
  async ({ serve, sql }) => {
    const notes = defineResource({ name: "note", table: "shop.note", writes: ["create"], fields: { body: text() } });
    const api = await serve(mount(notes, { permission: anyone }));

    assert.equal((await api.ask("POST", "/notes", { body: { body: "x" } })).status, 500);
    assert.deepEqual(await sql("SELECT * FROM shop.note"), []);
    assert.equal((await api.get("/notes")).status, 200);
  },
);

onSQLite(
  "refuses a row without a key, even if the table would accept it",
  "CREATE TABLE customer (id text PRIMARY KEY, name text)",
  async ({ serve, sql }) => {
    const customers = defineResource({
      name: "customer",
      table: "customer",
      id: "text",
      writes: ["create", "update"],
      fields: { name: text() },
    });
    const api = await serve(mount(customers, { permission: anyone }));

    const { status, json: problem, text: said } = await api.ask("POST", "/customers", { body: { name: "Ada" } });
    assert.deepEqual([status, problem.errors?.[0].pointer], [400, "/id"], said);
    assert.deepEqual(await sql("SELECT * FROM customer"), []);
  },
);

onPostgres(
  "refuses a value that breaks a CHECK or has a wrong type, and names the field if only one field can be wrong",
  `CREATE TABLE thing (id serial PRIMARY KEY, stock integer CONSTRAINT "in stock" CHECK (stock >= 0), address inet, lasts interval, info jsonb,
   least integer, most integer, CHECK (least <= most))`,
  async ({ serve }) => {
    const optional = { optional: true } as const;
    const fields = {
      stock: integer({ ...optional, minimum: -9 }),
      address: text(optional),
      lasts: text(optional),
      info: json(optional),
      least: integer(optional),
      most: integer(optional),
    };
    const things = defineResource({ name: "thing", table: "thing", writes: ["create"], fields });
    const api = await serve(mount(things, { permission: anyone }));

    for (const [body, pointer] of [
      [{ stock: -1 }, "/stock"],
      [{ stock: 1, address: "nonsense" }, "/address"],
      [{ address: "10.0.0.1", stock: 2 ** 31 }, "/stock"],
      [{ lasts: "nonsense" }, "/lasts"],
      [{ info: { a: "\0" } }, "/info"],
      [{ least: 2, most: 1 }, ""],
      [{ address: "10.0.0.1", lasts: "nonsense" }, ""],
    ] as const) {
      const { status, json: problem } = await api.ask("POST", "/things", { body });
      assert.deepEqual([status, problem.errors?.[0].pointer], [400, pointer], JSON.stringify(body));
    }
  },
);

onSQLite(
  "refuses a value that breaks a CHECK, and names the field if the CHECK is about one column",
  `CREATE TABLE thing (id integer PRIMARY KEY, "in stock" integer, sold integer CHECK (sold >= 0), least integer, most integer, CHECK (least <= most))`,
  async ({ serve }) => {
    const optional = { optional: true, minimum: -9 } as const;
    const fields = { sold: integer(optional), least: integer(optional), most: integer(optional) };
    const things = defineResource({ name: "thing", table: "thing", writes: ["create"], fields });
    const api = await serve(mount(things, { permission: anyone }));

    for (const [body, pointer] of [
      [{ sold: -1 }, "/sold"],
      [{ least: 2, most: 1 }, ""],
    ] as const) {
      const { status, json: problem } = await api.ask("POST", "/things", { body });
      assert.deepEqual([status, problem.errors[0].pointer], [400, pointer]);
    }
  },
);

onBoth(
  "filters a column named format by `format[eq]`, because the parameter `format` selects the format of the response",
  "CREATE TABLE medium (id integer PRIMARY KEY, format integer NOT NULL UNIQUE)",
  async (before) => {
    const filters = { format: ["eq"] } as const;
    const media = defineResource({ name: "medium", table: "medium", fields: { format: integer() }, filters });
    const api = await before.serve(mount(media, { permission: anyone }));

    assert.match(await inspected(before), /filters: \{ format: \["eq"\] \}/);
    assert.deepEqual((await api.get("/mediums?format[eq]=1&format=json")).json, []);
  },
);

onSQLite(
  "reads and writes date-times in a text column in the form that JavaScript writes",
  `CREATE TABLE event (id integer PRIMARY KEY, at text); INSERT INTO event (at) VALUES (NULL), ('2026-01-31T09:30:00.000Z')`,
  async ({ serve, sql }) => {
    const fields = { at: dateTime({ optional: true }) };
    const events = defineResource({ name: "event", table: "event", writes: ["create"], fields });
    const api = await serve(mount(events, { permission: anyone }));

    assert.equal((await api.get("/events/2")).json.at, "2026-01-31T09:30:00.000Z");
    assert.equal((await api.ask("POST", "/events", { body: { at: "2026-01-31T10:30:00+01:00" } })).status, 201);
    assert.equal((await sql("SELECT at FROM event WHERE id = 3"))[0]!["at"], "2026-01-31T09:30:00.000Z");
  },
);

for (const [between, end, type] of [
  [" ", "", "timestamp"],
  [" ", "+00:00", "text"],
  ["T", "", "datetime"],
  ["T", "+00:00", "text"],
] as const) {
  const written = (day: number, rest = ""): string => `2026-01-0${day}${between}09:30:00${rest}${end}`;
  onSQLite(
    `shows, finds, sorts and writes date-times in the form ${written(1, ".5")}`,
    `CREATE TABLE event (id integer PRIMARY KEY, at ${type} NOT NULL); CREATE INDEX by_at ON event (at);
     INSERT INTO event (at) VALUES ('${written(1)}'), ('${written(1, ".123456")}'), ('${written(1, ".5")}'), ('${written(2, ".500")}')`,
    async ({ serve, sql }) => {
      const events = defineResource({
        name: "event",
        table: "event",
        writes: ["create", "update"],
        fields: { at: dateTime() },
        filters: { at: ["eq", "ne", "gt", "gte", "lt", "lte", "in"] },
        sorts: ["at"],
        scans: true,
      });
      const api = await serve(mount(events, { permission: anyone }));
      const ids = async (query: string): Promise<readonly number[]> =>
        (await api.get(`/events?${query}`)).json.map(({ id }: { id: number }) => id);

      assert.deepEqual(
        (await api.get("/events")).json.map(({ at }: { at: string }) => at),
        ["2026-01-01T09:30:00Z", "2026-01-01T09:30:00.123456Z", "2026-01-01T09:30:00.5Z", "2026-01-02T09:30:00.500Z"],
      );
      assert.deepEqual(await ids("sort=-at"), [4, 3, 2, 1]);
      assert.deepEqual(await ids("at=2026-01-01T09:30:00.500Z"), [3]);
      assert.deepEqual(await ids("at=2026-01-01T09:30:00.123456Z"), [2]);
      assert.deepEqual(await ids("at=2026-01-01T10:30:00%2B01:00"), [1]);
      assert.deepEqual(await ids("at[in]=2026-01-01T09:30:00Z,2026-01-02T09:30:00.5Z"), [1, 4]);
      assert.deepEqual(await ids("at[gt]=2026-01-01T09:30:00Z"), [2, 3, 4]);
      assert.deepEqual(await ids("at[gte]=2026-01-01T09:30:00.5Z&at[lt]=2026-01-02T00:00:00Z"), [3]);
      assert.deepEqual(await ids("at[lte]=2026-01-01T09:30:00.5Z"), [1, 2, 3]);
      const first = await api.get("/events?sort=at&limit=2");
      const next = /<([^>]+)>; rel="?next"?/.exec(first.headers.get("link") ?? "")![1]!;
      assert.deepEqual(
        (await api.get(next.replace(/^https?:\/\/[^/]+/, ""))).json.map(({ id }: { id: number }) => id),
        [3, 4],
      );
      assert.equal((await api.ask("POST", "/events", { body: { at: "2026-01-03T10:30:00+01:00" } })).status, 201);
      assert.equal((await sql("SELECT at FROM event WHERE id = 5"))[0]!["at"], written(3, ".000"));
    },
  );
}

for (const theirs of [0, 1, 27])
  onSQLite(
    `serves a file with the user_version ${theirs} of another program, and does not change it`,
    `CREATE TABLE book (id integer PRIMARY KEY, title text NOT NULL); INSERT INTO book VALUES (1, 'x'); PRAGMA user_version = ${theirs}`,
    async ({ serve, sql, url }) => {
      const books = defineResource({ name: "book", table: "book", writes: ["update"], fields: { title: text() } });
      const notes = defineResource({ name: "note", fields: { body: text() } });
      const start = (): ReturnType<typeof serve> =>
        serve(mount(books, { permission: anyone }), mount(notes, { permission: anyone }));
      const api = await start();

      assert.equal((await api.ask("POST", "/notes", { body: { body: "ours" } })).status, 201);
      assert.equal((await api.get("/books/1")).json.title, "x");
      await api.service.close();
      assert.deepEqual(
        (await sql("PRAGMA user_version")).map((row) => row["user_version"]),
        [theirs],
      );
      await sql(`PRAGMA user_version = ${theirs + 5}`);
      assert.equal((await (await start()).get("/notes/1")).json.body, "ours");
      assert.deepEqual((await checkSQLite(url.replace("sqlite:", ""))).problems, []);
      await sql("UPDATE latchkey_version SET version = 99");
      await assert.rejects(start(), /schema version 99/);
    },
  );

onSQLite(
  "refuses to start if a trigger calls a function of another program, and names the writes that fire the trigger",
  `CREATE TABLE book (id integer PRIMARY KEY, title text NOT NULL, sort text, pages integer);
   CREATE TRIGGER sorted AFTER INSERT ON book BEGIN UPDATE book SET sort = title_sort(NEW.title) WHERE id = NEW.id; END;
   CREATE TRIGGER renamed AFTER UPDATE OF title ON book BEGIN UPDATE book SET sort = title_sort(NEW.title) WHERE id = NEW.id; END;
`,
  async ({ serve, sql }) => {
    const book = (writes: readonly ("create" | "update" | "delete")[], isFixed = false): ReturnType<typeof mount> =>
      mount(
        defineResource({
          name: "book",
          table: "book",
          writes,
          fields: { title: text({ readOnly: isFixed, filled: isFixed }), pages: integer({ optional: true }) },
        }),
        { permission: anyone },
      );

    await assert.rejects(serve(book(["create", "update", "delete"])), (error: Error) => {
      assert.match(error.message, /cannot be made \(no such function: title_sort\).*take "create" out of writes/);
      assert.match(error.message, /cannot be changed \(no such function: title_sort\)/);
      assert.doesNotMatch(error.message, /removed/);
      return true;
    });
    assert.deepEqual(await sql("SELECT name FROM sqlite_schema WHERE name LIKE 'latchkey%'"), []);
    const api = await serve(book(["update", "delete"], true));
    assert.equal((await api.get("/books")).status, 200);
  },
);
