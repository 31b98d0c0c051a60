import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";
import { anyone, createService, defineResource, mount, text } from "../../src/door/index.ts";
import { sqliteStore } from "../../src/door/stores.ts";
import { makeBatches } from "../../src/http/scheduling/batching.ts";

const notes = defineResource({ name: "note", fields: { body: text({ maxLength: 10_000 }) }, filters: { id: ["gt"] } });

/**
 * Creates a service with a page of notes. Requests skip the sockets, so that the test decides which of them arrive in
 * one round of the event loop.
 */
async function setUp(t: TestContext) {
  // On SQLite alone: PostgreSQL answers in a later round of the event loop.
  const store = sqliteStore({ path: ":memory:" });
  const service = await createService({
    store,
    mounts: [mount(notes, { permission: anyone })],
  });
  t.after(() => service.close());
  const respond = (method: string, target: string, body?: object) =>
    service.respond({
      method,
      target,
      rawHeaders: ["Host", "api.example", ...(body === undefined ? [] : ["Content-Type", "application/json"])],
      peer: "127.0.0.1",
      encrypted: false,
      readBody: async () => Buffer.from(JSON.stringify(body)),
    });
  for (let note = 0; note < 100; note++) await respond("POST", "/notes", { body: "long ".repeat(1000) });
  // Waits for a round in which no page is read, because the previous test may have read one in this round.
  await nextRound();

  const answered: string[] = [];
  let pageCount = 0;
  /** Sends a request. Each request for a page has another filter, so that no page comes from the cache. */
  const ask = (name: string): void => {
    const answer = respond("GET", name.startsWith("page") ? `/notes?id[gt]=${-++pageCount}` : "/notes/1");
    if (answer instanceof Promise) void answer.then(({ status }) => answered.push(`${name}: ${status}`));
    else answered.push(`${name}: ${answer.status}`);
  };
  return { ask, answered };
}

test("reads only one of several requested pages in each round of the event loop while clients also request a record", async (t) => {
  const { ask, answered } = await setUp(t);

  for (const name of ["page 1", "page 2", "page 3", "record 1"]) ask(name);
  const first = [...answered];
  await nextRound();
  ask("record 2");
  const second = answered.slice(first.length);
  for (let round = 0; round < 5; round++) await nextRound();

  assert.deepEqual(first, ["page 1: 200", "record 1: 200"]);
  assert.deepEqual(second, ["page 2: 200", "record 2: 200"]);
  assert.deepEqual(answered.slice(4), ["page 3: 200"]);
});

test("reads one page in each round over a socket, after all other requests of the round", async (t) => {
  const { ask, answered } = await setUp(t);
  const batches = makeBatches();
  const round = async (...names: string[]): Promise<readonly string[]> => {
    const before = answered.length;
    for (const name of names) batches.answer(() => ask(name));
    await nextRound();
    return answered.slice(before);
  };

  const first = await round("page 1", "record 1", "page 2", "record 2");
  const second = await round("record 3", "page 3", "record 4");
  const third = await round("record 5");

  assert.deepEqual(first, ["record 1: 200", "record 2: 200", "page 1: 200"]);
  assert.deepEqual(second, ["record 3: 200", "record 4: 200", "page 2: 200"]);
  assert.deepEqual(third, ["record 5: 200", "page 3: 200"]);
});

test("sends the other responses of a round before it reads the page", async (t) => {
  const { ask, answered } = await setUp(t);
  const batches = makeBatches();

  batches.answer(() => ask("page 1"));
  batches.answer(() => batches.send(() => void answered.push("sent")));
  await nextRound();

  assert.deepEqual(answered, ["sent", "page 1: 200"]);
});

test("reads a page after the requests to another server in the same process", async (t) => {
  const { ask, answered } = await setUp(t);
  const [one, other] = [makeBatches(), makeBatches()];

  one.answer(() => ask("page 1"));
  other.answer(() => ask("record 1"));
  await nextRound();

  assert.deepEqual(answered, ["record 1: 200", "page 1: 200"]);
});

test("reads all pages of a round at once if clients recently requested only pages", async (t) => {
  const { ask, answered } = await setUp(t);

  for (let page = 0; page < 1100; page++) {
    ask("page");
    if (page < 1010) await nextRound();
  }

  assert.equal(answered.length, 1100);
  assert.ok(answered.every((each) => each === "page: 200"));
});
