import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { placeFor, type Machine } from "../harness/cli.ts";
import { resolveModule } from "../harness/command.ts";
import { startPostgres } from "../harness/postgres.ts";

// `latchkey import --with-ids` keeps the id of a record in all rows that are written with it: its own row, the rows of
// its relations, and the rows that its hook writes. This holds for both kinds of ids, both kinds of relations, both
// formats and both databases.

const door = (name: string): string => pathToFileURL(resolveModule(`door/${name}`)).href;
const declared = `
import { anyone, defineResource, json, mount, reference, text } from ${JSON.stringify(door("index"))};
import { references } from ${JSON.stringify(door("resources"))};
import { keyOf } from ${JSON.stringify(door("stores"))};

const permission = anyone;
const tag = defineResource({ name: "tag", fields: { name: text() } });
const room = defineResource({ name: "room", id: "uuid", fields: { name: text() } });
const relations = {
  tag_id: reference(tag, { optional: true }),
  room_id: reference(room, { optional: true }),
  tags: references(tag, { default: [] }),
  rooms: references(room, { default: [] }),
};
const note = defineResource({ name: "note", fields: { of: text(), about: reference("posts"), said: text() } });
const line = defineResource({ name: "line", fields: { of: text(), about: reference("pages", { id: "uuid" }), said: text(), data: json() } });
const post = defineResource({ name: "post", fields: { title: text(), ...relations } });
const page = defineResource({ name: "page", id: "uuid", fields: { title: text(), ...relations } });

const notes = mount(note, { permission });
const lines = mount(line, { permission });
const written = ({ kind, draft, id }, values) => (kind === "create" ? { changes: [values(draft.values.title, id)] } : {});
export default {
  mounts: [
    ...[tag, room].map((each) => mount(each, { permission })),
    notes,
    lines,
    mount(post, {
      permission,
      beforeWrite: (write) =>
        written(write, (of) => ({ kind: "insert", collection: notes.collection, values: { of, about: keyOf(0), said: "made" } })),
    }),
    mount(page, {
      permission,
      beforeWrite: (write) =>
        written(write, (of, id) => ({
          kind: "insert",
          collection: lines.collection,
          values: { of, about: id, said: "made as " + id, data: { path: "/pages/" + id } },
        })),
    }),
  ],
};
`;

const referred = ["tags", "rooms"];
/** Pairs of a resource with relations and a hook, and the resource of the rows that the hook writes. */
const related = [
  ["posts", "notes"],
  ["pages", "lines"],
] as const;

function placeOn(t: TestContext, database?: string): Machine {
  const secret = { LATCHKEY_SECRET: "a secret that all processes of the service know" };
  const place = placeFor({ ...secret, ...(database === undefined ? {} : { LATCHKEY_DATABASE: database }) });
  t.after(() => place[Symbol.dispose]());
  writeFileSync(path.join(place.folder, "latchkey.config.ts"), declared);
  return place;
}

async function filled(place: Machine, resource: string, records: readonly object[]): Promise<void> {
  const rows = records.map((record) => JSON.stringify(record)).join("\n");
  const { code, errors } = await place.run(["import", resource, "-", "--format", "jsonl"], rows);
  assert.equal(code, 0, errors);
}

async function exported(place: Machine, resource: string, end: string): Promise<string> {
  const { code, errors, out } = await place.run(["export", resource, "-", "--format", end]);
  assert.equal(code, 0, errors);
  return out;
}

async function readIds(place: Machine, resource: string): Promise<readonly unknown[]> {
  const rows = (await exported(place, resource, "jsonl")).trim().split("\n");
  return rows.map((row) => (JSON.parse(row) as { readonly id: unknown }).id);
}

async function roundTrips(t: TestContext, from: Machine, makePlace: () => Promise<Machine>): Promise<void> {
  await from.run(["db", "migrate"]);
  await filled(from, "tags", [{ name: "one" }, { name: "two" }, { name: "three" }]);
  await filled(from, "rooms", [{ name: "hall" }, { name: "attic" }]);
  const rooms = await readIds(from, "rooms");
  for (const [resource] of related)
    await filled(from, resource, [
      { title: "all", tag_id: 2, room_id: rooms[0], tags: [2, 1], rooms },
      { title: "none" },
      { title: "some", tags: [3], room_id: rooms[1] },
    ]);
  const followed = await Promise.all(related.map(([, hooked]) => exported(from, hooked, "jsonl")));

  for (const end of ["jsonl", "csv"])
    await t.test(end, async () => {
      const to = await makePlace();
      await to.run(["db", "migrate"]);
      for (const resource of [...referred, ...related.map(([name]) => name)]) {
        const text = await exported(from, resource, end);
        const { errors, out } = await to.run(["import", resource, "-", "--format", end, "--with-ids"], text);
        assert.deepEqual([errors, out], ["", `${resource === "rooms" ? 2 : 3} imported, 0 refused.\n`]);
        if (!referred.includes(resource)) assert.equal(await exported(to, resource, end), text);
      }
      for (const [at, [, hooked]] of related.entries()) assert.equal(await exported(to, hooked, "jsonl"), followed[at]);
    });
}

test("imports records with their ids, relations and hooks in SQLite", async (t) => {
  await roundTrips(t, placeOn(t), async () => placeOn(t));
});

test("imports records with their ids, relations and hooks in PostgreSQL", async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  const makePlace = async (): Promise<Machine> => placeOn(t, await server.makeDatabase());

  await roundTrips(t, await makePlace(), makePlace);
});
