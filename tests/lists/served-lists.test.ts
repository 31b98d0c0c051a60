import assert from "node:assert/strict";
import { test } from "node:test";
import { anyone, boolean, defineResource, mount, text } from "../../src/door/index.ts";
import { references, type Mount } from "../../src/door/resources.ts";
import { mountedEvents } from "../../src/features/outbox/events.ts";
import { unservedLists, collectShapes } from "../../src/http/mount/shapes.ts";
import { mountedItems, mountedOrders } from "../../src/service/endpoints/orders.ts";
import { createParameters } from "../../src/store/sql/language/dialect.ts";
import { connect } from "../../src/store/sqlite/connection/connection.ts";
import { sqlite, getTable } from "../../src/store/sqlite/dialect.ts";
import { selectPage } from "../../src/store/sqlite/reads/pages.ts";
import { prepareSchema } from "../../src/store/sqlite/schema.ts";
import { ownService } from "../harness/own-service.ts";

// On SQLite alone: the plans are those of SQLite.

test("answers every served list in SQLite from an index, without sorting it as a whole", () => {
  const database = connect(":memory:");
  const users = { name: "users", key: "integer", columns: [] } as const;
  const mounts = [mountedOrders, mountedItems];
  prepareSchema(database, [users, ...mounts.map(({ collection }) => collection)]);

  for (const mount of mounts) {
    const served = collectShapes(mount, null).filter(({ isServed }) => isServed);
    assert.ok(served.length > 10);
    for (const { title, query } of served)
      for (const [after, columns] of [
        [undefined, query.columns],
        [undefined, ["id"]],
        [query.sort.map(({ column }) => (column === "id" ? 7 : "2")), query.columns],
      ] as const) {
        if (after !== undefined && query.sort.some(({ column }) => column === "quantity")) continue;
        const parameters = createParameters(sqlite);
        const pageQuery = { ...query, ...(after && { after }), ...(columns && { columns }) };
        const sql = selectPage(getTable(mount.collection), pageQuery, parameters);

        const plan = database
          .prepare(`EXPLAIN QUERY PLAN ${sql}`)
          .all(...(parameters.values as string[]))
          .map((step) => String((step as unknown as unknown[])[3]));

        const message = `${title}: ${plan.join("; ")}`;
        const isUnique = title.includes("id[eq]") || title.includes("id[in]") || title.includes("search");
        if (!isUnique) assert.ok(!plan.some((step) => step === "USE TEMP B-TREE FOR ORDER BY"), message);
        assert.ok(
          !plan.some((step) => /^SCAN orders(_items)?$/.test(step)) ||
            / by -?id$/.test(` ${title}`) ||
            title === "by id",
          message,
        );
      }
  }
});

test("reads the rows of each value from an index, if a list is sorted by a boolean and by ids in the other direction", () => {
  const database = connect(":memory:");
  const fields = { title: text({ maxLength: 20 }), done: boolean() };
  const task = mount(defineResource({ name: "task", fields, sorts: ["title", "done"] }), { permission: anyone });
  prepareSchema(database, [task.collection]);
  for (const [sort, steps] of [
    [
      "-done",
      ["SEARCH tasks USING INDEX tasks(done, id) (done=?)", "SEARCH tasks USING INDEX tasks(done, id) (done=?)"],
    ],
    ["done", []],
  ] as const) {
    const { query, isServed } = collectShapes(task, null).find(({ title }) => title.endsWith(`by ${sort}`))!;
    assert.ok(isServed, sort);
    const parameters = createParameters(sqlite);
    const sql = selectPage(getTable(task.collection), query, parameters);
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...(parameters.values as string[]));
    const found = plan.map((step) => String((step as unknown as unknown[])[3]));
    assert.deepEqual(
      found.filter((step) => step.includes("(done=?)")),
      steps,
      found.join("; "),
    );
    assert.ok(!found.some((step) => step.includes("LAST TERM")), found.join("; "));
  }
});

test("finds rows with given ids by the primary key in SQLite, with any other conditions and order", () => {
  const database = connect(":memory:");
  const fields = { status: text({ maxLength: 20 }), created_at: text({ maxLength: 30 }) };
  const lists = { filters: { id: ["eq", "in"], status: ["eq"] }, sorts: ["created_at", "status"] } as const;
  const mounts = [
    mount(defineResource({ name: "number", fields, ...lists }), { permission: anyone }),
    mount(defineResource({ name: "text", id: "uuid", fields, ...lists }), { permission: anyone }),
  ];
  prepareSchema(
    database,
    mounts.map(({ collection }) => collection),
  );

  for (const mount of mounts) {
    const named = collectShapes(mount, null).filter(({ title }) => /id\[(eq|in)\]/.test(title));
    assert.ok(named.length > 10);
    for (const { title, query } of named) {
      const parameters = createParameters(sqlite);
      const sql = selectPage(getTable(mount.collection), query, parameters);
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...(parameters.values as string[]));
      const steps = plan.map((step) => String((step as unknown as unknown[])[3]));
      assert.ok(
        steps.some((step) => /^SEARCH \w+ USING (INTEGER )?PRIMARY KEY \((rowid|id)=\?\)/.test(step)),
        `${title}: ${steps.join("; ")}`,
      );
    }
  }
});

test("reports the number of lists without an index in one notice, unless the declarations accept them", async (t) => {
  const thing = (name: string, more: object) =>
    mount(defineResource({ name, fields: { title: text({ maxLength: 50 }) }, ...more }), { permission: anyone });
  const collectNotices = async (...mounts: readonly Mount[]): Promise<readonly string[]> =>
    (await ownService(t, { mounts })).observed.flatMap((each) => (each.kind === "notice" ? [each.message] : []));
  const unserved = { filters: { title: ["contains"] } };

  assert.deepEqual(await collectNotices(thing("thing", { filters: { title: ["eq"] }, sorts: ["title"] })), []);
  assert.deepEqual(await collectNotices(thing("thing", { ...unserved, scans: true })), []);
  assert.deepEqual(await collectNotices(thing("thing", unserved)), [
    "2 kinds of lists have no index (/things): latchkey db explain shows them, scans: true in a resource accepts them.",
  ]);
  assert.deepEqual(await collectNotices(...["one", "two", "three", "four"].map((name) => thing(name, unserved))), [
    "8 kinds of lists have no index (/ones, /twos, /threes, …): latchkey db explain shows them, scans: true in a resource accepts them.",
  ]);
});

test("does not report the lists of the service's own resources", () => {
  for (const own of [mountedEvents, mountedOrders, mountedItems]) assert.deepEqual(unservedLists(own), []);
});

test("recognizes that no index serves lists of linked records if the link table does not have their order", () => {
  const tag = defineResource({ name: "tag", fields: { label: text() } });
  const fields = { title: text({ maxLength: 50 }), tags: references(tag, { default: [] }) };
  const listUnserved = (more: object): readonly string[] =>
    unservedLists(mount(defineResource({ name: "post", fields, ...more }), { permission: anyone }));

  assert.deepEqual(listUnserved({ filters: { tags: ["eq"] } }), []);
  assert.ok(listUnserved({ filters: { tags: ["eq", "in"] } }).includes("tags[in] by id"));
  assert.ok(listUnserved({ filters: { tags: ["eq"], title: ["eq"] } }).includes("tags[eq] title[eq] by id"));
  assert.ok(listUnserved({ filters: { tags: ["eq"] }, sorts: ["title"] }).includes("tags[eq] by title"));
});
