import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";
import { anyone, createService, defineResource, mount, text } from "../src/door/index.ts";
import { sqliteStore } from "../src/door/stores.ts";

const notes = defineResource({ name: "note", fields: { body: text({ maxLength: 10_000 }) }, filters: { id: ["gt"] } });

/** A service with a page of notes. Requests go past every socket, so that the test says which of them arrive in one round of the event loop. */
async function setUp(t: TestContext) {
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
  // A round that has no page yet: another test of this process may have read one.
  await nextRound();

  const answered: string[] = [];
  let asked = 0;
  /** Each page is another one, so that none is remembered. */
  const ask = (name: string): void => {
    const answer = respond("GET", name.startsWith("page") ? `/notes?id[gt]=${-++asked}` : "/notes/1");
    if (answer instanceof Promise) void answer.then(({ status }) => answered.push(`${name}: ${status}`));
    else answered.push(`${name}: ${answer.status}`);
  };
  return { ask, answered };
}

test("of pages that are asked for at once each round of the event loop has one, while others ask for a record", async (t) => {
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

test("where nothing else has been asked for lately, pages wait for nobody", async (t) => {
  const { ask, answered } = await setUp(t);

  for (let page = 0; page < 1100; page++) {
    ask("page");
    if (page < 1010) await nextRound();
  }

  assert.equal(answered.length, 1100);
  assert.ok(answered.every((each) => each === "page: 200"));
});
