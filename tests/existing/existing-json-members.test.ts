import assert from "node:assert/strict";
import { test } from "node:test";
import { consolePages, outbox } from "../../src/door/features.ts";
import { csv } from "../../src/door/http.ts";
import { anyone, defineResource, integer, json, mount, reference } from "../../src/door/index.ts";
import { withoutRepeatedMembers } from "../../src/store/sql/existing/repeated-members.ts";
import { onBoth, onPostgres } from "../harness/existing.ts";
import { ownService } from "../harness/own-service.ts";

// JSON of other programs may name a member twice. Each answer shows it once, with the last value.

const repeated = [
  `{"a":1,"b":1.50,"a":2}`,
  String.raw`{"in":[{"z":1,"\u007a":{"y":[],"y":null},"n":12345678901234567890}],"note":"{\"a\":1,\"a\":2}"}`,
  `{"plain":1}`,
];
const shown = [
  `{"a":2,"b":1.50}`,
  String.raw`{"in":[{"z":{"y":null},"n":12345678901234567890}],"note":"{\"a\":1,\"a\":2}"}`,
  `{"plain":1}`,
];
const rows = repeated.map((text) => `(1, '${text}')`).join(", ");

const made = {
  sqlite: `CREATE TABLE ck (id integer PRIMARY KEY AUTOINCREMENT, qty integer, data text);
    CREATE TABLE child (id integer PRIMARY KEY AUTOINCREMENT, ck_id integer NOT NULL REFERENCES ck (id), data text);
    INSERT INTO ck (qty, data) VALUES ${rows}; INSERT INTO child (ck_id, data) VALUES ${rows};`,
  postgres: `CREATE TABLE ck (id serial PRIMARY KEY, qty integer, data json);
    CREATE TABLE child (id serial PRIMARY KEY, ck_id integer NOT NULL REFERENCES ck (id), data json);
    INSERT INTO ck (qty, data) VALUES ${rows}; INSERT INTO child (ck_id, data) VALUES ${rows};`,
};

const ck = defineResource({
  name: "ck",
  table: "ck",
  writes: ["create", "update"],
  fields: { qty: integer({ optional: true }), data: json({ optional: true }) },
});
const child = defineResource({
  name: "child",
  plural: "children",
  table: "child",
  within: ck,
  columns: { ck_id: "ck_id" },
  fields: { data: json({ optional: true }) },
});
const remark = defineResource({
  name: "remark",
  table: "child",
  fields: { ck_id: reference(ck), data: json({ optional: true }) },
});
const mounts = (() => {
  const children = mount(child, { permission: anyone });
  const cks = mount(ck, { permission: anyone, expand: { children } });
  return [cks, children, mount(remark, { permission: anyone, expand: { ck: "ck_id" } })];
})();

const value = (text: string): unknown => JSON.parse(text);

onBoth("shows a member once, in lists as in records", made, async ({ serve }) => {
  const { get, ask } = await serve(...mounts);

  const listed = await get("/cks");

  assert.equal(listed.text, `[${shown.map((data, at) => `{"id":${at + 1},"qty":1,"data":${data}}`).join(",")}]`);
  for (const [at, data] of shown.entries()) {
    const alone = await get(`/cks/${at + 1}`);
    assert.deepEqual(value(alone.text), { id: at + 1, qty: 1, data: value(data) });
    assert.doesNotMatch(alone.text, /"a":1,"b"|"z":1/);
  }
  assert.doesNotMatch((await get("/cks?sort=-id")).text, /"a":1[,}]|u007a/);
  assert.doesNotMatch((await ask("QUERY", "/cks", { body: {} })).text, /"a":1[,}]|u007a/);
  const expanded = (await get("/cks?expand=children&fields=id&limit=1")).text;
  assert.equal(
    expanded,
    `[{"id":1,"children":[${shown.map((data, at) => `{"id":${at + 1},"data":${data}}`).join(",")}]}]`,
  );
  assert.match(
    (await get("/remarks?expand=ck&limit=1")).text,
    /"ck":\{.*"data":\{"a":2,"b":1\.50\}\},"data":\{"a":2,"b":1\.50?\}/,
  );
});

onBoth("loses no member that was shown in a patch of another member", made, async ({ serve }) => {
  const { get, ask } = await serve(mount(ck, { permission: anyone }));

  for (const id of [1, 2]) {
    const before = (JSON.parse((await get("/cks")).text) as { readonly data: object }[])[id - 1]!.data;
    const { status } = await ask("PATCH", `/cks/${id}`, {
      body: { data: { more: true } },
    });
    assert.equal(status, 200);
    const after = (JSON.parse((await get("/cks")).text) as { readonly data: object }[])[id - 1]!.data;
    assert.deepEqual(after, { ...before, more: true });
  }
});

onBoth("shows a member once in every format, on pages and to subscribers", made, async ({ makeStore }, t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const heard: string[] = [];
  const events = outbox({
    subscribers: [{ name: "index", to: [ck], deliver: async (event) => void heard.push(JSON.stringify(event)) }],
  });
  const { get, ask, service } = await ownService(t, {
    store: makeStore(),
    formats: [csv()],
    features: [events, consolePages({ title: "Shop" })],
    mounts,
  });

  for (const accept of ["text/csv", "application/xml", "text/html"])
    for (const path of ["/cks", "/cks?fields=data", "/cks/1/children", "/remarks?expand=ck", "/cks?expand=children"]) {
      if (accept === "text/csv" && path.includes("expand")) continue;
      const { status, text } = await get(path, { headers: { accept } });
      assert.equal(status, 200, text);
      assert.doesNotMatch(
        text.replaceAll(/&quot;|&#34;|""/g, '"'),
        /"a" ?: ?1[,}]|u007a|<a>1<|<z>1</,
        `${accept} ${path}`,
      );
    }

  assert.equal((await ask("PATCH", "/cks/1", { body: { qty: 2 } })).status, 200);
  await service.use(events).deliverDue();
  assert.equal(heard.length, 1);
  assert.doesNotMatch(heard[0]!, /"a":1[,}]/);
});

onPostgres(
  "shows a member once in an array of JSON",
  `CREATE TABLE ck (id serial PRIMARY KEY, data json[]); INSERT INTO ck (data) VALUES (ARRAY['{"a":1,"a":2}'::json, '3']);`,
  async ({ serve }) => {
    const lists = defineResource({ name: "ck", table: "ck", fields: { data: json({ optional: true }) } });
    const { get } = await serve(mount(lists, { permission: anyone }));

    assert.equal((await get("/cks")).text, `[{"id":1,"data":[{"a":2},3]}]`);
    assert.deepEqual((await get("/cks/1")).json, { id: 1, data: [{ a: 2 }, 3] });
  },
);

/** Runs the work at once. */
function once(text: string): string {
  const work = withoutRepeatedMembers(text);
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

test("keeps the text of JSON without repeated members, and the form of numbers", () => {
  for (const text of [
    `[]`,
    `{}`,
    `[{},[],{"a":{}}]`,
    `{ "b" : 1.0, "1": [1e2, {"b":0}] }`,
    `[{"a":1},{"a":1}]`,
    `"a"`,
    String.raw`{"\"a":1,"a":2}`,
    `{"a":{"a":{"a":["a","a"]}}}`,
    // These names have the same hash.
    `{"Aa":1,"BB":2}`.replace(",", ", "),
  ])
    assert.deepEqual(JSON.parse(once(text)), JSON.parse(text), text);
  assert.equal(once(`{ "b" : 1.0, "1": [1e2, {"b":0}] }`), `{ "b" : 1.0, "1": [1e2, {"b":0}] }`);
  assert.equal(once(`[{"b":1.0,"c":-1e-2,"b":"x\\" , {"}]`), `[{"b":"x\\" , {","c":-1e-2}]`);
  assert.equal(once(`{"__proto__":1,"__proto__":[true,false]}`), `{"__proto__":[true,false]}`);
  assert.equal(once(`{"a":{"b":1,"b":2},"c":3,"a":{"b":4,"b":{"d":5,"d":6}}}`), `{"a":{"b":{"d":6}},"c":3}`);
});

test("reads JSON as JSON.parse does, with any text at any position", () => {
  let seed = 39;
  const random = (below: number): number => (seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff) % below;
  const names = [
    "a",
    "b",
    "Aa",
    "BB",
    "",
    "é",
    "书",
    String.raw`\u0061`,
    String.raw`\"`,
    String.raw`a\\`,
    "x".repeat(40),
  ];
  const texts = [...names, "{", "}", "[,]", "x".repeat(5000), String.raw`\\`.repeat(3000), `${"y".repeat(4090)}\\"`];
  const make = (depth: number): string => {
    const kind = random(depth > 4 ? 3 : 8);
    if (kind === 0) return `"${texts[random(texts.length)]}"`;
    if (kind === 1) return ["1", "-2.50", "1e5", "true", "null"][random(5)]!;
    const count = random(kind === 7 && depth < 2 ? 60 : 4);
    if (kind < 4) return `[${Array.from({ length: depth > 4 ? 0 : count }, () => make(depth + 1)).join(" , ")}]`;
    const name = (at: number): string => (kind === 7 && random(9) > 0 ? `n${at}` : names[random(names.length)]!);
    return `{${Array.from({ length: count }, (_, at) => ` "${name(at)}" : ${make(depth + 1)}`).join(",")} }`;
  };

  for (let round = 0; round < 200; round++) {
    const text = make(0);
    const shown = once(text);
    assert.deepEqual(JSON.parse(shown), JSON.parse(text));
    assert.equal(once(shown), shown);
    assert.equal(countNames(shown), countMembers(JSON.parse(text)), text.slice(0, 300));
  }
});

test("pauses at least every 4096 characters and 32 repeated members of a large text", () => {
  const members = Array.from({ length: 20_000 }, (_, at) => `"m${at}":${at}`).join(",");
  const objects = Array.from({ length: 20_000 }, () => `{"a":1}`).join(",");
  for (const [text, written] of [
    [`{"a":"${String.raw`\"`.repeat(100_000)}"}`, 0],
    [`{${members}}`, 0],
    [`{${members},"m7":1}`, 40_000],
    [`{"a":[${objects}],"a":{"b":[${objects}],"b":1}}`, 0],
    [`{"a":1,"a":[${objects.replaceAll("1}", '1,"a":2}')}]}`, 40_000],
  ] as const) {
    let pauses = 0;
    for (const work = withoutRepeatedMembers(text); work.next().done !== true; pauses++);
    assert.ok(pauses >= Math.floor(text.length / 4096) + Math.floor(written / 32), `${pauses} of ${text.slice(0, 40)}`);
  }
});

/** Counts the names of members in a text. Only names precede a colon. */
function countNames(text: string): number {
  return text.match(/"(?:[^"\\]|\\.)*"\s*:/g)?.length ?? 0;
}

function countMembers(parsed: unknown): number {
  if (typeof parsed !== "object" || parsed === null) return 0;
  const inner = Object.values(parsed).reduce((sum: number, each) => sum + countMembers(each), 0);
  return inner + (Array.isArray(parsed) ? 0 : Object.keys(parsed).length);
}
