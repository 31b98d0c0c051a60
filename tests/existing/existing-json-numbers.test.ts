import assert from "node:assert/strict";
import { consolePages } from "../../src/door/features.ts";
import { csv } from "../../src/door/http.ts";
import { anyone, defineResource, integer, json, mount } from "../../src/door/index.ts";
import { array, ExactNumber, number, olderShape, standardSchema } from "../../src/door/resources.ts";
import { onBoth } from "../harness/existing.ts";
import { ownService } from "../harness/own-service.ts";

const numbers = `"snowflake":12345678901234567890,"large":1e400,"odd":9007199254740993,"amount":0.10000000000000000001,"least":-1e-400`;
const exactNumbers = [
  ["snowflake", "12345678901234567890"],
  ["odd", "9007199254740993"],
  ["amount", "0.10000000000000000001"],
] as const;

/**
 * Tables with numbers with exponents. PostgreSQL's jsonb shows such a number in digits, and a text in SQLite keeps the
 * exponent.
 */
const made = madeWith(numbers);
/** Tables without numbers with exponents, so that a cell of an HTML page shows the whole value. */
const short = madeWith(numbers.replace(/"large".*?,/, "").replace(/,"least".*/, ""));

function madeWith(members: string) {
  return {
    sqlite: `CREATE TABLE ck (id integer PRIMARY KEY AUTOINCREMENT, qty integer, jb text);
    INSERT INTO ck (qty, jb) VALUES (1, '{${members},"plain":1.5,"note":"old","in":[{"n":12345678901234567890}]}');
    CREATE TABLE child (id integer PRIMARY KEY AUTOINCREMENT, ck_id integer NOT NULL REFERENCES ck (id), jb text);
    INSERT INTO child (ck_id, jb) VALUES (1, '[12345678901234567890]');`,
    postgres: `CREATE TABLE ck (id serial PRIMARY KEY, qty integer, jb jsonb);
    INSERT INTO ck (qty, jb) VALUES (1, '{${members},"plain":1.5,"note":"old","in":[{"n":12345678901234567890}]}');
    CREATE TABLE child (id serial PRIMARY KEY, ck_id integer NOT NULL REFERENCES ck (id), jb json);
    INSERT INTO child (ck_id, jb) VALUES (1, '[12345678901234567890]');`,
  };
}

const fields = { qty: integer({ optional: true }), jb: json({ optional: true }) };
const ck = defineResource({ name: "ck", table: "ck", writes: ["create", "update"], fields });

/** Returns the texts of the numbers in a response or a row, by name. */
function textsIn(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/"(\w+)": ?(-?\d[\d.eE+-]*)/g)].map(([, name, said]) => [name!, said!]));
}

onBoth("shows the same numbers of a JSON value in a record and in a list", made, async ({ serve }) => {
  const { get, ask } = await serve(mount(ck, { permission: anyone }));

  const listed = (await get("/cks")).text;
  const alone = await get("/cks/1");

  assert.equal(alone.status, 200, alone.text);
  assert.deepEqual([textsIn(alone.text)], [textsIn(listed)]);
  assert.equal(`[${alone.text}]`, listed.replaceAll(/(?<=[:,]) /g, ""));
  for (const [name, text] of exactNumbers) assert.equal(textsIn(alone.text)[name], text);
  assert.equal((await get("/cks?sort=-id&limit=1")).text, listed);
  assert.equal((await ask("QUERY", "/cks", { body: {} })).text, listed);
});

onBoth("keeps all digits of the numbers that a patch does not change", made, async ({ serve, sql, engine }) => {
  const { ask } = await serve(mount(ck, { permission: anyone, arrays: true }));
  const row = async (): Promise<string> =>
    String((await sql(`SELECT jb${engine === "postgres" ? "::text" : ""} AS jb FROM ck WHERE id = 1`))[0]!["jb"]);
  const before = textsIn(await row());
  const patch = (body: unknown, headers: Record<string, string> = {}) => ask("PATCH", "/cks/1", { body, headers });
  const asPatch = { "content-type": "application/json-patch+json" };

  const answers = [
    await patch({ jb: { note: "new" } }),
    await patch({ qty: 2 }),
    await patch([{ op: "replace", path: "/jb/note", value: "newer" }], asPatch),
    await patch([{ op: "copy", from: "/jb/snowflake", path: "/jb/copied" }], asPatch),
    await patch([{ op: "move", from: "/jb/copied", path: "/jb/moved" }], asPatch),
    await ask("PATCH", "/cks", { body: [{ id: 1, jb: { note: "newest" } }] }),
  ];

  for (const { status, text } of answers) assert.equal(status, 200, text);
  assert.deepEqual(textsIn(await row()), { ...before, moved: "12345678901234567890" });
  assert.match(await row(), /"note": ?"newest"/);
  assert.equal(`[${answers[4]!.text}]`.replace("newer", "newest"), answers[5]!.text);
  assert.equal((await patch({ jb: { snowflake: { a: 1 } } })).json.jb.snowflake.a, 1);
  assert.doesNotMatch(await row(), /"text"/);
});

onBoth("compares exact numbers in a patch by all their digits, and never as objects", made, async ({ serve }) => {
  const { ask } = await serve(mount(ck, { permission: anyone }));
  const patch = async (operation: object) =>
    (
      await ask("PATCH", "/cks/1", {
        body: [operation],
        headers: { "content-type": "application/json-patch+json" },
      })
    ).status;

  assert.equal(await patch({ op: "test", path: "/jb/odd", value: 9007199254740992 }), 400);
  assert.equal(await patch({ op: "test", path: "/jb/amount", value: 0.1 }), 409);
  assert.equal(await patch({ op: "add", path: "/jb/odd/text", value: 1 }), 409);
  assert.equal(await patch({ op: "test", path: "/jb/odd/text", value: "9007199254740993" }), 409);
  assert.equal(await patch({ op: "test", path: "/jb/plain", value: 1.5 }), 200);
});

onBoth("shows exact numbers in every format, older shape and replayed response", short, async ({ makeStore }, t) => {
  const child = defineResource({
    name: "child",
    plural: "children",
    table: "child",
    writes: ["create"],
    within: ck,
    columns: { ck_id: "ck_id" },
    fields: { jb: array(number(), { optional: true }) },
  });
  const children = mount(child, { permission: anyone });
  const cks = mount(ck, { permission: anyone, expand: { children } });
  const older = olderShape(cks, { prefix: "/v1", fields: { many: "qty", data: "jb" } });
  const { get, ask } = await ownService(t, {
    store: makeStore(),
    mounts: [cks, children, older],
    features: [consolePages({ title: "Numbers" })],
    formats: [csv()],
  });

  for (const path of ["/cks/1", "/cks", "/v1/cks/1", "/v1/cks", "/cks?expand=children", "/cks/1?expand=children"])
    for (const accept of ["application/json", "application/xml", "text/html", "text/csv"]) {
      const { status, text } = await get(path, { headers: { accept } });
      if (accept === "text/csv" && (path.endsWith("1") || path.includes("expand"))) continue;
      assert.equal(status, 200, text);
      for (const [, number] of exactNumbers) assert.ok(text.includes(number), `${accept} of ${path}: ${text}`);
      assert.doesNotMatch(text, /rawJSON/);
    }
  assert.match((await get("/cks?expand=children")).text, /"children":\[\{"id":1,"jb":\[12345678901234567890\]/);

  const headers = { "idempotency-key": "0198c5d8-7a4c-7b1f-9d0e-3f2a61c4b7e5" };
  const first = await ask("PATCH", "/cks/1", { as: "ada", body: { qty: 3 }, headers });
  const again = await ask("PATCH", "/cks/1", { as: "ada", body: { qty: 3 }, headers });
  assert.equal(again.headers.get("idempotency-replayed"), "true");
  assert.equal(again.text, first.text);
});

onBoth("passes hooks exact numbers, and computes with the nearest double", made, async ({ serve }) => {
  const seen: unknown[] = [];
  const hooked = defineResource({
    name: "ck",
    table: "ck",
    writes: ["update"],
    fields: { ...fields, jb: standardSchema<{ snowflake: unknown }>(anything, { optional: true }) },
    computed: { half: { as: number(), from: ({ jb }) => Number(jb?.snowflake) / 2 } },
  });
  const { ask } = await serve(
    mount(hooked, {
      permission: anyone,
      afterWrite: ({ before, after }) => void seen.push(before?.jb?.snowflake, after?.jb?.snowflake),
    }),
  );

  const changed = await ask("PATCH", "/cks/1", { body: { jb: { note: "new" } } });

  assert.equal(changed.status, 200, changed.text);
  assert.match(changed.text, /"half":6172839450617284000/);
  assert.equal(textsIn(changed.text)["snowflake"], "12345678901234567890");
  assert.deepEqual(
    seen.map((each) => [each instanceof ExactNumber, String(each)]),
    [
      [true, "12345678901234567890"],
      [true, "12345678901234567890"],
    ],
  );
});

/** A schema that accepts everything. */
const anything = {
  "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) },
} as const;
