import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { outbox, type RecordEvent } from "../../src/door/features.ts";
import { openapiDocument } from "../../src/door/features.ts";
import {
  anyone,
  defineEndpoint,
  defineResource,
  integer,
  json,
  mount,
  problem,
  reference,
  text,
} from "../../src/door/index.ts";
import { uuid, type Mount } from "../../src/door/resources.ts";
import { keyOf } from "../../src/door/stores.ts";
import { readLinks, ownService, visitor } from "../harness/own-service.ts";

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const NOBODYS = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";

const albums = defineResource({
  name: "album",
  id: "uuid",
  fields: {
    title: text({ maxLength: 100 }),
    year: integer({ optional: true }),
    parent_id: reference("albums", { id: "uuid", optional: true }),
  },
  filters: { id: ["eq", "in", "gt"], title: ["eq"], parent_id: ["eq"] },
  sorts: ["title"],
  search: ["title"],
});
const songs = defineResource({ name: "song", within: albums, id: "uuid", fields: { name: text() } });
const plays = defineResource({
  name: "play",
  fields: { album_id: reference(albums, { onDelete: "cascade" }), owner_id: integer({ optional: true }) },
  filters: { album_id: ["eq"] },
});
const mountedSongs = mount(songs, { permission: anyone });
const mountedPlays = mount(plays, { permission: anyone, expand: { album: "album_id" } });
const mountedAlbums = mount(albums, {
  permission: anyone,
  expand: { songs: mountedSongs, parent: "parent_id" },
  beforeWrite: ({ kind }) =>
    kind === "create"
      ? { changes: [{ kind: "insert", collection: mountedPlays.collection, values: { album_id: keyOf(0) } }] }
      : {},
  actions: {
    rename: {
      permission: anyone,
      body: { title: text() },
      handle: ({ draft, record }) => {
        true satisfies typeof record.id extends string ? true : false;
        return { values: { title: `${draft.title} ${record.id.slice(0, 1)}` } };
      },
    },
  },
});
const mounts: readonly Mount[] = [mountedAlbums, mountedSongs, mountedPlays];

async function serve(t: TestContext, more: object = {}) {
  const own = await ownService(t, { mounts, ...more });
  const make = async (body: object): Promise<string> => (await own.ask("POST", "/albums", { body })).json.id as string;
  return { ...own, make };
}

test("creates, reads, changes and deletes a resource by its UUIDs", async (t) => {
  const { ask, get } = await serve(t);

  const made = await ask("POST", "/albums", { body: { title: "Blue" } });
  const { id } = made.json;
  const path = `/albums/${id}`;

  assert.equal(made.status, 201);
  assert.match(id, V7);
  assert.equal(made.headers.get("location"), path);
  assert.deepEqual((await get(path)).json, { id, title: "Blue", year: null, parent_id: null });
  const tag = made.headers.get("etag")!;
  assert.equal((await get(path, { headers: { "if-none-match": tag } })).status, 304);
  assert.equal((await ask("PUT", path, { body: { id, title: "Hejira" }, headers: { "if-match": tag } })).status, 200);
  assert.equal((await ask("PUT", path, { body: { title: "Late" }, headers: { "if-match": tag } })).status, 412);
  assert.equal((await ask("PATCH", path, { body: { year: 1976 } })).json.year, 1976);
  assert.equal((await ask("PATCH", path, { body: { id: NOBODYS } })).json.errors[0].pointer, "/id");
  assert.equal((await ask("POST", `${path}/rename`, { body: { title: "Mingus" } })).json.title, `Mingus ${id[0]}`);
  assert.equal((await ask("POST", "/albums", { body: { id, title: "a" } })).json.errors[0].code, "read_only");
  assert.equal((await ask("DELETE", path)).status, 204);
  assert.equal((await get(path)).status, 404);
});

test("accepts only one spelling of an id in a path", async (t) => {
  const { ask, get, make } = await serve(t);
  const id = await make({ title: "Blue" });

  for (const wrong of [
    id.toUpperCase(),
    id.replaceAll("-", ""),
    `{${id}}`,
    `${id}0`,
    id.slice(1),
    "1",
    "urn:uuid:" + id,
    "%00",
    NOBODYS,
  ]) {
    assert.equal((await get(`/albums/${wrong}`)).status, 404, wrong);
    assert.equal((await ask("DELETE", `/albums/${wrong}`)).status, 404, wrong);
    assert.equal((await get(`/albums/${wrong}/songs`)).status, 404, wrong);
  }
  assert.equal((await get(`/plays/${id}`)).status, 404);
});

test("creates only one record for concurrent PUTs with a UUID of the caller", async (t) => {
  const { ask } = await serve(t);
  const path = `/albums/${NOBODYS}`;
  const once = { body: { title: "Blue" }, headers: { "if-none-match": "*" } };

  const all = await Promise.all([ask("PUT", path, once), ask("PUT", path, once)]);

  assert.deepEqual(
    all.map(({ status }) => status).toSorted((one, other) => one - other),
    [201, 412],
  );
  assert.equal(all.find(({ status }) => status === 201)!.headers.get("location"), path);
  assert.equal((await ask("PUT", path, { body: { title: "Hejira" } })).status, 200);
});

test("lists records in the order of their creation, page by page, even if the clock goes back", async (t) => {
  let now = Date.parse("2026-01-31T09:30:00Z");
  const { ask, get, make } = await serve(t, { now: () => now });
  const made: string[] = [];
  for (let at = 0; at < 7; at++) {
    if (at === 3) now += 5;
    if (at === 5) now -= 60_000;
    made.push(await make({ title: `album ${at}`, year: at }));
  }

  const seen: string[] = [];
  for (let page: string | undefined = "/albums?limit=3"; page !== undefined;) {
    const answer = await get(page);
    seen.push(...answer.json.map(({ id }: { id: string }) => id));
    page = readLinks(answer)["next"];
  }

  assert.deepEqual(seen, made);
  assert.deepEqual((await get(`/albums?id[in]=${made[1]!.toUpperCase()},${made[4]}`)).json.length, 2);
  assert.deepEqual((await get(`/albums?id[gt]=${made[4]}`)).json.length, 2);
  assert.equal((await get("/albums?id=7")).status, 400);
  assert.equal((await get("/albums?parent_id=x")).status, 400);
  assert.equal((await get("/albums?search=alb&sort=-title&limit=1")).json[0].title, "album 6");
  const queryAnswer = await ask("QUERY", "/albums", {
    body: { where: { id: { in: [made[2], made[3]] } }, sort: "-id" },
  });
  assert.deepEqual(
    queryAnswer.json.map(({ year }: { year: number }) => year),
    [3, 2],
  );
});

test("refers to records by their UUIDs, and serves nested records below a UUID", async (t) => {
  const { ask, get, make } = await serve(t);
  const id = await make({ title: "Blue" });

  const song = await ask("POST", `/albums/${id}/songs`, { body: { name: "River" } });
  assert.equal(song.status, 201);
  assert.equal((await get(song.headers.get("location")!)).json.name, "River");
  assert.equal((await get(`/albums/${NOBODYS}/songs/${song.json.id}`)).status, 404);
  const dangling = await ask("POST", "/plays", { body: { album_id: NOBODYS } });
  assert.deepEqual([dangling.status, dangling.json.errors[0].pointer], [400, "/album_id"]);
  assert.equal((await ask("POST", "/plays", { body: { album_id: 1 } })).status, 400);
  // `beforeWrite` made this play with the key of the new album (`keyOf(0)`).
  assert.equal((await get(`/plays?album_id=${id}`)).json[0].album_id, id);
  assert.equal((await get("/plays/1?expand=album")).json.album.title, "Blue");
  const expanded = (await get(`/albums/${id}?expand=songs,parent`)).json;
  assert.deepEqual([expanded.songs[0].name, expanded.parent], ["River", null]);
  const child = await make({ title: "Side two", parent_id: id.toUpperCase() });
  assert.equal((await get(`/albums/${child}?expand=parent`)).json.parent.id, id);
  assert.equal((await ask("DELETE", `/albums/${id}`)).status, 409);
  await ask("DELETE", `/albums/${child}`);
  assert.equal((await ask("DELETE", `/albums/${id}`)).status, 204);
  assert.deepEqual((await get("/plays")).json, []);
});

test("applies a repeated request once, also if the service makes the record's id", async (t) => {
  const { ask, get } = await serve(t);
  const sent = { as: "ada", body: { title: "Blue" }, headers: { "idempotency-key": "made-by-a-client" } };

  const [one, other] = await Promise.all([ask("POST", "/albums", sent), ask("POST", "/albums", sent)]);

  assert.equal(one.json.id, other.json.id);
  assert.equal((await get("/albums")).json.length, 1);
});

test("writes a UUID as text in XML, and describes it as a UUID", async (t) => {
  const { ask, get, make } = await serve(t);
  const id = await make({ title: "Blue" });
  const xml = { "content-type": "application/xml", accept: "application/xml" };

  const shown = await get(`/albums/${id}`, { headers: { accept: "application/xml" } });
  assert.match(shown.text, new RegExp(`<id>${id}</id>`));
  const changed = await ask("PUT", `/albums/${id}`, {
    body: `<album><id>${id}</id><title>Hejira</title></album>`,
    headers: xml,
  });
  assert.equal(changed.status, 200);
  const described = (await openapiDocument({
    title: "A",
    version: "1",
    schemes: [visitor],
    mounts,
  })) as unknown as Described;
  const inPath = (path: string) => described.paths[path]!.get.parameters.filter((each) => each.in === "path");
  assert.deepEqual(
    inPath("/albums/{album_id}/songs/{id}").map(({ name, schema }) => [name, schema]),
    ["album_id", "id"].map((name) => [name, { type: "string", format: "uuid" }]),
  );
  assert.equal(inPath("/plays/{id}")[0]!.schema["type"], "integer");
  const { Album, Play } = described.components.schemas;
  assert.equal(Album!.properties["id"]!["format"], "uuid");
  assert.equal(Play!.properties["album_id"]!["format"], "uuid");
});

interface Described {
  readonly paths: Readonly<Record<string, { readonly get: { readonly parameters: readonly Parameter[] } }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties: Readonly<Record<string, Schema>> }>>;
  };
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: Schema;
}
type Schema = Readonly<Record<string, unknown>>;

test("reports the UUID to subscribers of its writes", async (t) => {
  const events: RecordEvent[] = [];
  const feature = outbox({
    subscribers: [{ name: "mail", to: [albums], deliver: (event) => void events.push(event) }],
  });
  const { make, ask, service } = await serve(t, { features: [feature] });

  const id = await make({ title: "Blue" });
  await ask("PATCH", `/albums/${id}`, { body: { year: 1971 } });
  await service.use(feature).deliverDue();

  assert.deepEqual(
    events.map(({ kind, record }) => [kind, record]),
    [
      ["create", id],
      ["update", id],
    ],
  );
});

test("accepts a UUID in the path of a custom endpoint and in a field", async (t) => {
  const things = defineResource({ name: "thing", fields: { device: uuid(), owner_id: integer({ optional: true }) } });
  const { ask, get } = await serve(t, {
    mounts: [mount(things, { permission: anyone })],
    endpoints: [
      defineEndpoint({
        method: "GET",
        path: "/devices/{device:uuid}",
        access: anyone,
        handle({ params }) {
          true satisfies typeof params.device extends string ? true : false;
          if (params.device === NOBODYS) throw problem("not_found");
          return { status: 200, body: { kind: "data", value: params, element: "device" } };
        },
      }),
    ],
  });
  const device = "0198c5d8-7a4c-7b1f-9d0e-3f2a61c4b7e5";

  assert.deepEqual((await get(`/devices/${device}`)).json, { device });
  assert.equal((await get(`/devices/${device.toUpperCase()}`)).status, 404);
  assert.equal((await ask("POST", "/things", { body: { device: device.toUpperCase() } })).json.device, device);
  assert.equal((await ask("POST", "/things", { body: { device: "0198" } })).json.errors[0].code, "invalid");
});

test("does not start with a reference whose type differs from the ids of its target, and names the fix", async (t) => {
  const wrong = defineResource({ name: "note", fields: { album_id: reference("albums") } });

  await assert.rejects(
    serve(t, { mounts: [...mounts, mount(wrong, { permission: anyone })] }),
    /mount\(\/notes\): the field album_id refers to albums, whose ids are uuids; write reference\("albums", \{ id: "uuid" \}\)/,
  );
  assert.throws(
    () => defineResource({ name: "a", id: "uid" as "uuid", fields: {} }),
    /id is 'uid'; it has to be one of integer, uuid, text; did you mean uuid\?/,
  );
});

test("creates and changes records by UUID in arrays", async (t) => {
  const discs = defineResource({ name: "disc", id: "uuid", fields: { title: text() } });
  const { ask, get } = await serve(t, { mounts: [mount(discs, { permission: anyone, arrays: true })] });

  const made = await ask("POST", "/discs", { body: [{ title: "a" }, { title: "b" }] });
  const ids = made.json.map(({ id }: { id: string }) => id);
  const changed = await ask("PATCH", "/discs", { body: ids.toReversed().map((id: string) => ({ id, title: "c" })) });
  const wrong = await ask("PATCH", "/discs", { body: [{ id: 1, title: "c" }] });

  assert.deepEqual([made.status, changed.status, wrong.status], [201, 200, 400]);
  assert.deepEqual(
    (await get("/discs")).json,
    ids.map((id: string) => ({ id, title: "c" })),
  );
});

test("adds to each record exactly its own nested records, even if texts contain JSON syntax", async (t) => {
  const notes = defineResource({
    name: "note",
    id: "uuid",
    fields: { title: text(), body: json({ optional: true }), pin: text({ writeOnly: true, optional: true }) },
  });
  const plain = defineResource({ name: "plain", fields: { title: text() } });
  const lines = defineResource({ name: "line", within: notes, fields: { words: text() } });
  const rows = defineResource({ name: "row", within: plain, fields: { words: text() } });
  const [mountedLines, mountedRows] = [mount(lines, { permission: anyone }), mount(rows, { permission: anyone })];
  const { ask, get } = await ownService(t, {
    mounts: [
      mountedLines,
      mountedRows,
      mount(notes, { permission: anyone, expand: { lines: mountedLines } }),
      mount(plain, { permission: anyone, expand: { rows: mountedRows } }),
    ],
  });
  const titles = ['},{"id":"', "\\", "é,\u2028", '"'];
  const bodies = [[{ a: 1 }, { b: [{ id: 1 }, {}] }], '},{"', { id: { "},{": null } }, null];
  for (const [at, title] of titles.entries()) {
    const note = await ask("POST", "/notes", { body: { title, body: bodies[at], pin: "4711" } });
    const row = await ask("POST", "/plains", { body: { title } });
    await ask("POST", `/notes/${note.json.id}/lines`, { body: { words: title } });
    await ask("POST", `/plains/${row.json.id}/rows`, { body: { words: title } });
  }

  for (const [path, name] of [
    ["/notes", "lines"],
    ["/plains", "rows"],
  ] as const) {
    const bare = await get(path);
    const expanded = await get(`${path}?expand=${name}`);
    assert.equal(bare.json.length, titles.length);
    for (const [at, record] of bare.json.entries()) {
      const behind = (await get(`${path}/${record.id}/${name}`)).json;
      assert.equal(behind.length, 1);
      assert.deepEqual(expanded.json[at], { ...record, [name]: behind });
      assert.deepEqual(Object.keys(expanded.json[at]), [...Object.keys(record), name]);
    }
    assert.deepEqual((await get(`${path}?expand=${name}&limit=2&fields=id`)).json[0], {
      id: expanded.json[0].id,
      [name]: expanded.json[0][name],
    });
  }
});

test("uses the ids of makeUUID for new records, and answers 500 if an id is not a UUID in lower case", async (t) => {
  const made = [NOBODYS, NOBODYS.toUpperCase(), 7];
  const own = await ownService(t, {
    mounts: [mount(albums, { permission: anyone })],
    makeUUID: (draw) => (made.length === 0 ? draw() : (made.shift() as string)),
  });
  const create = () => own.ask("POST", "/albums", { body: { title: "A" } });

  const answers = [await create(), await create(), await create(), await create()];

  assert.deepEqual(
    answers.map(({ status }) => status),
    [201, 500, 500, 201],
  );
  assert.equal(answers[0]!.json.id, NOBODYS);
  assert.match(answers[3]!.json.id, V7);
  assert.match(
    own.observed.map((each) => (each.kind === "fault" ? String(each.error) : "")).join(),
    /makeUUID gave 7; it has to give a UUID in lower case/,
  );
});
