/**
 * Measures the cost of a page of orders with related records, compared with the plain page, over HTTP on one
 * connection. Measures on both databases, without writes and with a write before each page.
 */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { requestListener } from "../src/door/http.ts";
import {
  anyone,
  createService,
  decimal,
  defineResource,
  enumeration,
  integer,
  mount,
  reference,
  Secret,
  text,
} from "../src/door/index.ts";
import { postgresStore, sqliteStore, type Change, type Store } from "../src/door/stores.ts";
import { startPostgres } from "../tests/harness/postgres.ts";
import { median } from "./round.ts";

const orderCount = 5000;
const itemsOfEach = 5;
const batch = 1000;

const users = defineResource({ name: "user", fields: { name: text(), email: text() } });
const orders = defineResource({
  name: "order",
  fields: { user_id: reference(users), status: enumeration(["open", "paid"]) },
});
const items = defineResource({
  name: "item",
  within: orders,
  fields: { product: text(), quantity: integer(), unit_price: decimal({ scale: 2, maximum: "9999.99" }) },
});
const mountedUsers = mount(users, { permission: anyone });
const mountedItems = mount(items, { permission: anyone });
const mountedOrders = mount(orders, { permission: anyone, expand: { user: "user_id", items: mountedItems } });

const folder = mkdtempSync(path.join(tmpdir(), "latchkey-expand-"));
const server = await startPostgres();
const url = await server.makeDatabase();
const rows: Record<string, Record<string, string>> = {};
await measure("SQLite", sqliteStore({ path: path.join(folder, "expand.db") }));
await measure("PostgreSQL", postgresStore({ url: new Secret(url) }));
console.table(rows);
await server.stop();
rmSync(folder, { recursive: true, force: true });

async function measure(name: string, store: Store): Promise<void> {
  const service = await createService({ store, mounts: [mountedUsers, mountedOrders, mountedItems] });
  await fill(store);
  const listener = createServer(requestListener(service)).listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (const writes of [false, true]) {
    const times: Record<string, number[]> = {
      "": [],
      "?expand=user": [],
      "?expand=items": [],
      "?expand=user,items": [],
    };
    for (let run = 0; run < 250; run++)
      for (const [query, taken] of Object.entries(times)) {
        if (writes)
          await store.write({
            changes: [
              { kind: "update", collection: mountedOrders.collection, key: orderCount, values: { status: "paid" } },
            ],
          });
        const start = performance.now();
        await get(agent, port, `/orders${query}`);
        if (run >= 50) taken.push((performance.now() - start) * 1000);
      }
    const plain = median(times[""]!);
    for (const [query, taken] of Object.entries(times))
      rows[`${name}${writes ? ", after a write" : ""} ${query}`] = {
        "page µs": median(taken).toFixed(0),
        "plain pages": (median(taken) / plain).toFixed(2),
        target: query === "?expand=items" ? "3.00 or less" : "",
      };
  }
  agent.destroy();
  listener.close();
  await service.close();
}

async function fill(store: Store): Promise<void> {
  const changes: Change[] = Array.from({ length: 1000 }, (_, at) => ({
    kind: "insert",
    collection: mountedUsers.collection,
    values: { name: `User ${at}`, email: `user${at}@example.com` },
  }));
  for (let at = 0; at < orderCount; at++)
    changes.push({
      kind: "insert",
      collection: mountedOrders.collection,
      values: { user_id: 1 + (at % 1000), status: "open" },
    });
  for (let at = 0; at < orderCount * itemsOfEach; at++)
    changes.push({
      kind: "insert",
      collection: mountedItems.collection,
      values: { order_id: 1 + Math.floor(at / itemsOfEach), product: "Brass key", quantity: 2, unit_price: "12.50" },
    });
  for (let at = 0; at < changes.length; at += batch) await store.write({ changes: changes.slice(at, at + batch) });
}

function get(agent: Agent, port: number, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ agent, port, path: address, host: "127.0.0.1" }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`${address}: ${answer.statusCode}`));
      answer.on("end", resolve).resume();
    });
    outgoing.on("error", reject).end();
  });
}
