import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { outbox, type RecordEvent, type RecordWrite } from "../../src/door/features.ts";
import { anyone, defineFeature, defineResource, mount, reference, text } from "../../src/door/index.ts";
import { olderShape } from "../../src/door/resources.ts";
import { ownService } from "../harness/own-service.ts";

const fields = { name: text() };
const order = defineResource({ name: "order", fields });
const item = defineResource({ name: "item", within: order, fields });
const remark = defineResource({ name: "remark", within: item, id: "uuid", fields });
const comment = defineResource({ name: "comment", fields: { order_id: reference(order, { onDelete: "cascade" }) } });
const invoice = defineResource({ name: "invoice", fields: { order_id: reference(order) } });
const category = defineResource({
  name: "category",
  plural: "categories",
  fields: { ...fields, parent_id: reference("categories", { onDelete: "cascade", optional: true }) },
});
const all = [order, item, remark, comment, invoice, category];

async function shop(t: TestContext, reject = false) {
  const heard: RecordEvent[] = [];
  const written: string[] = [];
  const deliver = (event: RecordEvent): void => {
    if (reject) throw new Error("Not now.");
    heard.push(event);
  };
  const events = outbox({ subscribers: [{ name: "all", to: all, deliver }] });
  const trail = defineFeature({
    name: "trail",
    setUp: () => ({
      offer: null,
      alongside: ({ resource, kind, id, deletedWith }: RecordWrite) => {
        const parent = deletedWith === null ? "" : ` with ${deletedWith.resource.plural} ${deletedWith.id}`;
        written.push(
          `${kind} ${resource.plural} ${String(typeof id === "object" && id !== null ? "new" : id)}${parent}`,
        );
        return [];
      },
    }),
  });
  const orders = mount(order, { permission: anyone });
  const others = [item, remark, comment, invoice, category].map((each) => mount(each, { permission: anyone }));
  const older = olderShape(orders, { prefix: "/v1", fields: { title: "name" } });
  const { ask, service } = await ownService(t, { features: [events, trail], mounts: [orders, ...others, older] });
  for (const [path, body] of [
    ["/orders", { name: "a" }],
    ["/orders", { name: "b" }],
    ["/orders/1/items", { name: "a" }],
    ["/orders/1/items/1/remarks", { name: "a" }],
    ["/comments", { order_id: 1 }],
    ["/categories", { name: "a" }],
    ["/categories", { name: "b", parent_id: 1 }],
  ] as const)
    assert.equal((await ask("POST", path, { body })).status, 201, path);
  await service.use(events).deliverDue();
  heard.length = 0;
  written.length = 0;
  const eventsHeard = async (): Promise<readonly string[]> => {
    await service.use(events).deliverDue();
    return heard
      .map(({ kind, resource, record, deletedWith }) => {
        const parent = deletedWith === null ? "" : ` with ${deletedWith.resource} ${deletedWith.record}`;
        return `${kind} ${resource} ${record}${parent}`;
      })
      .toSorted();
  };
  return { ask, written, eventsHeard };
}

const ofOrder = [
  "delete comments null with orders 1",
  "delete items null with orders 1",
  "delete orders 1",
  "delete remarks null with orders 1",
];

test("reports to the outbox and to `alongside` each resource whose records are deleted with another record", async (t) => {
  const { ask, written, eventsHeard } = await shop(t);

  assert.equal((await ask("DELETE", "/orders/1")).status, 204);

  assert.deepEqual(await eventsHeard(), ofOrder);
  assert.deepEqual(written.toSorted(), ofOrder);
  assert.equal((await ask("GET", "/comments")).json.length, 0);
});

test("reports records that are deleted with a record of the same resource, and reports a deletion in an older shape as one in the newer", async (t) => {
  const { ask, eventsHeard } = await shop(t);

  assert.equal((await ask("DELETE", "/categories/1")).status, 204);
  assert.equal((await ask("DELETE", "/v1/orders/1")).status, 204);

  assert.deepEqual(
    await eventsHeard(),
    ["delete categories 1", "delete categories null with categories 1", ...ofOrder].toSorted(),
  );
});

test("reports no deletion for a refused deletion, a missing record or another kind of write", async (t) => {
  const { ask, eventsHeard } = await shop(t);
  await ask("POST", "/invoices", { body: { order_id: 2 } });
  await ask("PATCH", "/orders/1", { body: { name: "c" } });
  await ask("DELETE", "/orders/1/items/1/remarks/017f22e2-79b0-7cc3-98c4-dc0c0c07398f");

  assert.equal((await ask("DELETE", "/orders/2")).status, 409);

  assert.deepEqual(await eventsHeard(), ["create invoices 1", "update orders 1"]);
});

test("shows administrators which deleted record caused a waiting event", async (t) => {
  const { ask } = await shop(t, true);

  await ask("DELETE", "/orders/1");

  const { json } = await ask("GET", "/outbox?fields=resource,record,deleted_with", { as: "root" });
  assert.deepEqual(
    json.find((each: Record<string, unknown>) => each["resource"] === "items" && each["record"] === null),
    { resource: "items", record: null, deleted_with: { resource: "orders", record: 1 } },
  );
});
