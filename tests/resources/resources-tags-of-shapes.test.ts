import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { anyone, decimal, defineResource, integer, mount, Secret, text } from "../../src/door/index.ts";
import { olderShape, type Mount } from "../../src/door/resources.ts";
import { sqliteStore } from "../../src/door/stores.ts";
import { ownService, type Own } from "../harness/own-service.ts";

const permission = anyone;
const fields = { title: text(), count: integer(), price: decimal({ scale: 2, maximum: "9", default: "1.50" }) };
const plain = { name: "note", fields } as const;
const computed = { as: integer(), from: (record: object) => readCount(record) + 1 };
const many = { as: integer(), sql: '"count" + 1' };
const base = mounted(plain);

function readCount(record: object): number {
  return Number((record as { readonly count: unknown }).count);
}

function mounted(declared: Parameters<typeof defineResource>[0]): Mount {
  return mount(defineResource(declared), { permission, arrays: true });
}

function older(from: Mount, show: (value: number) => unknown): readonly Mount[] {
  const total = { from: "count", as: text(), show } as never;
  return [from, olderShape(from, { prefix: "/v1", fields: { title: "title", total }, defaults: { count: 0 } })];
}

/** Returns a function that starts a service over one database file, and closes the service that it started before. */
function restarting(t: TestContext): (...mounts: readonly Mount[]) => Promise<Own> {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-shapes-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const secret = new Secret("one secret of 32 characters or more");
  let last: Own | null = null;
  return async (...mounts) => {
    await last?.service.close();
    return (last = await ownService(t, { store: sqliteStore({ path: join(folder, "notes.db") }), mounts, secret }));
  };
}

const body = { title: "x", count: 1 };

for (const [what, path, before, after] of [
  [
    "a field is added",
    "/notes/1",
    [base],
    [mounted({ ...plain, fields: { ...fields, status: text({ default: "open" }) } })],
  ],
  [
    "a field becomes write-only",
    "/notes/1",
    [base],
    [mounted({ ...plain, fields: { ...fields, count: integer({ writeOnly: true }) } })],
  ],
  [
    "a decimal becomes a number",
    "/notes/1",
    [base],
    [
      mounted({
        ...plain,
        fields: { ...fields, price: decimal({ scale: 2, maximum: "9", json: "number", default: 1.5 }) },
      }),
    ],
  ],
  [
    "the order of the fields changes",
    "/notes/1",
    [base],
    [mounted({ ...plain, fields: { count: fields.count, title: fields.title, price: fields.price } })],
  ],
  ["a function computes a new field", "/notes/1", [base], [mounted({ ...plain, computed: { next: computed } })]],
  [
    "the function of a computed field changes",
    "/notes/1",
    [mounted({ ...plain, computed: { next: computed } })],
    [
      mounted({
        ...plain,
        computed: { next: { ...computed, from: (record: object) => readCount(record) + 2 } },
      }),
    ],
  ],
  [
    "the SQL of a computed field changes",
    "/notes/1",
    [mounted({ ...plain, computed: { next: many } })],
    [mounted({ ...plain, computed: { next: { ...many, sql: '"count" + 2' } } })],
  ],
  [
    "the name of the element in XML changes",
    "/notes/1",
    [base],
    [mounted({ ...plain, name: "remark", plural: "notes" })],
  ],
  [
    "the function of a field in an older shape changes",
    "/v1/notes/1",
    older(base, (count) => `${count}`),
    older(base, (count) => `${count}!`),
  ],
] as const)
  test(`changes the ETag of a record if ${what}, and accepts the previous ETag in If-Match`, async (t) => {
    const start = restarting(t);
    const first = await start(...before);
    assert.equal((await first.ask("POST", "/notes", { body })).status, 201);
    const old = await first.get(path);
    const tag = old.headers.get("etag")!;

    const next = await start(...after);

    const seen = await next.get(path, { headers: { "if-none-match": tag } });
    assert.equal(seen.status, 200);
    assert.notEqual(seen.headers.get("etag"), tag);
    const again = await next.get(path, { headers: { "if-none-match": seen.headers.get("etag")! } });
    assert.equal(again.status, 304);
    const patch = (etag: string, title: string) =>
      next.ask("PATCH", path, { body: { title }, headers: { "if-match": etag } });
    const patched = await patch(tag, "y");
    assert.equal(patched.status, 200, patched.text);
    assert.equal((await patch(tag, "z")).status, 412);
    assert.equal((await patch(seen.headers.get("etag")!, "z")).status, 412);
    assert.equal((await patch(patched.headers.get("etag")!, "z")).status, 200);
  });

test("accepts the tag of the previous shape in if_match of an array", async (t) => {
  const start = restarting(t);
  const first = await start(base);
  await first.ask("POST", "/notes", { body });
  const if_match = (await first.get("/notes/1")).headers.get("etag")!;

  const next = await start(mounted({ ...plain, computed: { next: computed } }));

  const patch = (): Promise<{ status: number }> =>
    next.ask("PATCH", "/notes", { body: [{ id: 1, if_match, title: "y" }] });
  assert.equal((await patch()).status, 200);
  assert.equal((await patch()).status, 412);
});

test("keeps the ETag if a new declaration changes nothing in the response", async (t) => {
  const start = restarting(t);
  const first = await start(base);
  await first.ask("POST", "/notes", { body });
  const tag = (await first.get("/notes/1")).headers.get("etag")!;

  for (const mounts of [
    [base],
    [mounted({ ...plain, filters: { count: ["gte"] }, sorts: ["count"] })],
    [mounted({ ...plain, fields: { ...fields, secret: text({ writeOnly: true, optional: true }) } })],
    older(base, (count) => `${count}`),
  ])
    assert.equal((await (await start(...mounts)).get("/notes/1")).headers.get("etag"), tag);
});
