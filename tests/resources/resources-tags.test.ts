import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { anyone, createService, defineResource, mount, Secret, text, type Service } from "../../src/door/index.ts";
import { sqliteStore, type Row } from "../../src/door/stores.ts";
import { serve, type API } from "../harness/serve.ts";

/** Returns the row of an order in the store. */
async function loadRow({ service }: API, id: number): Promise<Row> {
  const orders = service.mounts.find(({ resource }) => resource.name === "order")!;
  return (await service.store.find(orders.collection, id))!;
}

test("does not reveal the activity of other callers in tags or request ids", async (t) => {
  const api = await serve(t);
  const made = await api.post("/orders", {}, api.admin);
  const { revision } = await loadRow(api, 1);
  const all = [
    made,
    await api.get("/orders/1", api.admin),
    await api.get("/orders", api.admin),
    await api.get("/orders/1?expand=items", api.admin),
    await api.patch("/orders", [{ id: 1, status: "paid" }], api.admin),
  ];

  for (const { headers } of all) {
    const tag = headers.get("etag");
    if (tag !== null) assert.doesNotMatch(tag, new RegExp(`^"(\\d+|.*\\b${revision}\\b.*)"$`));
    assert.match(headers.get("x-request-id")!, /^[\w-]{22}$/);
  }
});

test("accepts a single ETag of version 0.1 in If-Match, with any suffix, until the record changes", async (t) => {
  const api = await serve(t);
  await api.post("/orders", [{}, {}], api.admin);
  const revision = async (id: number): Promise<number> => (await loadRow(api, id)).revision;

  for (const suffix of ["", "-gzip", "-xml", "-xml-br"]) {
    const old = `"${await revision(1)}${suffix}"`;
    const patched = await api.patch("/orders/1", { status: "paid" }, { ...api.admin, "if-match": old });
    assert.equal(patched.status, 200, old);
    assert.equal(
      (await api.patch("/orders/1", {}, { ...api.admin, "if-match": old })).status,
      412,
      "the record has changed since",
    );
  }
  const old = `"${await revision(1)}"`;
  const inArray = await api.patch("/orders", [{ id: 1, if_match: old, status: "open" }], api.admin);
  assert.equal(inArray.status, 200);
  assert.equal((await api.patch("/orders", [{ id: 1, if_match: old }], api.admin)).status, 412);
  const ofAnother = `"${await revision(2)}"`;
  assert.equal((await api.delete("/orders/1", { ...api.admin, "if-match": ofAnother })).status, 412);
});

test("refuses a list of ETags of version 0.1, because one request could try many revisions", async (t) => {
  const api = await serve(t);
  await api.post("/orders", {}, api.admin);
  const { revision } = await loadRow(api, 1);
  const list = `"${revision - 1}", "${revision}"`;

  const one = await api.patch("/orders/1", { status: "paid" }, { ...api.admin, "if-match": list });
  const inArray = await api.patch("/orders", [{ id: 1, if_match: list, status: "paid" }], api.admin);

  assert.deepEqual([one.status, inArray.status], [412, 412]);
});

test("ignores an ETag of version 0.1 in If-None-Match of a read", async (t) => {
  const api = await serve(t);
  await api.post("/orders", {}, api.admin);
  const { revision } = await loadRow(api, 1);

  const read = await api.get("/orders/1", { ...api.admin, "if-none-match": `"${revision}"` });

  assert.equal(read.status, 200);
});

test("gives the same tag in every process with the same secret, and after a restart", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "latchkey-tags-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, "notes.db");
  const first = await notesAt(path, "one secret of 32 characters or more");
  await ask(first, "POST", { title: "x" });

  const tags: (string | null)[] = [await readTag(first)];
  await first.close();
  for (const secret of ["one secret of 32 characters or more", "another secret of 32 characters or more"]) {
    const next = await notesAt(path, secret);
    tags.push(await readTag(next));
    await next.close();
  }

  assert.equal(tags[0], tags[1]);
  assert.notEqual(tags[0], tags[2]);
});

function notesAt(path: string, secret: string): Promise<Service> {
  const note = defineResource({ name: "note", fields: { title: text() } });
  return createService({
    store: sqliteStore({ path }),
    mounts: [mount(note, { permission: anyone })],
    secret: new Secret(secret),
    observe: null,
  });
}

async function readTag(service: Service): Promise<string | null> {
  return (await ask(service, "GET")).headers.get("etag");
}

function ask(service: Service, method: string, body?: unknown): Promise<Response> {
  const path = method === "POST" ? "/notes" : "/notes/1";
  const sent =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  return service.fetch(new Request(`http://127.0.0.1${path}`, { method, ...sent }), { peer: "127.0.0.1" });
}
