import assert from "node:assert/strict";
import { anyone, defineResource, enumeration, integer, mount, Secret, text } from "../../src/door/index.ts";
import type { Observation } from "../../src/door/ops.ts";
import { postgresStore } from "../../src/door/stores.ts";
import { onBoth, onPostgres, onSQLite } from "../harness/existing.ts";
import { ownService } from "../harness/own-service.ts";
import { askPostgres } from "../harness/postgres.ts";

/** Returns SQL for a table with columns of a type for which the database treats different texts as equal. */
const alike = (type: string): string =>
  `CREATE TABLE word (id ${type} PRIMARY KEY NOT NULL, v ${type});
   CREATE INDEX words ON word (v);
   INSERT INTO word VALUES ('a', 'ab'), ('b', 'AB'), ('c', 'Ab'), ('d', 'b'), ('E', 'aB ');`;

const v = text({ maxLength: 20, trim: false, optional: true });

onBoth(
  "compares texts by code point, under any collation of their column",
  {
    sqlite: alike("text COLLATE NOCASE"),
    postgres: `CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false); ${alike("text COLLATE caseless")}`,
  },
  async ({ serve }) => {
    const words = defineResource({
      name: "word",
      id: "text",
      table: "word",
      writes: ["create", "update", "delete"],
      fields: { v },
      filters: { id: ["eq", "in"], v: ["eq", "ne", "in", "lt", "gte", "starts", "contains"] },
      sorts: ["v"],
      scans: true,
    });
    const api = await serve(mount(words, { permission: anyone }));

    for (const [query, found] of [
      ["v=ab", "a"],
      ["v=AB&v=zz", "b"],
      ["v[ne]=ab", "Ebcd"],
      ["v[in]=Ab,B", "c"],
      ["v[lt]=Ac", "bc"],
      ["v[gte]=aB", "Ead"],
      ["v[starts]=A", "bc"],
      ["v[starts]=aB", "E"],
      ["v[contains]=B", "Eb"],
      ["id=e", ""],
      ["id[in]=A,b", "b"],
      ["sort=v", "bcEad"],
      ["sort=-v", "daEcb"],
    ] as const) {
      const { status, text: said, json: records } = await api.get(`/words?${query}`);
      assert.equal(status, 200, said);
      assert.equal(records.map(({ id }: { id: string }) => id).join(""), found, query);
    }
    for (const [method, body] of [["GET"], ["PATCH", { v: "x" }], ["DELETE"]] as const)
      assert.equal((await api.ask(method, "/words/A", body === undefined ? {} : { body })).status, 404, method);
    const { status, json } = await api.ask("PUT", "/words/A", { body: { v: "x" } });
    assert.equal(status, 409);
    assert.deepEqual(json.errors, [{ pointer: "/id", code: "taken", detail: "This value is already taken." }]);
    assert.equal((await api.ask("PUT", "/words/a", { body: { v: "AB" } })).json.v, "AB");
  },
);

/** Types and collations that treat different keys as equal: the SQL of the table, a key and another spelling of it. */
const equalKeys = {
  sqlite: [
    ["text COLLATE NOCASE", "abc", "ABC"],
    ["text COLLATE RTRIM", "abc", "abc "],
  ],
  postgres: [
    ["citext", "abc", "ABC"],
    ['text COLLATE "accentless"', "cafe", "café"],
    ["char(5)", "abc", "abc "],
    ["cidr", "10.0.0.0/8", "10/8"],
    ["numeric", "1.5", "1.50"],
  ],
} as const;

onBoth(
  "answers 409 to a PUT of an id that the database treats as an existing one, and changes no row",
  {
    sqlite: "SELECT 1",
    postgres: `CREATE EXTENSION citext;
      CREATE COLLATION accentless (provider = icu, locale = 'und-u-ks-level1', deterministic = false);`,
  },
  async ({ engine, serve, sql }) => {
    for (const [at, [type, key, other]] of equalKeys[engine].entries()) {
      await sql(`CREATE TABLE word_${at} (id ${type} PRIMARY KEY NOT NULL, v text)`);
      await sql(`INSERT INTO word_${at} VALUES ('${key}', 'ab')`);
      const word = {
        name: `word_${at}`,
        plural: `word_${at}s`,
        id: "text",
        table: `word_${at}`,
        writes: ["create", "update"],
        fields: { v },
        scans: true,
      } as const;
      const api = await serve(mount(defineResource(word), { permission: anyone }));
      const path = `/word_${at}s/${encodeURIComponent(other)}`;

      for (const headers of [{}, { "if-none-match": "*" }]) {
        const { status, json, text: said } = await api.ask("PUT", path, { body: { v: "x" }, headers });
        assert.equal(status, 409, `${type}: ${said}`);
        assert.equal(json.type, "/problems/taken", type);
        assert.deepEqual(
          json.errors,
          [{ pointer: "/id", code: "taken", detail: "This value is already taken." }],
          type,
        );
      }
      assert.deepEqual(
        (await sql(`SELECT v FROM word_${at}`)).map((row) => row["v"]),
        ["ab"],
      );
    }
  },
);

onSQLite(
  "refuses to start if a row has a word of the enumeration in another case",
  "CREATE TABLE word (id integer PRIMARY KEY, v text COLLATE NOCASE); INSERT INTO word VALUES (1, 'open'), (2, 'OPEN');",
  async ({ serve }) => {
    const words = defineResource({ name: "word", table: "word", fields: { v: enumeration(["open", "paid"]) } });

    await assert.rejects(serve(mount(words, { permission: anyone })), /word\.v has values .* in the rows 2;/);
  },
);

/** Returns the messages of the notices that a service has observed since its start. */
function toldBy({ observed }: { readonly observed: readonly Observation[] }): readonly string[] {
  return observed.flatMap((each) => (each.kind === "notice" ? [each.message] : []));
}

onBoth(
  "reports at the start that no index serves lists by id if the index of the ids is not ordered by code point",
  {
    sqlite: "CREATE TABLE word (id text COLLATE NOCASE PRIMARY KEY NOT NULL, n integer NOT NULL);",
    postgres: `CREATE TABLE word (id text COLLATE "en-x-icu" PRIMARY KEY, n integer NOT NULL);`,
  },
  async ({ engine, serve, sql }) => {
    await sql("INSERT INTO word VALUES ('b', 1), ('C', 2), ('a', 3)");
    const declaration = { name: "word", id: "text", table: "word", fields: { n: integer() } } as const;
    const api = await serve(mount(defineResource(declaration), { permission: anyone }));
    const owning = await serve(mount(defineResource({ ...declaration, scans: true }), { permission: anyone }));

    const messages = toldBy(api);
    assert.match(messages.at(-1) ?? "", /^2 kinds of lists have no index \(\/words\)/);
    assert.equal(
      /^No index finds a record of \/words by its id, .* COLLATE BINARY/.test(messages[0] ?? ""),
      engine === "sqlite",
    );
    assert.deepEqual(toldBy(owning), []);
    const { json } = await api.get("/words");
    assert.deepEqual(json.map(({ id }: { id: string }) => id).join(""), "Cab");
  },
);

onBoth(
  "reports nothing at the start if an index of the ids is ordered by code point",
  {
    sqlite:
      "CREATE TABLE word (id text COLLATE NOCASE PRIMARY KEY NOT NULL); CREATE UNIQUE INDEX ids ON word (id COLLATE BINARY);",
    postgres: `CREATE TABLE word (id text COLLATE "C" PRIMARY KEY);`,
  },
  async ({ serve }) => {
    const words = defineResource({ name: "word", id: "text", table: "word", fields: {} });
    const api = await serve(mount(words, { permission: anyone }));

    assert.deepEqual(toldBy(api), []);
  },
);

onPostgres(
  "recognizes that the indexes of an ICU database are not ordered by code point, although LC_COLLATE is C",
  "SELECT 1",
  async ({ url, sql }, t) => {
    const name = `icu_${process.pid}`;
    await sql(
      `CREATE DATABASE ${name} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en' LC_COLLATE 'C' LC_CTYPE 'C'`,
    );
    const there = new URL(url);
    there.pathname = `/${name}`;
    await askPostgres(
      there.href,
      "CREATE TABLE word (id text PRIMARY KEY, v text NOT NULL); CREATE INDEX ON word (v, id); INSERT INTO word VALUES ('a', 'x'), ('B', 'Y')",
    );
    const words = defineResource({
      name: "word",
      id: "text",
      table: "word",
      fields: { v: text({ maxLength: 20 }) },
      sorts: ["v"],
    });
    const api = await ownService(t, {
      store: postgresStore({ url: new Secret(there.href) }),
      mounts: [mount(words, { permission: anyone })],
    });
    t.after(() => askPostgres(url, `DROP DATABASE ${name} WITH (FORCE)`));

    for (const [query, found] of [
      ["", "Ba"],
      ["?sort=v", "Ba"],
      ["?sort=-v", "aB"],
    ] as const)
      assert.equal((await api.get(`/words${query}`)).json.map(({ id }: { id: string }) => id).join(""), found, query);
    assert.match(toldBy(api)[0] ?? "", /lists have no index \(\/words\)/);
  },
);
