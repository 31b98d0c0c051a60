import assert from "node:assert/strict";
import { anyone, decimal, defineResource, json, mount, Secret, text } from "../../src/door/index.ts";
import { array } from "../../src/door/resources.ts";
import { inspectPostgres, inspectSQLite } from "../../src/door/stores.ts";
import { formatDeclarations } from "../../src/service/inspecting/inspect.ts";
import { onPostgres, onSQLite } from "../harness/existing.ts";

onPostgres(
  "writes lists to columns that are arrays in the database",
  `CREATE TYPE size AS ENUM ('s', 'l');
   CREATE TABLE shirt (id serial PRIMARY KEY, tags varchar(5)[], sizes size[], counts integer[], notes jsonb[]);
   INSERT INTO shirt (counts) VALUES ('{{1,2},{3,4}}');`,
  async ({ serve, sql, url }) => {
    const optional = { optional: true } as const;
    const shirts = defineResource({
      name: "shirt",
      table: "shirt",
      writes: ["create", "update"],
      fields: {
        tags: array(text({ maxLength: 10 }), optional),
        sizes: array(text(), optional),
        counts: json(optional),
        notes: json(optional),
      },
    });
    const api = await serve(mount(shirts, { permission: anyone, arrays: true }));
    const body = { tags: ['a,"b', "{}", "c"], sizes: ["l", "s"], counts: [3, null, 1], notes: ["x", { a: [1] }] };

    const made = await api.ask("POST", "/shirts", { body: [body, { tags: [] }] });
    assert.equal(made.status, 201, made.text);
    assert.deepEqual(made.json, [
      { id: 2, ...body },
      { id: 3, tags: [], sizes: null, counts: null, notes: null },
    ]);
    const changed = await api.ask("PATCH", "/shirts/1", { body: { tags: ["x"] } });
    assert.deepEqual(changed.json, {
      id: 1,
      tags: ["x"],
      sizes: null,
      counts: [
        [1, 2],
        [3, 4],
      ],
      notes: null,
    });
    assert.equal((await api.ask("PATCH", "/shirts/1", { body: { tags: null } })).json.tags, null);
    for (const [wrong, name] of [
      [{ tags: ["too long"] }, "tags"],
      [{ sizes: ["xl"] }, "sizes"],
      [{ counts: ["x"] }, "counts"],
      [{ counts: { a: 1 } }, "counts"],
    ] as const) {
      const { status, json: problem, text: said } = await api.ask("PATCH", "/shirts/1", { body: wrong });
      assert.deepEqual([status, problem.errors?.[0].pointer], [400, `/${name}`], said);
    }
    assert.deepEqual(await sql("SELECT tags, counts FROM shirt WHERE id = 2"), [
      { tags: body.tags, counts: body.counts },
    ]);
    assert.match(formatDeclarations(await inspectPostgres(new Secret(url))), /tags: json\(\{ optional: true \}\)/);
  },
);

onPostgres(
  "refuses to start with a writable decimal whose column would round written values",
  "CREATE TABLE price (id serial PRIMARY KEY, net numeric(9,2), pieces integer); INSERT INTO price (net, pieces) VALUES (1.5, 2);",
  async ({ serve }) => {
    const prices = (scale: number, writes: readonly "create"[]): ReturnType<typeof mount> => {
      const field = decimal({ scale, maximum: "99", optional: true });
      return mount(defineResource({ name: "price", table: "price", writes, fields: { net: field, pieces: field } }), {
        permission: anyone,
      });
    };

    await assert.rejects(serve(prices(3, ["create"])), (error: Error) => {
      assert.match(error.message, /price\.net rounds to 2 digits after the point; declare net with scale: 2/);
      assert.match(error.message, /price\.pieces rounds to 0 digits/);
      return true;
    });
    const api = await serve(prices(3, []));
    assert.deepEqual((await api.get("/prices/1")).json, { id: 1, net: "1.500", pieces: "2.000" });
  },
);

onSQLite(
  "refuses a file in UTF-16, because SQLite sorts the texts of such a file differently, and leaves the file unchanged",
  "PRAGMA encoding = 'UTF-16le'; CREATE TABLE word (id integer PRIMARY KEY, v text); INSERT INTO word (v) VALUES ('a'), ('š');",
  async ({ serve, sql }) => {
    const words = defineResource({ name: "word", table: "word", fields: { v: text() } });

    await assert.rejects(
      serve(mount(words, { permission: anyone })),
      /stores its texts as UTF-16le, .* \.dump \| sqlite3/,
    );
    assert.deepEqual(
      (await sql("SELECT name FROM sqlite_schema")).map(({ name }) => name),
      ["word"],
    );
  },
);

onSQLite(
  "reports virtual tables, and leaves out the tables that store their content",
  "CREATE VIRTUAL TABLE docs USING fts5(title); CREATE TABLE word (id integer PRIMARY KEY, v text);",
  async ({ url }) => {
    const declared = formatDeclarations(await inspectSQLite(url.replace("sqlite:", "")));

    assert.match(declared, /^\/\/ docs is not declared: it is a virtual table; serve a view of it/m);
    assert.doesNotMatch(declared, /docs_/);
    assert.match(declared, /table: "word"|name: "word"/);
  },
);
