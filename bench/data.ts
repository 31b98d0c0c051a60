/**
 * Measures lists, searches and arrays over HTTP on one connection, on both databases. Each result is a ratio to a
 * simpler request, for example a list with related records to a plain list. All ratios come from one run:
 *
 * npm run bench -- data -- --users 1000000 --rounds 200
 */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { requestListener } from "../src/door/http.ts";
import { anyone, createService, defineResource, integer, mount, Secret, text } from "../src/door/index.ts";
import { references } from "../src/door/resources.ts";
import { postgresStore, sqliteStore, type Change, type Store } from "../src/door/stores.ts";
import { startPostgres } from "../tests/harness/postgres.ts";
import { median } from "./round.ts";

const { values } = parseArgs({
  options: { users: { type: "string", default: "20000" }, rounds: { type: "string", default: "60" } },
});
const [userCount, rounds] = [Number(values.users), Number(values.rounds)];
const orderCount = 2000;
/** The numbers of users that share one searched word, and of orders that share one tag. */
const shared = [1, 100, 1000];
const batch = 2000;

const tags = defineResource({ name: "tag", fields: { label: text() } });
const users = defineResource({
  name: "user",
  fields: { name: text({ maxLength: 200 }), email: text({ maxLength: 200 }) },
  search: ["name", "email"],
});
const orders = defineResource({
  name: "order",
  fields: { title: text({ maxLength: 50 }), tags: references(tags, { default: [] }) },
  filters: { tags: ["eq"] },
});
const items = defineResource({ name: "item", within: orders, fields: { product: text(), quantity: integer() } });
const [mountedTags, mountedUsers, mountedItems] = [
  mount(tags, { permission: anyone }),
  mount(users, { permission: anyone }),
  mount(items, { permission: anyone }),
];
const mountedOrders = mount(orders, { permission: anyone, arrays: true, expand: { items: mountedItems } });

const folder = mkdtempSync(path.join(tmpdir(), "latchkey-data-"));
const server = await startPostgres();
const rows: Record<string, Record<string, string>> = {};
try {
  await measure("SQLite", sqliteStore({ path: path.join(folder, "data.db") }));
  await measure("PostgreSQL", postgresStore({ url: new Secret(await server.makeDatabase()) }));
  console.log(`${userCount} users, ${orderCount} orders, ${rounds} rounds`);
  console.table(rows);
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function measure(name: string, store: Store): Promise<void> {
  const service = await createService({ store, mounts: [mountedTags, mountedUsers, mountedOrders, mountedItems] });
  await fill(store);
  // Waits until the store has indexed the words of all rows, which it does after the writes.
  while (((await store.countWords?.(mountedUsers.collection, [], userCount)) ?? { waiting: 1 }).waiting > 0)
    await sleep(100);
  const listener = createServer(requestListener(service)).listen(0, "127.0.0.1");
  await once(listener, "listening");
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = asker(agent, listener);
  const addRow = (what: string, taken: number, than: number, target: string): void => {
    rows[`${name}: ${what}`] = { µs: taken.toFixed(0), ratio: (taken / than).toFixed(2), target };
  };

  const pages = await alternated(ask, [
    "/users/7",
    "/orders",
    "/orders?expand=items",
    ...shared.map((each) => `/users?search=shared${each}`),
    ...shared.map((_, at) => `/orders?tags=${at + 1}`),
  ]);
  const [one, plain, expanded, ...found] = pages as [number, number, number, ...number[]];
  addRow("100 orders", plain, plain, "");
  addRow("100 orders with their items, compared with 100 orders", expanded, plain, "3 or less");
  addRow("one user", one, one, "");
  for (const [at, each] of shared.entries())
    addRow(`search for a word of ${each} users, compared with one user`, found[at]!, one, "10 or less");
  for (const [at, each] of shared.entries())
    addRow(`orders with a tag of ${each} orders, compared with 100 orders`, found[shared.length + at]!, plain, "");

  const record = { title: "A brass key", tags: [1] };
  const start = performance.now();
  for (let at = 0; at < 1000; at++) await ask("/orders", record);
  const single = performance.now() - start;
  const arrays: number[] = [];
  for (let round = 0; round < 5; round++) {
    const begun = performance.now();
    await ask(
      "/orders",
      Array.from({ length: 1000 }, () => record),
    );
    arrays.push(performance.now() - begun);
  }
  rows[`${name}: 1000 orders one by one, compared with one array`] = {
    µs: (single * 1000).toFixed(0),
    ratio: (single / median(arrays)).toFixed(2),
    target: "5 or more",
  };
  agent.destroy();
  listener.close();
  await service.close();
}

/**
 * Returns the median time of each request, in microseconds. The requests alternate, and a write precedes each of them,
 * so that no response comes from a cache.
 */
async function alternated(ask: Ask, addresses: readonly string[]): Promise<readonly number[]> {
  const times = addresses.map((): number[] => []);
  for (let round = -10; round < rounds; round++) {
    for (const [at, address] of addresses.entries()) {
      await ask("/tags", { label: "another" });
      const start = performance.now();
      await ask(address);
      if (round >= 0) times[at]!.push((performance.now() - start) * 1000);
    }
  }
  return times.map(median);
}

async function fill(store: Store): Promise<void> {
  const write = async (count: number, make: (at: number) => readonly Change[]): Promise<void> => {
    for (let at = 0; at < count; at += batch)
      await store.write({
        changes: Array.from({ length: Math.min(batch, count - at) }, (_, next) => make(at + next)).flat(),
      });
  };
  const insert = (to: { readonly collection: Change["collection"] }, of: Record<string, unknown>): Change =>
    ({ kind: "insert", collection: to.collection, values: of }) as Change;
  await write(shared.length, (at) => [insert(mountedTags, { label: `shared ${at}` })]);
  await write(userCount, (at) => {
    const words = shared.filter((each) => at < each).map((each) => `shared${each}`);
    return [insert(mountedUsers, { name: [`User ${at}`, ...words].join(" "), email: `user${at}@example.com` })];
  });
  const [link] = mountedOrders.links;
  await write(orderCount, (at) => {
    const own = shared.flatMap((each, tag) => (at < each ? [tag + 1] : []));
    return [
      insert(mountedOrders, { title: `Order ${at}`, tags: own }),
      ...own.map((tag) => insert(link!, { record_id: at + 1, tags: tag })),
    ];
  });
  await write(orderCount * 5, (at) => [
    insert(mountedItems, { order_id: 1 + Math.floor(at / 5), product: "Brass key", quantity: 2 }),
  ]);
}

type Ask = (address: string, body?: unknown) => Promise<void>;

function asker(agent: Agent, listener: Server): Ask {
  const { port } = listener.address() as AddressInfo;
  return (address, body) =>
    new Promise((resolve, reject) => {
      const method = body === undefined ? "GET" : "POST";
      const headers = body === undefined ? {} : { "content-type": "application/json" };
      const outgoing = request({ agent, port, method, headers, path: address, host: "127.0.0.1" }, (answer) => {
        const isDone = answer.statusCode === 200 || answer.statusCode === 201;
        if (!isDone) reject(new Error(`${address}: ${answer.statusCode}`));
        answer.on("end", resolve).resume();
      });
      outgoing.on("error", reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
}
