import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Permission } from "../../src/door/auth.ts";
import { anyone, decimal, defineResource, integer, json, mount, text } from "../../src/door/index.ts";
import { references, updatedAt } from "../../src/door/resources.ts";
import { bothDatabases, type TestDatabase } from "../harness/both-databases.ts";
import { ownService, type Own, type OwnAnswer } from "../harness/own-service.ts";
import { weighed, type WeighedStore } from "../harness/weighed-store.ts";

const MIB = 1024 * 1024;
const databases = bothDatabases();

const documents = defineResource({
  name: "document",
  fields: {
    title: text({ maxLength: 100, default: "t" }),
    rank: integer({ default: 0 }),
    made_by: integer({ readOnly: true, default: 7 }),
    content: json({ optional: true }),
  },
});
const mine: Permission<"made_by"> = {
  name: "mine",
  narrows: ["update"],
  columns: ["made_by"],
  decide: () => ({ only: { column: "made_by", operator: "eq", value: 7 } }),
};

interface Opened extends WeighedStore {
  readonly own: Own;
}

async function withDocuments(t: TestContext, database: TestDatabase, count: number): Promise<Opened> {
  const watched = weighed(database.open());
  const permission = { list: anyone, read: anyone, create: anyone, update: mine };
  const own = await ownService(t, { store: watched.store, mounts: [mount(documents, { permission, arrays: true })] });
  const content = "x".repeat(60_000);
  for (let at = 0; at < count; at += 16) {
    const some = Array.from({ length: Math.min(16, count - at) }, () => ({ content }));
    assert.equal((await own.ask("POST", "/documents", { as: "ada", body: some })).status, 201);
  }
  watched.takeOctets();
  return { ...watched, own };
}

const buildPatch = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, at) => ({ id: at + 1, rank: at + 1, ...more }));
const readCodes = ({ status, json: body }: OwnAnswer): readonly unknown[] => [
  status,
  body.errors?.map(({ pointer, code }: Record<string, string>) => `${pointer} ${code}`),
];

test("reads at most 8 MiB of records for PATCH of a collection, and reads whole records only if all cheaper checks pass", async (t) => {
  for (const database of await databases(t)) {
    const { own, takeOctets } = await withDocuments(t, database, 150);
    const patch = (body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<OwnAnswer> =>
      own.ask("PATCH", "/documents", { as: "ada", body, headers });
    const ranks = async (): Promise<readonly number[]> =>
      (await own.get("/documents?limit=1000&fields=rank")).json.map(({ rank }: { rank: number }) => rank);

    await t.test(
      `${database.engine}: refuses changes of more than 8 MiB of records with too_many, and writes nothing`,
      async () => {
        const refused = await patch(buildPatch(150));
        assert.deepEqual(readCodes(refused), [400, [" too_many"]]);
        assert.ok(takeOctets() <= 8 * MIB);
        assert.deepEqual(new Set(await ranks()), new Set([0]));
      },
    );

    await t.test(`${database.engine}: compares ETags and permissions before it reads whole records`, async () => {
      takeOctets();
      const stale = await patch(buildPatch(130, { if_match: '"no-such-state"' }));
      assert.deepEqual([stale.status, stale.json.errors[129 % 100].code], [412, "stale"]);
      // The first record has `made_by` 7, and a caller may send a read-only field unchanged. So only the tag is wrong.
      assert.equal((await patch([{ id: 1, made_by: 7, if_match: '"no-such-state"' }])).status, 412);
      assert.deepEqual(readCodes(await patch([...buildPatch(130), { id: 999 }])), [404, ["/130/id not_found"]]);
      assert.deepEqual(
        readCodes(
          await patch([
            { id: 1, if_match: '"x"' },
            { id: 2, rank: "x" },
          ]),
        ),
        [400, ["/1/rank invalid"]],
      );
      const long = `"${"x".repeat(17_000)}"`;
      assert.deepEqual(readCodes(await patch([{ id: 1, if_match: long }])), [400, ["/0/if_match too_long"]]);
      assert.ok(takeOctets() < 64 * 1024);
    });

    await t.test(
      `${database.engine}: changes nearly 8 MiB of records, and reads them from the store only once`,
      async () => {
        const done = await patch(buildPatch(130));
        assert.deepEqual([done.status, done.json.length], [200, 130]);
        assert.deepEqual(Object.keys(done.json[129]), ["id", "title", "rank", "made_by", "content"]);
        const octets = takeOctets();
        assert.ok(octets <= 8 * MIB && octets > 7 * MIB, `${octets} octets`);
        assert.deepEqual(
          (await ranks()).slice(0, 130),
          buildPatch(130).map(({ rank }) => rank),
        );
        assert.deepEqual(done.json[4], (await own.get("/documents/5")).json);
      },
    );

    await t.test(
      `${database.engine}: counts the concurrent reads of one caller together, and answers 503 beyond the limit`,
      async () => {
        const all = await Promise.all(Array.from({ length: 8 }, () => patch(buildPatch(130))));
        const statuses = all.map(({ status }) => status);
        assert.deepEqual(new Set(statuses), new Set([200, 503]));
        const refused = all.find(({ status }) => status === 503)!;
        assert.equal(refused.headers.get("retry-after"), "1");
      },
    );
  }
});

test("repeats a large response for the same idempotency key, and answers 204 if one of the records has changed", async (t) => {
  for (const database of await databases(t)) {
    const { own, takeOctets } = await withDocuments(t, database, 40);
    const headers = { "idempotency-key": `large-${database.engine}` };
    const ask = (): Promise<OwnAnswer> => own.ask("PATCH", "/documents", { as: "ada", body: buildPatch(40), headers });
    const first = await ask();
    assert.equal(first.status, 200);

    const [stored] = (await database.ask("SELECT rows FROM latchkey_idempotency")) as [{ readonly rows: string }];
    assert.ok(stored.rows.length < 40 * 64, stored.rows);
    takeOctets();
    const again = await ask();
    assert.deepEqual([again.status, again.headers.get("idempotency-replayed"), again.text], [200, "true", first.text]);
    assert.ok(takeOctets() <= 8 * MIB);
    assert.equal((await own.ask("PATCH", "/documents/3", { as: "ada", body: { rank: 1000 } })).status, 200);
    const changed = await ask();
    assert.deepEqual([changed.status, changed.headers.get("idempotency-replayed"), changed.text], [204, "true", ""]);
    assert.equal((await own.get("/documents/3")).json.rank, 1000);
  }
});

const reports = defineResource({
  name: "report",
  fields: {
    title: text({ default: "t" }),
    rank: integer({ default: 0 }),
    secret: text({ writeOnly: true, default: "s" }),
    price: decimal({ scale: 2, maximum: "999.99", default: "1.50" }),
    content: json({ optional: true }),
    changed_at: updatedAt(),
  },
  computed: { twice: { as: integer(), sql: '"rank" * 2' }, shout: { as: text(), from: ({ title }) => `${title}!` } },
});

test("shows the final state of large records in the response and to afterWrite, even if beforeWrite changes them", async (t) => {
  for (const database of await databases(t))
    for (const hooked of [false, true]) {
      const heard: unknown[] = [];
      const mounted = mount(reports, {
        permission: anyone,
        arrays: true,
        beforeWrite: ({ kind, collection, id }) => {
          if (kind !== "update" || !hooked) return { values: { secret: "made" } };
          const where = { column: "id", operator: "eq", value: id } as const;
          return { changes: [{ kind: "updateAll", collection, where, values: { title: "by the hook" } }] };
        },
        afterWrite: ({ kind, before, after }) => {
          if (kind === "update") heard.push([before!.rank, after!.rank, after!.title, after!.secret, after!.content]);
        },
      });
      const own = await ownService(t, { store: database.open(), mounts: [mounted] });
      const content = { a: ["x".repeat(60_000)] };
      assert.equal((await own.ask("POST", "/reports", { body: Array(16).fill({ content }) })).status, 201);
      assert.equal((await own.ask("POST", "/reports", { body: Array(14).fill({ content }) })).status, 201);
      const first = Number((await own.get("/reports?limit=1&sort=-id")).json[0].id) - 29;
      const patches: object[] = Array.from({ length: 30 }, (_, at) => ({ id: first + at, rank: at, price: "2.5" }));
      patches[1] = { ...patches[1], content: { a: [1] } };

      const { status, json: shown } = await own.ask("PATCH", "/reports", { body: patches });

      assert.equal(status, 200);
      for (const at of [0, 1, 29]) assert.deepEqual(shown[at], (await own.get(`/reports/${first + at}`)).json);
      assert.deepEqual([shown[3].twice, shown[3].price, shown[3].title], [6, "2.50", hooked ? "by the hook" : "t"]);
      assert.equal(shown[3].shout, hooked ? "by the hook!" : "t!");
      assert.deepEqual(heard[1], [0, 1, hooked ? "by the hook" : "t", "made", { a: [1] }]);
      assert.deepEqual(heard[5], [0, 5, hooked ? "by the hook" : "t", "made", content]);
    }
});

const tags = defineResource({ name: "tag", fields: { label: text({ default: "l" }) } });
const log = defineResource({ name: "entry", plural: "entries", fields: { line: text() } });

test("limits an array to 5,000 changes, and counts each link row as one change", async (t) => {
  for (const database of await databases(t)) {
    const many = Array.from({ length: 500 }, (_, at) => at + 1);
    const posts = defineResource({
      name: "post",
      fields: { title: text({ default: "t" }), tags: references(tags, { default: many, maxItems: 500 }) },
    });
    const entries = mount(log, { permission: anyone });
    let hookCalls = 0;
    let changesOfHook = 0;
    const mounts = [
      mount(tags, { permission: anyone, arrays: true }),
      entries,
      mount(posts, {
        permission: anyone,
        arrays: true,
        beforeWrite() {
          hookCalls++;
          const values = { line: "x" };
          const insert = { kind: "insert", collection: entries.collection, values } as const;
          return { changes: Array.from({ length: changesOfHook }, () => insert) };
        },
      }),
    ];
    const own = await ownService(t, { store: database.open(), mounts });
    const post = (body: unknown): Promise<OwnAnswer> => own.ask("POST", "/posts", { body });
    const readTotal = async (path: string): Promise<string | null> =>
      (await own.get(`${path}?limit=1`, { headers: { prefer: "count=exact" } })).headers.get("x-total-count");
    assert.equal((await own.ask("POST", "/tags", { body: Array(750).fill({}) })).status, 201);

    // 10 records and 5,000 link rows (500 tags for each record) are 5,010 changes.
    const refused = await post(Array(10).fill({}));
    assert.deepEqual([readCodes(refused), hookCalls], [[400, [" too_many"]], 0]);
    assert.match(refused.json.errors[0].detail, /5010 changes/);

    changesOfHook = 5;
    const afterwards = await post(Array(1000).fill({ tags: [] }));
    assert.deepEqual([readCodes(afterwards), hookCalls], [[400, [" too_many"]], 1000]);
    assert.deepEqual([await readTotal("/posts"), await readTotal("/entries")], ["0", "0"]);

    changesOfHook = 4;
    assert.equal((await post(Array(1000).fill({ tags: [] }))).status, 201);
    assert.equal(await readTotal("/entries"), "4000");
    changesOfHook = 0;
    assert.equal((await post([...Array(9).fill({}), { tags: many.slice(0, 491) }])).status, 400);
    assert.equal((await post([...Array(9).fill({}), { tags: many.slice(0, 490) }])).status, 201);
    const countLinks = async (): Promise<number> => {
      const [linked] = (await database.ask("SELECT count(*) AS rows FROM posts_tags")) as [{ readonly rows: unknown }];
      return Number(linked.rows);
    };
    assert.equal(await countLinks(), 4990);
    const rows = (await own.get("/posts?limit=10&sort=-id")).json;
    assert.deepEqual(rows[1].tags, many);

    // A PATCH counts the rows that it takes out, those that it adds, and no row that stays.
    const ids = rows.map(({ id }: { id: number }) => id);
    const patch = (body: unknown): Promise<OwnAnswer> => own.ask("PATCH", "/posts", { body });
    const others = many.slice(0, 250).map((id) => id + 500);
    const exchanged = ids.map((id: number) => ({ id, tags: [...others, ...many.slice(0, 240)] }));
    assert.deepEqual(readCodes(await patch(exchanged)), [400, [" too_many"]]);
    assert.equal((await patch(ids.map((id: number) => ({ id, tags: many })))).status, 200);
    assert.equal(await countLinks(), 5000);
    assert.deepEqual(readCodes(await patch(ids.map((id: number) => ({ id, tags: [] })))), [400, [" too_many"]]);
    assert.equal((await patch(ids.slice(1).map((id: number) => ({ id, tags: [] })))).status, 200);
    assert.equal(await countLinks(), 500);
    const wrong = await post([{ tags: [1] }, { tags: [2, 3, 999, 4] }]);
    assert.deepEqual(readCodes(wrong), [400, ["/1/tags/2 invalid"]]);
  }
});
