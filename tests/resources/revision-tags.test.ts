import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { anyone, createService, defineResource, mount, Secret, text, type Service } from "../../src/door/index.ts";
import { tagFormsCollection } from "../../src/http/request/revision-tags.ts";
import { sharedDatabase } from "../harness/test-store.ts";

const fields = { title: text() };
const note = mount(defineResource({ name: "note", fields }), { permission: anyone, arrays: true });
const longer = mount(defineResource({ name: "note", fields: { ...fields, more: text({ default: "none" }) } }), {
  permission: anyone,
});
const DAY_MS = 24 * 3_600_000;

/** Returns a function that starts a service on one database, and closes the service that it started before. */
async function restarting(t: TestContext) {
  const { open } = await sharedDatabase(t);
  const clock = { now: Date.parse("2026-03-01T12:00:00Z") };
  let last: Service | null = null;
  t.after(() => last?.close());
  return {
    clock,
    async start(...mounts: readonly (typeof note | typeof longer)[]) {
      await last?.close();
      const secret = new Secret("one secret of 32 characters or more");
      return (last = await createService({ store: open(), mounts, secret, observe: null, now: () => clock.now }));
    },
  };
}

async function ask(service: Service, method: string, headers: Readonly<Record<string, string>> = {}, body?: unknown) {
  const path = method === "POST" ? "/notes" : "/notes/1";
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const init = { method, headers: { "content-type": "application/json", ...headers }, ...sent };
  const response = await service.fetch(new Request(`http://127.0.0.1${path}`, init), { peer: "127.0.0.1" });
  await response.text();
  return { status: response.status, tag: response.headers.get("etag")! };
}

/** Starts a service on a database with a record of an older version, which has stored no decision about ETags. */
async function upgraded(t: TestContext) {
  const { start, clock } = await restarting(t);
  const older = await start(note);
  const { tag: keyed } = await ask(older, "POST", {}, { title: "x" });
  await older.store.write({ changes: [{ kind: "delete", collection: tagFormsCollection, key: "revisions" }] });
  return { start, clock, keyed, service: await start(note) };
}

async function readRevision(service: Service): Promise<number> {
  return (await service.store.find(note.collection, 1))!.revision;
}

test("gives ETags that versions before 0.2 accept, for seven days after an upgrade", async (t) => {
  const { start, clock, service } = await upgraded(t);

  const read = await ask(service, "GET");
  assert.equal(read.tag, `"${await readRevision(service)}"`);
  assert.equal((await ask(service, "GET", { "if-none-match": read.tag })).status, 304);
  assert.equal((await ask(service, "PATCH", { "if-none-match": read.tag }, { title: "y" })).status, 412);
  const written = await ask(service, "PATCH", { "if-match": read.tag }, { title: "y" });
  assert.deepEqual([written.status, written.tag], [200, `"${await readRevision(service)}"`]);
  assert.equal((await ask(service, "PATCH", { "if-match": read.tag }, { title: "z" })).status, 412);

  clock.now += 7 * DAY_MS - 1000;
  assert.equal((await ask(await start(note), "GET")).tag, written.tag);
  clock.now += 1000;
  const later = await start(note);
  assert.match((await ask(later, "GET")).tag, /^"[\w-]{12}\.[\w-]{6}"$/);
  assert.equal((await ask(later, "PATCH", { "if-match": written.tag }, { title: "z" })).status, 200);
});

test("accepts the keyed ETags of other versions during this time", async (t) => {
  const { service, keyed } = await upgraded(t);

  assert.equal((await ask(service, "PATCH", { "if-match": keyed }, { title: "y" })).status, 200);
  assert.equal((await ask(service, "PATCH", { "if-match": keyed }, { title: "y" })).status, 412);
});

test("gives a keyed ETag to a record whose shape has changed since the upgrade", async (t) => {
  const { start, service } = await upgraded(t);
  const { tag } = await ask(service, "GET");

  const changed = await start(longer);

  assert.equal((await ask(changed, "GET", { "if-none-match": tag })).status, 200);
  assert.equal((await ask(changed, "PATCH", { "if-match": tag }, { title: "y" })).status, 200);
});

test("gives keyed ETags from the first record of a new database on, also after a restart", async (t) => {
  const { start } = await restarting(t);
  const service = await start(note);

  const { tag } = await ask(service, "POST", {}, { title: "x" });

  assert.match(tag, /^"[\w-]{12}\.[\w-]{6}"$/);
  assert.equal((await ask(await start(note), "GET")).tag, tag);
});
