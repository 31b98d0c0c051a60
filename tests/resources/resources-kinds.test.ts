import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { administrator, decimal, defineResource, integer, mount, text } from "../../src/door/index.ts";
import { array, date, DeclarationError, type Field, updatedAt, url, uuid } from "../../src/door/resources.ts";
import { serve, type API } from "../harness/serve.ts";

const trips = defineResource({
  name: "trip",
  fields: {
    day: date(),
    ends: date({ optional: true }),
    key: uuid({ optional: true, unique: true }),
    page: url({ optional: true }),
    tags: array(text({ maxLength: 5 }), { maxItems: 3, default: [] }),
    marks: array(integer({ minimum: 0 }), { optional: true }),
    fares: array(decimal({ scale: 2, maximum: "99" }), { optional: true }),
    changed_at: updatedAt(),
  },
  filters: {
    day: ["eq", "gte", "lt", "in"],
    ends: ["null"],
    key: ["eq", "in"],
    page: ["eq", "starts"],
    changed_at: ["gt"],
  },
  sorts: ["day", "ends", "changed_at"],
});

const touch = {
  action: {
    on: "record",
    answer: "record",
    permission: administrator,
    handle: () => ({ values: { day: "2024-01-05" } }),
  },
} as const;

function serveTrips(t: TestContext): Promise<API> {
  return serve(t, {
    config: { mounts: [mount(trips, { permission: administrator, arrays: true, actions: { touch: touch.action } })] },
  });
}

const KEY = "01980b6e-7a5c-7d31-9c2b-5f0e8a4d1b27";

test("stores and returns days, identifiers, URLs and lists in one spelling", async (t) => {
  const api = await serveTrips(t);
  const sent = {
    day: "2024-02-29",
    key: KEY.toUpperCase(),
    page: "https://EXAMPLE.org",
    tags: [" a ", "b"],
    fares: ["1"],
  };

  const made = await api.post("/trips", sent, api.admin);

  const expected = {
    id: 1,
    day: "2024-02-29",
    ends: null,
    key: KEY,
    page: "https://example.org/",
    tags: ["a", "b"],
    marks: null,
    fares: ["1.00"],
    changed_at: "2026-01-31T09:30:00.000Z",
  };
  assert.deepEqual([made.status, made.json], [201, expected]);
  assert.deepEqual((await api.get("/trips/1", api.admin)).json, expected);
  assert.deepEqual((await api.get("/trips", api.admin)).json, [expected]);
  assert.equal((await api.post("/trips", { day: "2024-01-01", key: KEY }, api.admin)).json.errors[0].code, "taken");
});

const wrong: readonly (readonly [body: object, pointer: string, code: string])[] = [
  ...[
    "2023-02-29",
    "2024-13-01",
    "2024-1-1",
    "2024-00-10",
    "2024-01-00",
    "1900-02-29",
    "2024-01-31T00:00:00Z",
    "",
    20240131,
  ].map((day) => [{ day }, "/day", "invalid"] as const),
  ...["", "x", KEY.slice(1), `${KEY}0`, KEY.replaceAll("-", ""), `{${KEY}}`].map(
    (key) => [{ key }, "/key", "invalid"] as const,
  ),
  ...[
    "example.org",
    "//example.org/",
    "javascript:alert(1)",
    "data:text/html,x",
    "ftp://example.org/",
    "https:///example.org",
    "https:example.org",
    "https://",
    "https://ann:secret@example.org/",
    "https://example.org/a b",
    "https://example.org/\n",
    "https:\\\\example.org\\",
    "https://exa mple.org",
    "https://[::1",
    "https://example.org:99999/",
    7,
  ].map((page) => [{ page }, "/page", "invalid"] as const),
  [{ page: `https://example.org/${"a".repeat(2048)}` }, "/page", "too_long"],
  [{ page: `https://example.org/${"ä".repeat(700)}` }, "/page", "too_long"],
  [{ tags: "a" }, "/tags", "invalid"],
  [{ tags: { 0: "a" } }, "/tags", "invalid"],
  [{ tags: null }, "/tags", "invalid"],
  [{ tags: ["a", "b", "c", "d"] }, "/tags", "too_long"],
  [{ tags: ["a", "toolong"] }, "/tags/1", "too_long"],
  [{ tags: [["a"]] }, "/tags/0", "invalid"],
  [{ marks: [1, -1, null] }, "/marks/1", "too_small"],
  [{ changed_at: "2026-01-31T09:30:00.000Z" }, "/changed_at", "read_only"],
];

test("names each invalid value by its pointer", async (t) => {
  const api = await serveTrips(t);

  for (const [body, pointer, code] of wrong) {
    const reply = await api.post("/trips", { day: "2024-01-01", ...body }, api.admin);
    assert.deepEqual(
      [reply.status, reply.json.errors[0].pointer, reply.json.errors[0].code],
      [400, pointer, code],
      reply.text,
    );
  }
  for (const day of ["0000-02-29", "0001-01-01", "9999-12-31", "2000-02-29"])
    assert.equal((await api.post("/trips", { day }, api.admin)).status, 201, day);
});

test("filters lists by days, identifiers and URLs, and sorts lists by days", async (t) => {
  const api = await serveTrips(t);
  for (const [at, day] of ["2024-03-01", "2023-12-31", "2024-02-29"].entries())
    await api.post(
      "/trips",
      { day, ends: at === 1 ? "2025-01-01" : null, key: at === 0 ? KEY : null, page: `https://example.org/${at}` },
      api.admin,
    );
  const ids = async (query: string): Promise<unknown> =>
    (await api.get(`/trips?${query}`, api.admin)).json.map?.(({ id }: { id: number }) => id);

  assert.deepEqual(await ids("sort=day"), [2, 3, 1]);
  assert.deepEqual(await ids("sort=-ends,id"), [2, 1, 3]);
  assert.deepEqual(await ids("day[gte]=2024-01-01&day[lt]=2024-03-01"), [3]);
  assert.deepEqual(await ids("day[in]=2023-12-31,2024-03-01"), [1, 2]);
  assert.deepEqual(await ids("ends[null]=false"), [2]);
  assert.deepEqual(await ids(`key=${KEY.toUpperCase()}`), [1]);
  assert.deepEqual(await ids("page=https://EXAMPLE.org/2"), [3]);
  assert.deepEqual(await ids("page[starts]=https://example.org/1"), [2]);
  assert.equal((await api.get("/trips?day=yesterday", api.admin)).json.errors[0].pointer, "?day");
  assert.equal((await api.get("/trips?key=x", api.admin)).json.errors[0].pointer, "?key");
});

test("sets the time of the last write at each write, and refuses a time from callers", async (t) => {
  const api = await serveTrips(t);
  await api.post("/trips", { day: "2024-01-01" }, api.admin);
  const changed = async (write: () => Promise<{ status: number; json: { changed_at: string } }>): Promise<string> => {
    api.clock.turn(60);
    const { status, json } = await write();
    assert.equal(status, 200);
    assert.equal((await api.get("/trips/1", api.admin)).json.changed_at, json.changed_at);
    return json.changed_at;
  };

  const patched = await changed(() => api.patch("/trips/1", { day: "2024-01-02" }, api.admin));
  assert.equal(patched, "2026-01-31T09:31:00.000Z");
  const record = (await api.get("/trips/1", api.admin)).json;
  assert.equal(await changed(() => api.put("/trips/1", record, api.admin)), "2026-01-31T09:32:00.000Z");
  assert.equal(await changed(() => api.put("/trips/1", { day: "2024-01-03" }, api.admin)), "2026-01-31T09:33:00.000Z");
  const patch = [{ op: "replace", path: "/day", value: "2024-01-04" }];
  const jsonPatch = { ...api.admin, "content-type": "application/json-patch+json" };
  assert.equal(await changed(() => api.patch("/trips/1", patch, jsonPatch)), "2026-01-31T09:34:00.000Z");
  assert.equal(await changed(() => api.post("/trips/1/touch", undefined, api.admin)), "2026-01-31T09:35:00.000Z");
  const many = await changed(async () => {
    const { status, json } = await api.patch("/trips", [{ id: 1, day: "2024-01-06" }], api.admin);
    return { status, json: json[0] };
  });
  assert.equal(many, "2026-01-31T09:36:00.000Z");
  const forged = await api.patch("/trips/1", { changed_at: "2030-01-01T00:00:00Z" }, api.admin);
  assert.deepEqual([forged.status, forged.json.errors[0].code], [400, "read_only"]);
});

test("reads and writes days, identifiers, URLs and lists as XML", async (t) => {
  const api = await serveTrips(t);
  const xml = { ...api.admin, "content-type": "application/xml", accept: "application/xml" };
  const body = `<trip><day>2024-01-01</day><key>${KEY}</key><page>https://example.org/?a=1&amp;b=2</page><tags>["a","b&lt;"]</tags></trip>`;

  const made = await api.ask("POST", "/trips", { headers: xml, body });

  assert.equal(made.status, 201, made.text);
  assert.match(made.text, /<day>2024-01-01<\/day>.*<tags>\["a","b&lt;"\]<\/tags>/);
  const { tags, page } = (await api.get("/trips/1", api.admin)).json;
  assert.deepEqual([tags, page], [["a", "b<"], "https://example.org/?a=1&b=2"]);
  const again = await api.ask("PUT", "/trips/1", { headers: xml, body: made.text });
  assert.equal(again.status, 200, again.text);
});

test("describes days, identifiers, URLs and lists in the API's description", async (t) => {
  const api = await serveTrips(t);

  const { Trip } = (await api.get("/openapi.json")).json.components.schemas;

  const { day, key, page, tags, changed_at: changedAt } = Trip.properties;
  assert.deepEqual([day.format, key.anyOf?.[0].format ?? key.format], ["date", "uuid"]);
  assert.ok(JSON.stringify(page).includes('"uri"'));
  assert.deepEqual([tags.type, tags.items.maxLength, tags.maxItems], ["array", 5, 3]);
  assert.deepEqual([changedAt.format, changedAt.readOnly], ["date-time", true]);
});

test("refuses to declare a list whose members are lists, unique or not fields", () => {
  const catchMessage = (declare: () => Field): string => {
    try {
      defineResource({ name: "a", fields: { b: declare() } });
      return "";
    } catch (error) {
      assert.ok(error instanceof DeclarationError);
      return error.message;
    }
  };

  assert.match(
    catchMessage(() => array(array(text()))),
    /simple values/,
  );
  assert.match(
    catchMessage(() => array(text({ unique: true }))),
    /unique is for the whole list/,
  );
  assert.match(
    catchMessage(() => array({} as never)),
    /have to be a field/,
  );
  assert.match(
    catchMessage(() => array(text(), { maxItem: 3 } as never)),
    /maxItem; did you mean maxItems/,
  );
});
