import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Problem } from "../../../core/problem/problem.ts";
import { makeHashQueue, type Asker } from "./hash-queue.ts";

/**
 * Parses `site:address/account`. A name without `:` is both the site and the address. A star at the start means that
 * the account is known at this address.
 */
function buildAsker(name: string): Asker {
  const [address = "", account = ""] = name.replace("*", "").split("/");
  return { site: address.split(":")[0]!, address, account, isKnown: name.startsWith("*") };
}

/** Makes a queue whose tasks run until `finish`, and records the order in which they start. */
function bench(running: number, waiting: number, reserved = 0) {
  const queue = makeHashQueue({ running, waiting, reserved });
  const started: string[] = [];
  const ends: (() => void)[] = [];

  /** Returns true if the task was done, false if it was refused. */
  async function ask(name: string): Promise<boolean> {
    const task = async (): Promise<void> => {
      started.push(name);
      await new Promise<void>((resolve) => ends.push(resolve));
    };
    try {
      await queue.hold(buildAsker(name), (place) => place.run(task));
      return true;
    } catch (error) {
      assert.ok(error instanceof Problem && error.code === "unavailable");
      assert.deepEqual(error.headers, [["Retry-After", "1"]]);
      return false;
    }
  }

  /** Returns true if `requirePlace` accepts this request. */
  function has(name: string): boolean {
    try {
      queue.requirePlace(buildAsker(name));
      return true;
    } catch (error) {
      assert.ok(error instanceof Problem && error.code === "unavailable");
      return false;
    }
  }

  /** Finishes one task after another until none is left. */
  async function finish(): Promise<void> {
    for (await turn(); ends.length > 0; await turn()) ends.shift()!();
  }

  return { ask, finish, has, started };
}

const orders: [what: string, asked: string[], started: string[]][] = [
  ["in rotation over the addresses", ["a", "a", "a", "a", "b", "c", "b"], ["a", "a", "b", "c", "a", "b", "a"]],
  [
    "in rotation over the accounts of an address",
    ["a/1", "a/1", "a/1", "a/2", "a/3"],
    ["a/1", "a/1", "a/2", "a/3", "a/1"],
  ],
  [
    "in rotation over the addresses first, then over the accounts",
    ["a/1", "a/2", "a/3", "a/4", "b/1", "b/1"],
    ["a/1", "a/2", "b/1", "a/3", "b/1", "a/4"],
  ],
  [
    "in rotation over the sites first, then over the addresses",
    ["a:1", "a:2", "a:3", "a:4", "b:1", "b:1"],
    ["a:1", "a:2", "b:1", "a:3", "b:1", "a:4"],
  ],
  [
    "of one site in rotation over its addresses",
    ["a:1/x", "a:1/y", "a:1/z", "a:2/x"],
    ["a:1/x", "a:1/y", "a:2/x", "a:1/z"],
  ],
  ["in the order of arrival, if each comes from another address", ["a", "b", "c", "d"], ["a", "b", "c", "d"]],
];

for (const [what, names, expected] of orders) {
  test(`starts waiting tasks ${what}`, async () => {
    const { ask, finish, started } = bench(1, 64);

    const all = Promise.all(names.map(ask));
    await finish();
    await all;

    assert.deepEqual(started, expected);
  });
}

test("starts the second request of a caller before requests of other callers that arrived later", async () => {
  const { ask, finish, started } = bench(1, 64);

  const all = ["user", "x1", "user", "x2", "x3", "x4"].map(ask);
  await finish();
  await Promise.all(all);

  assert.deepEqual(started, ["user", "x1", "user", "x2", "x3", "x4"]);
});

test("refuses the newest request of the caller with the most places, and only if no place is free", async () => {
  const { ask, finish } = bench(2, 4);

  const attempts = [...Array<string>(6).fill("flood"), "newcomer", "another", "flood"].map(ask);
  await finish();

  assert.deepEqual(await Promise.all(attempts), [true, true, true, true, false, false, true, true, false]);
});

test("refuses in `requirePlace` each request that `hold` would refuse immediately", async () => {
  const { ask, finish, has } = bench(1, 4);

  const attempts = ["flood/1", "flood/1", "flood/2", "flood/1"].map(ask);
  assert.ok(has("flood/1"));
  attempts.push(ask("flood/1"));

  assert.deepEqual(["flood/1", "flood/2", "other/1"].map(has), [false, true, true]);
  await finish();
  assert.deepEqual(
    await Promise.all(attempts),
    attempts.map(() => true),
  );
  assert.ok(has("flood/1"));
});

test("refuses, within one address, the newest request of the account with the most places", async () => {
  const { ask, finish } = bench(1, 4);

  const attempts = ["a/1", "a/1", "a/1", "a/1", "a/2", "a/3"].map(ask);
  await finish();

  assert.deepEqual(await Promise.all(attempts), [true, true, true, false, true, true]);
});

test("refuses the last caller if each caller has one place", async () => {
  const { ask, finish } = bench(1, 2);

  const attempts = ["a", "b", "c", "d"].map(ask);
  await finish();

  assert.deepEqual(await Promise.all(attempts), [true, true, true, false]);
});

test("counts a place before its holder starts a task, and can pass this place on to another caller", async () => {
  const queue = makeHashQueue({ running: 1, waiting: 1, reserved: 0 });
  const ready = Promise.withResolvers<void>();
  const hold = (address: string) =>
    queue.hold(buildAsker(address), async (place) => {
      await ready.promise;
      return place.run(async () => address);
    });

  const first = hold("a");
  const second = assert.rejects(hold("a"), Problem);
  const third = hold("b");
  await second;
  assert.deepEqual(queue.load(), { running: 0, waiting: 2 });
  ready.resolve();

  assert.deepEqual(await Promise.all([first, third]), ["a", "b"]);
  assert.deepEqual(queue.load(), { running: 0, waiting: 0 });
});

test("starts the next task after a task that throws", async () => {
  const queue = makeHashQueue({ running: 1, waiting: 8, reserved: 2 });
  const asker = buildAsker("a");

  await assert.rejects(
    queue.hold(asker, (place) => place.run(() => Promise.reject(new Error("broken")))),
    /broken/,
  );

  assert.equal(await queue.hold(asker, (place) => place.run(async () => "next")), "next");
});

test("reserves places for known callers, who replace the newest requests of other callers", async () => {
  const { ask, finish, has } = bench(1, 8, 4);
  const flood = Array.from({ length: 9 }, (_, at) => `x${at}`);

  const attempts = flood.map(ask);
  await turn();
  assert.deepEqual(["y", "*home/ada"].map(has), [false, true]);
  attempts.push(...["*home/ada", "*office/bob", "y"].map(ask));
  await finish();

  const results = await Promise.all(attempts);
  assert.deepEqual(results.slice(0, 9), [true, true, true, true, true, true, true, false, false]);
  assert.deepEqual(results.slice(9), [true, true, false]);
});

test("lets other callers use the reserved places too if no known caller comes", async () => {
  const { ask, finish } = bench(1, 8, 4);

  const attempts = Array.from({ length: 10 }, (_, at) => `x${at}`).map(ask);
  await finish();

  assert.deepEqual(await Promise.all(attempts), [...Array<boolean>(9).fill(true), false]);
});

test("refuses known callers by the same rule as all other callers when the reserve is full", async () => {
  const { ask, finish } = bench(1, 8, 2);

  const attempts = ["x", "*a/1", "*a/2", "*a/3", "y1", "y2", "y3", "y4", "y5", "*b/4"].map(ask);
  await finish();

  assert.deepEqual(await Promise.all(attempts), [true, true, true, false, true, true, true, true, true, true]);
});

test("does not let one account fill the reserve from many addresses at which it is known", async () => {
  const { ask, finish } = bench(1, 8, 4);

  const flood = ["x0", "x1", "x2", "x3", "x4", "*k0/mine", "*k1/mine", "*k2/mine", "*k3/mine"];
  const attempts = [...flood, "*home/ada"].map(ask);
  await finish();

  const results = await Promise.all(attempts);
  assert.equal(results.at(-1), true);
  assert.equal(results.indexOf(false), flood.indexOf("*k3/mine"));
});
