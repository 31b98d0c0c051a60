import assert from "node:assert/strict";
import { test } from "node:test";
import {
  anyone,
  boolean,
  dateTime,
  decimal,
  defineResource,
  email,
  enumeration,
  integer,
  json,
  mount,
  reference,
  text,
} from "../../src/door/index.ts";
import { ownService } from "../harness/own-service.ts";

const things = defineResource({
  name: "thing",
  fields: {
    label: text({ maxLength: 5, optional: true }),
    raw: text({ trim: false, minLength: 0, optional: true }),
    code: text({ pattern: { matches: /^[a-z]+$/, detail: "Lower-case letters are required." }, optional: true }),
    count: integer({ minimum: -5, maximum: 10, optional: true }),
    large: integer({ optional: true }),
    price: decimal({ scale: 2, minimum: "-10", maximum: "9999999999.99", optional: true }),
    whole: decimal({ scale: 0, maximum: "999999999999999", optional: true }),
    on: boolean({ optional: true }),
    at: dateTime({ optional: true }),
    state: enumeration(["open", "closed"], { optional: true }),
    mail: email({ optional: true, unique: "case-insensitive" }),
    sku: text({ optional: true, unique: true }),
    next_id: reference("things", { optional: true }),
    meta: json({ optional: true }),
    level: integer({ default: 7 }),
    rank: integer({ default: 3, optional: true }),
    made: dateTime({ generated: ({ now }) => new Date(now).toISOString() }),
    secret: text({ writeOnly: true, optional: true }),
    aside: text({ writeOnly: true, transient: true, optional: true }),
  },
  sorts: ["rank"],
});

const own = { mounts: [mount(things, { permission: anyone })], now: () => Date.parse("2026-01-31T09:30:00Z") };

const validValues: readonly (readonly [field: string, sent: unknown, shown?: unknown])[] = [
  ["label", " Ann \u00a0", "Ann"],
  ["label", "😀😀😀😀😀"],
  ["label", "e\u0301"],
  ["raw", "  "],
  ["raw", ""],
  ["raw", '<&>"\u00A0]]>'],
  ["code", "abc"],
  ["count", -5],
  ["count", 10],
  ["count", 0],
  ["large", 9007199254740991],
  ["large", -9007199254740991],
  ["price", "12.5", "12.50"],
  ["price", "0", "0.00"],
  ["price", "-0.00", "0.00"],
  ["price", "-10", "-10.00"],
  ["price", "-0.05"],
  ["price", "9999999999.99"],
  ["whole", "999999999999999"],
  ["on", true],
  ["on", false],
  ["at", "2026-01-31T10:30:00+01:00", "2026-01-31T09:30:00.000Z"],
  ["at", "2024-02-29t00:00:00.1234z", "2024-02-29T00:00:00.123Z"],
  ["at", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
  ["at", "9999-12-31T23:59:59.999Z"],
  ["state", "closed"],
  ["mail", "Ann.Example+tag@Example.COM"],
  ["mail", " ann@example.com", "ann@example.com"],
  ["label", null],
  ["rank", null, 3],
  ["level", undefined, 7],
];

const refused: readonly (readonly [field: string, sent: unknown, code: string])[] = [
  ["label", "", "too_short"],
  ["label", "   ", "too_short"],
  ["label", "123456", "too_long"],
  ["label", 1, "invalid"],
  ["label", ["a"], "invalid"],
  ["label", "a\u007f", "invalid"],
  ["label", "a\u0085b", "invalid"],
  ["raw", "a\nb", "invalid"],
  ["code", "aB", "invalid"],
  ["count", -6, "too_small"],
  ["count", 11, "too_large"],
  ["count", 1.5, "invalid"],
  ["count", "1", "invalid"],
  ["count", true, "invalid"],
  ["price", 12.5, "invalid"],
  ["price", "12.505", "invalid"],
  ["price", "-10.01", "too_small"],
  ["price", "10000000000", "too_large"],
  ["price", "99999999999999999999", "invalid"],
  ["price", "1e2", "invalid"],
  ["price", "+1", "invalid"],
  ["price", "01", "invalid"],
  ["price", ".5", "invalid"],
  ["price", "1.", "invalid"],
  ["price", " 1", "invalid"],
  ["price", "", "invalid"],
  ["whole", "1.0", "invalid"],
  ["on", "true", "invalid"],
  ["on", 1, "invalid"],
  ["at", "2026-02-29T00:00:00Z", "invalid"],
  ["at", "2026-01-31", "invalid"],
  ["at", "2026-01-31T09:30:00", "invalid"],
  ["at", "2026-01-31T24:00:00Z", "invalid"],
  ["at", "2026-01-31T09:30:00+24:00", "invalid"],
  ["at", "2026-01-31T09:30:60Z", "invalid"],
  ["at", "0000-01-01T00:00:00+01:00", "invalid"],
  ["at", 1769851800, "invalid"],
  ["state", "OPEN", "invalid"],
  ["state", "toString", "invalid"],
  ["mail", "ann", "invalid"],
  ["mail", "a nn@example.com", "invalid"],
  ["next_id", 0, "invalid"],
  ["next_id", 99, "invalid"],
  ["level", null, "invalid"],
  ["aside", null, "invalid"],
  ["made", "2026-01-31T09:30:00.000Z", "read_only"],
  ["id", 5, "read_only"],
  ["colour", "red", "unknown_field"],
  ["__proto__x", 1, "unknown_field"],
];

test("accepts valid values of every kind of field in JSON and in XML, and refuses invalid values in JSON", async (t) => {
  const { ask } = await ownService(t, own);
  const xml = { "content-type": "application/xml", accept: "application/xml" };
  const asXML = (field: string, sent: unknown): string =>
    `<thing>${sent === null ? `<${field} nil="true"/>` : `<${field}>${String(sent).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")}</${field}>`}</thing>`;

  for (const [field, sent, shown = sent] of validValues) {
    const made = await ask("POST", "/things", { body: { [field]: sent } });
    assert.equal(made.status, 201, `${field} ${String(sent)} ${made.text}`);
    assert.deepEqual(made.json[field], shown, field);
    assert.deepEqual((await ask("GET", `/things/${made.json.id}`)).json, made.json);
    assert.deepEqual(
      (await ask("GET", `/things?limit=1&sort=-id`)).json,
      [made.json],
      "a list, which the database formats, shows the same",
    );
    if (field === "mail") assert.equal((await ask("DELETE", `/things/${made.json.id}`)).status, 204);
    if (sent === undefined) continue;
    const viaXML = await ask("POST", "/things", { body: asXML(field, sent), headers: xml });
    assert.equal(viaXML.status, 201, `${field} ${String(sent)} ${viaXML.text}`);
    const same = await ask("GET", viaXML.headers.get("location")!);
    assert.deepEqual(same.json[field], shown, `${field} by XML`);
    assert.equal(
      (await ask("GET", viaXML.headers.get("location")!, { headers: { accept: "application/xml" } })).text,
      viaXML.text,
    );
    await ask("DELETE", viaXML.headers.get("location")!);
  }
  for (const [field, sent, code] of refused) {
    const { status, json: answer } = await ask("POST", "/things", { body: { [field]: sent } });
    assert.equal(status, 400, `${field} ${String(sent)}`);
    assert.deepEqual(
      [answer.errors.length, answer.errors[0].pointer, answer.errors[0].code],
      [1, `/${field}`, code === "invalid" && sent === 0 ? "too_small" : code],
      `${field} ${String(sent)}`,
    );
  }
});

test("keeps any JSON unchanged in a json field", async (t) => {
  const { ask } = await ownService(t, own);

  for (const meta of [
    0,
    false,
    "",
    "a\u0000b",
    [],
    {},
    [null, [1.5, { "a b": "<ö>" }]],
    { constructor: 1, "": null },
  ]) {
    const made = await ask("POST", "/things", { body: { meta } });
    assert.equal(made.status, 201, made.text);
    assert.deepEqual(made.json.meta, meta);
    assert.deepEqual((await ask("GET", `/things/${made.json.id}`)).json.meta, meta);
    assert.deepEqual((await ask("GET", "/things?sort=-id&limit=1")).json[0].meta, meta);
    assert.equal((await ask("GET", "/things", { headers: { accept: "application/xml" } })).status, 200);
  }
  const viaXML = await ask("POST", "/things", {
    body: '<thing><meta>{"a":1,"b":["x",null]}</meta></thing>',
    headers: { "content-type": "application/xml" },
  });
  assert.deepEqual(viaXML.json.meta, { a: 1, b: ["x", null] });
});

test("reports all mistakes in a body together, and stores nothing", async (t) => {
  const { ask } = await ownService(t, own);

  const { json: answer } = await ask("POST", "/things", {
    body: { id: 1, label: "", count: 11, colour: "red", "a/b~c": 1 },
  });

  assert.deepEqual(
    answer.errors.map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`),
    ["/label too_short", "/count too_large", "/id read_only", "/colour unknown_field", "/a~1b~0c unknown_field"],
  );
  for (const body of ["[]", "null", '"a"', "1"])
    assert.equal((await ask("POST", "/things", { body })).json.code, "invalid");
  assert.equal((await ask("GET", "/things")).text, "[]");
});

test("never shows write-only fields, keeps generated values on a replacement, and stores the default instead of null", async (t) => {
  const { ask } = await ownService(t, own);
  const made = (await ask("POST", "/things", { body: { secret: "s", aside: "t", rank: 9, sku: "A" } })).json;
  const shown = Object.keys(made);

  assert.ok(!shown.includes("secret") && !shown.includes("aside"));
  assert.equal((await ask("PATCH", "/things/1", { body: { rank: null } })).json.rank, 3);
  const replaced = await ask("PUT", "/things/1", { body: { id: 1, made: made.made, level: 1 } });
  assert.deepEqual(
    [replaced.status, replaced.json.level, replaced.json.sku, replaced.json.made],
    [200, 1, null, made.made],
  );
  assert.equal(
    (await ask("PUT", "/things/1", { body: { made: "2020-01-01T00:00:00Z" } })).json.errors[0].code,
    "read_only",
  );
  assert.equal((await ask("GET", "/things?sort=rank")).status, 200);
});

test("refuses the second use of a unique value, also in another case if the field ignores case", async (t) => {
  const { ask } = await ownService(t, own);
  const postThing = async (body: object): Promise<string> => {
    const { status, json: answer } = await ask("POST", "/things", { body });
    return `${status} ${status === 201 ? "" : `${answer.code} ${answer.errors?.[0]?.pointer}`}`.trim();
  };

  assert.equal(await postThing({ sku: "A", mail: "a@example.com" }), "201");
  assert.equal(await postThing({ sku: "A" }), "409 taken /sku");
  assert.equal(await postThing({ sku: "a" }), "201");
  assert.equal(await postThing({ mail: "A@EXAMPLE.com" }), "409 taken /mail");
  assert.equal(await postThing({}), "201");
  assert.equal(await postThing({}), "201", "null may occur several times in a unique field");
});
