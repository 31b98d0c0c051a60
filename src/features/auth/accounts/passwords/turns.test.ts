import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Problem } from "../../../../core/problem/problem.ts";
import { makeTurns, type Asker } from "./turns.ts";

/** Tasks that run until they are told to end, and the order in which they started. */
function bench(running: number, waiting: number) {
  const turns = makeTurns(running, waiting);
  const started: string[] = [];
  const ends: (() => void)[] = [];

  /** Whether it was done; false where it was refused. */
  async function ask(name: string): Promise<boolean> {
    const [address = "", account = ""] = name.split("/");
    const task = async (): Promise<void> => {
      started.push(name);
      await new Promise<void>((resolve) => ends.push(resolve));
    };
    try {
      await turns.hold({ address, account }, (place) => place.run(task));
      return true;
    } catch (error) {
      assert.ok(error instanceof Problem && error.code === "unavailable");
      assert.deepEqual(error.headers, [["Retry-After", "1"]]);
      return false;
    }
  }

  /** Whether there is a place. */
  function has(name: string): boolean {
    const [address = "", account = ""] = name.split("/");
    try {
      turns.requirePlace({ address, account });
      return true;
    } catch (error) {
      assert.ok(error instanceof Problem && error.code === "unavailable");
      return false;
    }
  }

  /** Ends one task after another until none is left. */
  async function finish(): Promise<void> {
    for (await turn(); ends.length > 0; await turn()) ends.shift()!();
  }

  return { ask, finish, has, started };
}

const orders: [what: string, asked: string[], started: string[]][] = [
  ["round the addresses", ["a", "a", "a", "a", "b", "c", "b"], ["a", "a", "b", "c", "a", "b", "a"]],
  ["round the accounts of an address", ["a/1", "a/1", "a/1", "a/2", "a/3"], ["a/1", "a/1", "a/2", "a/3", "a/1"]],
  ["first by address", ["a/1", "a/2", "a/3", "a/4", "b/1", "b/1"], ["a/1", "a/2", "b/1", "a/3", "b/1", "a/4"]],
  ["in the order they came, where each comes from elsewhere", ["a", "b", "c", "d"], ["a", "b", "c", "d"]],
];

for (const [what, asked, expected] of orders) {
  test(`turns go ${what}`, async () => {
    const { ask, finish, started } = bench(1, 64);

    const all = Promise.all(asked.map(ask));
    await finish();
    await all;

    assert.deepEqual(started, expected);
  });
}

test("whoever was served before does not wait for all who come after", async () => {
  const { ask, finish, started } = bench(1, 64);

  const all = ["user", "x1", "user", "x2", "x3", "x4"].map(ask);
  await finish();
  await Promise.all(all);

  assert.deepEqual(started, ["user", "x1", "user", "x2", "x3", "x4"]);
});

test("nobody is refused while places are free, and beyond them the newest of whoever holds most", async () => {
  const { ask, finish } = bench(2, 4);

  const asked = [...Array<string>(6).fill("flood"), "newcomer", "another", "flood"].map(ask);
  await finish();

  assert.deepEqual(await Promise.all(asked), [true, true, true, true, false, false, true, true, false]);
});

test("a place can be asked for before anything is done for it: what `hold` would refuse at once is refused", async () => {
  const { ask, finish, has } = bench(1, 4);

  const asked = ["flood/1", "flood/1", "flood/2", "flood/1"].map(ask);
  assert.ok(has("flood/1"));
  asked.push(ask("flood/1"));

  assert.deepEqual(["flood/1", "flood/2", "other/1"].map(has), [false, true, true]);
  await finish();
  assert.deepEqual(
    await Promise.all(asked),
    asked.map(() => true),
  );
  assert.ok(has("flood/1"));
});

test("of one address the account that holds most gives way", async () => {
  const { ask, finish } = bench(1, 4);

  const asked = ["a/1", "a/1", "a/1", "a/1", "a/2", "a/3"].map(ask);
  await finish();

  assert.deepEqual(await Promise.all(asked), [true, true, true, false, true, true]);
});

test("where each holds one place, who comes too late is refused", async () => {
  const { ask, finish } = bench(1, 2);

  const asked = ["a", "b", "c", "d"].map(ask);
  await finish();

  assert.deepEqual(await Promise.all(asked), [true, true, true, false]);
});

test("a place counts while its holder waits for something else, and can be lost then", async () => {
  const turns = makeTurns(1, 1);
  const ready = Promise.withResolvers<void>();
  const asker = (address: string): Asker => ({ address, account: "" });
  const hold = (address: string) =>
    turns.hold(asker(address), async (place) => {
      await ready.promise;
      return place.run(async () => address);
    });

  const first = hold("a");
  const second = assert.rejects(hold("a"), Problem);
  const third = hold("b");
  await second;
  assert.deepEqual(turns.load(), { running: 0, waiting: 2 });
  ready.resolve();

  assert.deepEqual(await Promise.all([first, third]), ["a", "b"]);
  assert.deepEqual(turns.load(), { running: 0, waiting: 0 });
});

test("a task that throws gives its turn to the next", async () => {
  const turns = makeTurns(1, 8);
  const asker = { address: "a", account: "" };

  await assert.rejects(
    turns.hold(asker, (place) => place.run(() => Promise.reject(new Error("broken")))),
    /broken/,
  );

  assert.equal(await turns.hold(asker, (place) => place.run(async () => "next")), "next");
});
