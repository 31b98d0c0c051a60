import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Permission } from "../../src/door/auth.ts";
import { documentation, openapiDocument } from "../../src/door/features.ts";
import {
  anyone,
  defineResource,
  enumeration,
  integer,
  mount,
  reference,
  text,
  type Service,
} from "../../src/door/index.ts";
import type { Mount } from "../../src/door/resources.ts";
import { ownService, visitor } from "../harness/own-service.ts";
import { slowness } from "../harness/slowness.ts";

// Nightly on PostgreSQL: the document describes the declarations, not the records.

const shop = { title: "Many", version: "1" };

/** Returns mounts of resources that each refer to the previous one. */
function buildMounts(count: number, permission = anyone): Mount[] {
  const mounts: Mount[] = [];
  for (let at = 0; at < count; at++) {
    const before = mounts.at(-1)?.resource;
    const resource = defineResource({
      name: `thing${at}`,
      fields: {
        title: text({ maxLength: 200, unique: true }),
        note: text({ optional: true }),
        count: integer({ minimum: 0 }),
        state: enumeration(["open", "paid", "sent"]),
        ...(before === undefined ? {} : { other_id: reference(before) }),
      },
      filters: { title: ["eq"], count: ["gte", "lte"], state: ["eq"] },
      sorts: ["title", "count"],
    });
    mounts.push(mount(resource, { permission }));
  }
  return mounts;
}

/** Asks the service without a binding, because the test must not measure how a binding copies megabytes. */
async function askService(service: Service, target: string): Promise<{ readonly tag: string; readonly text: string }> {
  const facts = { method: "GET", rawHeaders: ["Host", "127.0.0.1"], peer: "127.0.0.1", encrypted: false };
  const answer = await service.respond({ ...facts, target, readBody: async () => new Uint8Array() });
  assert.equal(answer.status, 200);
  return { tag: answer.headers[answer.headers.indexOf("ETag") + 1]!, text: Buffer.from(answer.content!).toString() };
}

/** Returns the longest CPU time of this thread between two turns of the event loop, in milliseconds. CPU time excludes other programs. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  const worked = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let [longest, last, isOver] = [0, worked(), false];
  const turn = (): void => {
    const now = worked();
    [longest, last] = [Math.max(longest, now - last), now];
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  await new Promise(setImmediate);
  isOver = true;
  return longest;
}

/** Describes a small service, so that the code is loaded before the measurement. */
async function loaded(t: TestContext): Promise<void> {
  const { service } = await ownService(t, { mounts: buildMounts(1), features: [documentation(shop)] });
  await askService(service, "/openapi.json");
  await askService(service, "/docs");
}

test("blocks other requests for at most 50 ms while three hundred mounts are described for the first time", async (t) => {
  await loaded(t);
  const { service } = await ownService(t, { mounts: buildMounts(300), features: [documentation(shop)] });

  for (const target of ["/openapi.json", "/docs", "/docs/listThing7s", "/openapi.json"]) {
    const longest = await longestTurn(() => askService(service, target));

    assert.ok(longest < 50 * slowness(), `${target}: ${longest} ms, slowness ${slowness()}`);
  }
});

test("sends the whole document, although the service writes it in pieces", async (t) => {
  const mounts = buildMounts(3);
  const { service } = await ownService(t, { mounts, features: [documentation(shop)] });

  const { text: sent } = await askService(service, "/openapi.json");

  const { paths, components } = JSON.parse(sent) as Record<string, Record<string, object>>;
  const described = await openapiDocument({ ...shop, mounts, schemes: [visitor] });
  const { paths: itsPaths } = described as Record<string, Record<string, object>>;
  for (const path of ["/thing0s", "/thing2s/{id}"])
    assert.deepEqual(Object.keys(paths![path]!), Object.keys(itsPaths![path]!));
  assert.deepEqual(components!["schemas"], (described["components"] as Record<string, object>)["schemas"]);
  assert.equal(JSON.stringify(JSON.parse(sent)), sent);
});

test("makes one document for concurrent requests", async (t) => {
  const many = ["/openapi.json", "/docs", "/openapi.json", "/openapi.json"];

  const [alone, together] = [await countReads(t, ["/openapi.json"]), await countReads(t, many)];

  assert.ok(alone > 0);
  assert.equal(together, alone);
});

/** Counts how often the description reads the names of permissions. */
async function countReads(t: TestContext, targets: readonly string[]): Promise<number> {
  let reads = 0;
  const permission: Permission = {
    get name() {
      reads++;
      return "anyone";
    },
    decide: () => "allow",
  };
  const { service } = await ownService(t, { mounts: buildMounts(20, permission), features: [documentation(shop)] });
  reads = 0;
  await Promise.all(targets.map((target) => askService(service, target)));
  return reads;
}
