import assert from "node:assert/strict";
import { anyone, defineResource, enumeration, mount, text } from "../src/door/index.ts";
import { onBoth, onSQLite } from "./existing.ts";

/** Columns for which the database takes other texts for the same. */
const alike = (type: string): string =>
  `CREATE TABLE word (id ${type} PRIMARY KEY NOT NULL, v ${type});
   CREATE INDEX words ON word (v);
   INSERT INTO word VALUES ('a', 'ab'), ('b', 'AB'), ('c', 'Ab'), ('d', 'b'), ('E', 'aB ');`;

const v = text({ maxLength: 20, trim: false, optional: true });

onBoth(
  "texts are compared by code point, whatever the collation of their column takes for the same",
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

    for (const [asked, found] of [
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
      const { status, text: said, json: told } = await api.get(`/words?${asked}`);
      assert.equal(status, 200, said);
      assert.equal(told.map(({ id }: { id: string }) => id).join(""), found, asked);
    }
    for (const [method, body] of [["GET"], ["PATCH", { v: "x" }], ["DELETE"]] as const)
      assert.equal((await api.ask(method, "/words/A", body === undefined ? {} : { body })).status, 404, method);
    assert.equal((await api.ask("PUT", "/words/A", { body: { v: "x" } })).status, 404);
    assert.equal((await api.ask("PUT", "/words/a", { body: { v: "AB" } })).json.v, "AB");
  },
);

onSQLite(
  "a word in another case is none of an enumeration",
  "CREATE TABLE word (id integer PRIMARY KEY, v text COLLATE NOCASE); INSERT INTO word VALUES (1, 'open'), (2, 'OPEN');",
  async ({ serve }) => {
    const words = defineResource({ name: "word", table: "word", fields: { v: enumeration(["open", "paid"]) } });

    await assert.rejects(serve(mount(words, { permission: anyone })), /word\.v has values .* in the rows 2;/);
  },
);
