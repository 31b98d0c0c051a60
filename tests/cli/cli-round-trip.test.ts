import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { ExactNumber } from "../../src/door/resources.ts";
import { placeFor, type Machine } from "../harness/cli.ts";
import { resolveModule } from "../harness/command.ts";
import { startPostgres } from "../harness/postgres.ts";

// `latchkey import --with-ids` restores the output of `latchkey export`: every kind of field, in both formats, on both
// databases.

const door = (name: string): string => pathToFileURL(resolveModule(`door/${name}`)).href;
const declared = `
import { anyone, boolean, dateTime, decimal, defineResource, email, enumeration, integer, json, mount, reference, text } from ${JSON.stringify(door("index"))};
import { array, date, number, references, updatedAt, url, uuid } from ${JSON.stringify(door("resources"))};
const tag = defineResource({ name: "tag", fields: { name: text({ unique: true }) } });
const room = defineResource({ name: "room", id: "uuid", fields: { name: text() } });
const chair = defineResource({ name: "chair", within: room, fields: { name: text() } });
const loose = text({ minLength: 0, trim: false });
const thing = defineResource({
  name: "thing",
  fields: {
    title: loose,
    code: text({ unique: "case-insensitive" }),
    note: text({ multiline: true, optional: true, minLength: 0, trim: false }),
    secret: text({ writeOnly: true, optional: true }),
    stamp: text({ readOnly: true, default: "given" }),
    ok: boolean({ optional: true }),
    count: integer({ optional: true }),
    rate: number({ optional: true }),
    price: decimal({ scale: 2, maximum: "9999999.99" }),
    ratio: decimal({ scale: 4, maximum: "1", json: "number", optional: true }),
    day: date({ optional: true }),
    at: dateTime({ optional: true }),
    changed: updatedAt(),
    state: enumeration(["a", "b"]),
    mail: email({ optional: true }),
    site: url({ optional: true }),
    token: uuid({ optional: true }),
    data: json({ optional: true }),
    words: array(loose),
    tag_id: reference(tag, { optional: true }),
    room_id: reference(room, { optional: true }),
    tags: references(tag),
    up_id: reference("things", { optional: true }),
  },
  computed: {
    // An empty title makes an empty text, which this kind does not accept.
    twice: { as: text({ trim: false }), from: ({ title }) => String(title) + String(title) },
    sum: { as: decimal({ scale: 2, maximum: "99999999999.99" }), sql: '"price" * 2' },
  },
});
export default { mounts: [tag, room, chair, thing].map((each) => mount(each, { permission: anyone })) };
`;

const digits = "0.10000000000000000001";
const plain = { price: "1.50", state: "a", words: [], tags: [] };
const things = [
  { ...plain, title: "=1+1", code: "b", note: "line\n\n  line 3\n", secret: "s" },
  {
    ...plain,
    title: "'quoted' \"q\", comma;",
    code: "c",
    note: "",
    ok: true,
    count: -9_007_199_254_740_991,
    rate: 1e-300,
    ratio: 0.1234,
    day: "2026-02-28",
    at: "2026-01-31T09:30:00.123Z",
    mail: "a@example.com",
    site: "https://example.com/?a=1&b=%20",
    token: "0b0c1a56-5d0a-4f1a-8e0f-0123456789ab",
    data: { a: [1, "x", null, new ExactNumber(digits)], "=b": "\n" },
    words: ["", "=x", "a,b", '"q"', "ü😀"],
    tag_id: 1,
    tags: [1, 2],
  },
  { ...plain, title: "-5", code: "d", ok: false, data: "a text", words: ["null"] },
  { ...plain, title: "null", code: "E", data: false, note: " at both ends " },
  { ...plain, title: " ", code: "f", data: { deep: [[]] }, up_id: 1 },
];

const resources = ["tags", "rooms", "rooms/chairs", "things"];
const formatFileName = (resource: string, end: string): string => `${resource.replaceAll("/", "-")}.${end}`;

async function imported(place: Machine, resource: string, records: readonly object[]): Promise<void> {
  const lines = records.map((record) => JSON.stringify(record)).join("\n");
  const { code, errors } = await place.run(["import", resource, "-", "--format", "jsonl"], lines);
  assert.equal(code, 0, errors);
}

async function exported(place: Machine, resource: string, end: string): Promise<string> {
  const { code, errors } = await place.run(["export", resource, formatFileName(resource, end)]);
  assert.equal(code, 0, errors);
  return readFileSync(path.join(place.folder, formatFileName(resource, end)), "utf8");
}

async function first(place: Machine, resource: string): Promise<{ readonly id: unknown }> {
  const { out } = await place.run(["export", resource]);
  return JSON.parse(out.split("\n")[0]!) as { readonly id: unknown };
}

function placeOn(t: TestContext, database?: string): Machine {
  const secret = { LATCHKEY_SECRET: "a secret that all processes of the service know" };
  const place = placeFor({ ...secret, ...(database === undefined ? {} : { LATCHKEY_DATABASE: database }) });
  t.after(() => place[Symbol.dispose]());
  writeFileSync(path.join(place.folder, "latchkey.config.ts"), declared);
  return place;
}

/** Fills the database of one place, and imports its export into the other place. */
async function roundTrip(from: Machine, to: Machine, end: string): Promise<void> {
  await from.run(["db", "migrate"]);
  await imported(from, "tags", [{ name: "one" }, { name: "two" }]);
  await imported(from, "rooms", [{ name: "hall" }, { name: "attic" }]);
  const { id } = await first(from, "rooms");
  await imported(from, "rooms/chairs", [{ room_id: id, name: "stool" }]);
  await imported(
    from,
    "things",
    things.map((each) => ({ ...each, room_id: id })),
  );
  await to.run(["db", "migrate"]);
  for (const resource of resources) {
    const text = await exported(from, resource, end);
    assert.ok(resource !== "things" || text.includes(digits), text);
    writeFileSync(path.join(to.folder, `from ${formatFileName(resource, end)}`), text);
    const { code, out, errors } = await to.run([
      "import",
      resource,
      `from ${formatFileName(resource, end)}`,
      "--with-ids",
    ]);
    assert.deepEqual([code, errors], [0, ""]);
    assert.doesNotMatch(out, /^0 imported/);
    assert.equal(await exported(to, resource, end), text);
  }
}

test("exports and imports every kind of field, as CSV in SQLite", async (t) => {
  await roundTrip(placeOn(t), placeOn(t), "csv");
});

test("exports and imports every kind of field, as JSON lines in PostgreSQL, and names fields that are not in the file", async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  const [from, to] = [placeOn(t, await server.makeDatabase()), placeOn(t, await server.makeDatabase())];

  await roundTrip(from, to, "jsonl");

  const { errors } = await from.run(["export", "things", "again.csv"]);
  assert.match(errors, /secret is not in the file, because its values are never shown/);
});

test("reports a line whose computed field fails, and imports the other lines", async (t) => {
  const place = placeOn(t);
  await place.run(["db", "migrate"]);
  const lines = ["one", "", "two"].map((title, at) => ({ ...plain, title, code: `c${at}` }));

  const { code, out, errors } = await place.run(
    ["import", "things", "-", "--format", "jsonl"],
    lines.map((each) => JSON.stringify(each)).join("\n"),
  );

  assert.deepEqual([code, out], [1, "2 imported, 1 refused.\n"], errors);
  assert.match(errors, /the computed field twice gave a value that its kind does not take/);
  assert.match(errors, /^line 2: Something went wrong/m);
  assert.equal((await place.run(["export", "things"])).out.trim().split("\n").length, 2);
});

test("refuses only the line with a missing quote, even next to a field of several lines", async (t) => {
  const place = placeOn(t);
  await place.run(["db", "migrate"]);
  const head = "title,code,note,price,state,words,tags";
  const rows = ['one,c1,"of two\nlines",1.00,a,[],[]', '"two,c2,,1.00,a,[],[]', 'three,c3,"x",1.00,a,[],[]'];

  const { out, errors } = await place.run(["import", "things", "-", "--format", "csv"], [head, ...rows].join("\n"));

  assert.equal(out, "2 imported, 1 refused.\n", errors);
  assert.match(errors, /^line 4: Its quotes do not match/m);
});

test("reads a line like a request: rounds nothing, and refuses overflows and duplicates", async (t) => {
  const place = placeOn(t);
  await place.run(["db", "migrate"]);
  const plainLine = JSON.stringify({ ...plain, title: "A", code: "c" });
  const withMember = (member: string): string => plainLine.replace(/\}$/, `,${member}}`);
  const wrong = [
    '"count":1e400',
    '"rate":1e400',
    '"count":1.0000000000000000001',
    '"data":{"x":9007199254740993}',
    '"data":{"x":1,"x":2}',
    '"title":"B"',
    '"__proto__":{"a":1}',
  ].map(withMember);
  const right = withMember('"note":"a\\ufffdb \uFFFD ] , \\" }"');

  const lines = await place.run(["import", "things", "-", "--format", "jsonl"], [...wrong, right].join("\n"));
  const array = `[ ${[...wrong, right.replace('"c"', '"d"')].join(" ,\n")} ]`;
  const records = await place.run(["import", "things", "-", "--format", "json"], array);
  const cells = ['"[1e400]"', '"[""\uFFFD""]"'].map((words, at) => `A,e${at},1.00,a,${words},[]`);
  const csv = await place.run(
    ["import", "things", "-", "--format", "csv"],
    ["title,code,price,state,words,tags", ...cells].join("\n"),
  );
  const unknown = await place.run(["import", "things", "-", "--format", "csv"], "title,__proto__\nA,1\n");

  for (const { out, errors } of [lines, records]) {
    assert.equal(out, `1 imported, ${wrong.length} refused.\n`, errors);
    for (const at of wrong.keys()) assert.match(errors, new RegExp(`^(?:line|record) ${at + 1}: \\S`, "m"));
  }
  assert.match(lines.errors, /^line 6: The member "title" is given twice \(column \d+\)/m);
  assert.deepEqual([csv.out, csv.errors.split(":")[0]], ["1 imported, 1 refused.\n", "line 2"]);
  assert.match(unknown.errors, /^line 2: .*__proto__: There is no field of this name/);
  const exported = (await place.run(["export", "things"])).out.trim().split("\n");
  assert.deepEqual(
    exported.map((line) => (JSON.parse(line) as { note: string }).note),
    ['a\uFFFDb \uFFFD ] , " }', 'a\uFFFDb \uFFFD ] , " }', null],
  );
});

test("refuses a whole file in UTF-16 or with carriage returns as line ends, and names the fix", async (t) => {
  const place = placeOn(t);
  await place.run(["db", "migrate"]);
  const text = "title,code,price,state,words,tags\nA,c,1.00,a,[],[]\n";
  const files = {
    "marked.csv": Buffer.from(`\uFEFF${text}`, "utf16le"),
    "swapped.csv": Buffer.from(`\uFEFF${text}`, "utf16le").swap16(),
    "unmarked.csv": Buffer.from(text, "utf16le"),
    "old.csv": Buffer.from(text.replaceAll("\n", "\r")),
  };

  const inside = Buffer.from(
    `${JSON.stringify({ ...plain, title: "A", code: "c", data: { x: ["\xe9"] } })}\n`,
    "latin1",
  );
  writeFileSync(path.join(place.folder, "latin.jsonl"), inside);
  const latin = await place.run(["import", "things", "latin.jsonl"]);
  assert.deepEqual([latin.out, latin.errors], ["0 imported, 1 refused.\n", "line 1: data: It is not UTF-8.\n"]);
  for (const [name, bytes] of Object.entries(files)) {
    writeFileSync(path.join(place.folder, name), bytes);
    const { code, out, errors } = await place.run(["import", "things", name]);
    assert.deepEqual([code, out], [1, ""], name);
    assert.match(errors, name === "old.csv" ? /carriage returns alone.*tr / : /UTF-16.*iconv/, name);
  }
});
