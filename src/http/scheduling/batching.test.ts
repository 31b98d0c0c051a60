import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { makeBatches } from "./batching.ts";

test("answers all requests of one turn of the event loop first, and then sends the responses in order", async () => {
  const batches = makeBatches();
  const done: string[] = [];

  for (const name of ["a", "b", "c"])
    batches.answer(() => {
      done.push(`answer ${name}`);
      batches.send(() => void done.push(`send ${name}`));
    });
  assert.deepEqual(done, []);
  await nextTurn();

  assert.deepEqual(done, ["answer a", "answer b", "answer c", "send a", "send b", "send c"]);
});

test("sends every 32 responses before it answers more requests", async () => {
  const batches = makeBatches();
  let sent = 0;
  let sentBeforeLast = 0;

  for (let at = 0; at < 100; at++)
    batches.answer(() => {
      sentBeforeLast = sent;
      batches.send(() => void sent++);
    });
  await nextTurn();

  assert.equal(sentBeforeLast, 96);
  assert.equal(sent, 100);
});

test("sends the responses that become ready after an await together, in the same turn", async () => {
  const batches = makeBatches();
  const done: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const name of ["a", "b"])
    void promise.then(() => {
      done.push(`ready ${name}`);
      batches.send(() => void done.push(`send ${name}`));
    });

  resolve();
  await new Promise((next) => process.nextTick(next));
  await new Promise((next) => process.nextTick(next));

  assert.deepEqual(done, ["ready a", "ready b", "send a", "send b"]);
});

test("continues with the other requests if answering a request or sending a response throws", async () => {
  const batches = makeBatches();
  const sent: string[] = [];
  const thrown: unknown[] = [];
  const hear = (error: unknown): void => void thrown.push(error);
  process.setUncaughtExceptionCaptureCallback(hear);

  batches.answer(() => batches.send(() => void sent.push("first")));
  batches.answer(() => {
    throw new Error("answering");
  });
  batches.answer(() => {
    batches.send(() => {
      throw new Error("sending");
    });
    batches.send(() => void sent.push("last"));
  });
  await nextTurn();
  await nextTurn();
  process.setUncaughtExceptionCaptureCallback(null);

  assert.deepEqual(sent, ["first", "last"]);
  assert.deepEqual(
    thrown.map((error) => (error as Error).message),
    ["answering", "sending"],
  );
});

test("answers each request in the async context in which it arrived", async () => {
  const batches = makeBatches();
  const context = new AsyncLocalStorage<string>();
  const seen: (string | undefined)[] = [];

  for (const name of ["one", "other"])
    context.run(name, () => batches.answer(() => void seen.push(context.getStore())));
  await nextTurn();

  assert.deepEqual(seen, ["one", "other"]);
});
