import assert from "node:assert/strict";
import { anyone, dateTime, defineResource, mount } from "../../src/door/index.ts";
import { inspectSQLite } from "../../src/door/stores.ts";
import { formatDeclarations } from "../../src/service/inspecting/inspect.ts";
import { onSQLite } from "../harness/existing.ts";

// Only SQLite stores times as texts that each program writes in its own way.

const event = defineResource({
  name: "event",
  table: "ev",
  writes: ["create", "update"],
  fields: { at: dateTime({ optional: true }) },
  filters: { at: ["eq", "lt", "gte", "in"] },
  sorts: ["at"],
  scans: true,
});
const made = "CREATE TABLE ev (id INTEGER PRIMARY KEY, at DATETIME);";

/** Texts of one moment each, in the order of time, with the form that answers show. */
const texts = [
  ["2026-01-31T09:30:00Z", "2026-01-31T09:30:00Z"],
  ["2026-01-31T09:30:00.05Z", "2026-01-31T09:30:00.05Z"],
  ["2026-01-31T09:30:00.5Z", "2026-01-31T09:30:00.5Z"],
  ["2026-01-31 09:30:00.55", "2026-01-31T09:30:00.55Z"],
  ["2026-01-31T11:30:00.600000001+02:00", "2026-01-31T09:30:00.600000001Z"],
  ["2026-01-31 09:30:01", "2026-01-31T09:30:01Z"],
  ["2026-01-30T23:30:02-10:00", "2026-01-31T09:30:02Z"],
  ["2026-01-31 09:30:03.123456+00:00", "2026-01-31T09:30:03.123456Z"],
] as const;

for (const [text, shown] of texts)
  onSQLite(`reads ${text} alone in a column`, `${made} INSERT INTO ev (at) VALUES ('${text}')`, async ({ serve }) => {
    const api = await serve(mount(event, { permission: anyone }));

    assert.equal((await api.get("/events/1")).json.at, shown);
    assert.equal((await api.get(`/events?at=${encodeURIComponent(shown)}`)).json.length, 1);
  });

onSQLite("reads, sorts, pages, finds and writes times of several forms", made, async ({ serve, sql }) => {
  for (const [text] of texts.toReversed()) await sql(`INSERT INTO ev (at) VALUES ('${text}')`);
  const api = await serve(mount(event, { permission: anyone }));
  const all = texts.map(([, shown]) => shown);

  const walk = async (path: string): Promise<string[]> => {
    const found: string[] = [];
    for (let next: string | undefined = path; next !== undefined;) {
      const page = await api.get(next);
      assert.equal(page.status, 200, page.text);
      found.push(...page.json.map((each: { readonly at: string }) => each.at));
      next = /<([^>]*)>; rel="next"/.exec(page.headers.get("link") ?? "")?.[1];
    }
    return found;
  };
  assert.deepEqual(await walk("/events?sort=at&limit=1"), all);
  assert.deepEqual(await walk("/events?sort=-at&limit=3"), all.toReversed());
  for (const [at, shown] of all.entries()) {
    const asked = encodeURIComponent(shown);
    assert.deepEqual(await walk(`/events?at=${asked}`), [shown]);
    assert.deepEqual(await walk(`/events?at[in]=${asked}`), [shown]);
    assert.deepEqual(await walk(`/events?at[lt]=${asked}&sort=at`), all.slice(0, at));
    assert.deepEqual(await walk(`/events?at[gte]=${asked}&sort=at`), all.slice(at));
  }
  assert.deepEqual(await walk("/events?at=2026-01-31T09:30:00.500Z"), ["2026-01-31T09:30:00.5Z"]);
  const posted = await api.ask("POST", "/events", { body: { at: "2026-01-31T10:00:00.250Z" } });
  assert.deepEqual([posted.status, posted.json.at], [201, "2026-01-31T10:00:00.250Z"]);
});

for (const text of [
  "2026-02-30T09:30:00Z",
  "2026-01-31T09:30Z",
  "2026-01-31T09:30:00.Z",
  "2026-01-31T09:30:00+9",
  "soon",
])
  onSQLite(
    `refuses ${text}, and names a form that is read`,
    `${made} INSERT INTO ev (at) VALUES ('2026-01-31'), ('${text}')`,
    async ({ serve }) => {
      await assert.rejects(serve(mount(event, { permission: anyone })), /a date-time, like 2026-01-31T09:30:00\.000Z/);
    },
  );

onSQLite(
  "writes with `db inspect` only kinds that the rows have",
  `CREATE TABLE log (id INTEGER PRIMARY KEY, at DATETIME, fine DATETIME, epoch TIMESTAMP, day DATE, ok BOOLEAN, n INT, price DECIMAL(10,2), e DATETIME NOT NULL);
   CREATE INDEX by_at ON log (at, id); CREATE INDEX by_e ON log (e);
   INSERT INTO log (at, fine, epoch, day, ok, n, price, e) VALUES ('2026-01-31T09:30:00Z', '2026-01-31 09:30:00', 1769851800, '2026-01-31 00:00:00', 't', 'x', 1.234, '2026-01-31T09:30:00Z');
   PRAGMA foreign_keys = OFF; CREATE TABLE part (id INTEGER PRIMARY KEY, log_id INTEGER REFERENCES log (id)); INSERT INTO part (log_id) VALUES ('none');`,
  async ({ url, serve }) => {
    const text = formatDeclarations(await inspectSQLite(url.replace("sqlite:", "")));

    for (const name of ["epoch", "day", "ok", "n", "price", "log_id"])
      assert.match(text, new RegExp(`// ${name} is not declared: the table has values that are no `), text);
    assert.match(text, /^ {4}at: dateTime\(\{ optional: true \}\),\n {4}fine: dateTime/m);
    assert.doesNotMatch(text, /^ {2}(?:filters|sorts)/m);
    const log = defineResource({ name: "log", table: "log", fields: { at: dateTime({ optional: true }) } });
    await serve(mount(log, { permission: anyone }));
  },
);
