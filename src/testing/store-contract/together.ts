import assert from "node:assert/strict";
import { keyOf, type Change } from "../../store/store.ts";
import {
  events,
  findRecord,
  readId,
  insert,
  inserted,
  matching,
  people,
  pets,
  visits,
  where,
  write,
  written,
  type Promises,
} from "./library.ts";

/**
 * Promises about writes that run at the same time as other writes, a read, a fault or the shutdown, or in the same
 * transaction.
 */
export function promiseTogether(promises: Promises): void {
  promiseFaults(promises);
  promiseArrays(promises);
  promises("commits only one of two concurrent transactions that together break a `require`", async (store) => {
    await written(store, insert(people, { name: "one", active: true }), insert(people, { name: "two", active: true }));
    const retire = (key: number): Promise<{ kind: string }> =>
      write(
        store,
        { kind: "update", collection: people, key, values: { active: false } },
        { kind: "require", collection: people, where: where("active", "eq", true), atLeast: 1, name: "last" },
      );

    const outcomes = await Promise.all([retire(1), retire(2)]);

    assert.deepEqual(outcomes.map(({ kind }) => kind).toSorted(), ["refused", "written"]);
    assert.equal(await store.count(people, where("active", "eq", true)), 1);
  });

  promises("accepts only one of several concurrent updates of the same revision", async (store) => {
    const { revision } = await inserted(store, people, { name: "Ada" });

    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, age) =>
        write(store, { kind: "update", collection: people, key: 1, values: { age }, revision }),
      ),
    );

    assert.equal(outcomes.filter(({ kind }) => kind === "written").length, 1);
    assert.equal(outcomes.filter(({ kind }) => kind === "stale").length, 9);
  });

  promises("reads an acknowledged write immediately", async (store) => {
    for (let n = 1; n <= 50; n++) {
      await store.find(people, 1);
      await Promise.all(
        [1, 2].map(async () => {
          const row = await inserted(store, people, { name: "x" });
          assert.deepEqual(await store.find(people, readId(row)), row);
        }),
      );
    }
  });

  promises("finishes all started writes when the store closes", async (store, { reopen }) => {
    const begun = Array.from({ length: 20 }, (_, at) => written(store, insert(visits, { times: at }, `v${at}`)));
    await store.close();
    await Promise.all(begun);

    const again = await reopen();
    await again.open([visits]);
    assert.equal(await again.count(visits, null), 20);
  });
}

/** Promises about changes that no table can make, beside right ones and after them. */
function promiseFaults(promises: Promises): void {
  promises("rolls back a transaction with an invalid change, and commits the concurrent ones", async (store) => {
    const faults: Change[] = [
      insert(people, { nmae: "x" }),
      insert(people, {}),
      insert(people, { name: 5 }),
      insert(people, { name: "one half of a pair: \ud800" }),
      insert(people, { name: "x", height: "1.234" }),
      insert(people, { name: "x", age: 1.5 }),
      insert(visits, { times: 1 }),
      insert(pets, { name: "x", person_id: keyOf(3) }),
      { kind: "updateAll", collection: people, where: where("nmae", "eq", 1), values: {} },
      { kind: "insert", collection: { name: "unheard_of", key: "text", columns: [] }, key: "x", values: {} },
    ];

    const neighbours = faults.flatMap((fault, at) => [
      assert.rejects(write(store, insert(visits, { times: 0 }, `undone ${at}`), fault), TypeError),
      written(store, insert(visits, { times: at }, `kept ${at}`)),
    ]);
    await Promise.all(neighbours);

    assert.equal(await store.count(visits, where("id", "starts", "kept")), faults.length);
    assert.equal(await store.count(visits, where("id", "starts", "undone")), 0);
  });

  promises("rolls back a wrong value in a change that it has made before with a right value", async (store) => {
    const nobody = where("name", "eq", "Nobody");
    const add: Change = { kind: "add", collection: visits, key: "sum", column: "times", by: 1, values: { place: "x" } };
    const pairs: readonly (readonly [right: Change, wrong: Change])[] = [
      [insert(people, { name: "Ada", age: 36 }), insert(people, { name: 36, age: 36 })],
      [insert(people, { name: "Ada", age: 36 }), insert(people, { name: "Ada", age: "36" })],
      [insert(visits, { times: 1 }, "one"), insert(visits, { times: 1 }, 1)],
      [insert(pets, { name: "Rex", person_id: 1 }), insert(pets, { name: "Rex", person_id: keyOf(7) })],
      [
        { kind: "update", collection: people, key: 1, values: { active: true } },
        { kind: "update", collection: people, key: 1, values: { active: "true" } },
      ],
      [
        { kind: "updateAll", collection: people, where: nobody, values: { age: 1 } },
        { kind: "updateAll", collection: people, where: nobody, values: { age: 1.5 } },
      ],
      [
        { kind: "deleteAll", collection: people, where: nobody },
        { kind: "deleteAll", collection: people, where: where("name", "eq", 5) },
      ],
      [add, { ...add, values: { place: 5 } }],
      [add, { ...add, by: 0.5 }],
      [
        { kind: "require", collection: people, where: nobody, atMost: 1, name: "few" },
        { kind: "require", collection: people, where: nobody, atMost: -1, name: "few" },
      ],
    ];

    for (const [at, [right, wrong]] of pairs.entries()) {
      await written(store, right);
      await assert.rejects(write(store, insert(visits, { times: 0 }, `undone ${at}`), wrong), TypeError, String(at));
      await assert.rejects(write(store, wrong), TypeError, String(at));
    }

    assert.equal(await store.count(visits, where("id", "starts", "undone")), 0);
    assert.deepEqual((await findRecord(store, visits, "sum"))!["times"], 2);
    assert.deepEqual(await matching(store, null), ["Ada", "Ada"]);
  });
}

/** Promises about many new rows in one transaction: as many as an array of records may have. */
function promiseArrays(promises: Promises): void {
  promises("returns many new rows in the order of their changes, and rows that refer to them", async (store) => {
    const count = 250;
    const changes = Array.from({ length: count }, (_, at): Change[] => [
      insert(people, at % 3 === 0 ? { name: `p${at}`, age: at } : { age: at, name: `p${at}`, email: null }),
      insert(visits, { times: at }, `visit ${at}`),
      insert(events, { what: `e${at}` }),
    ]).flat();
    const found = await written(
      store,
      ...changes,
      ...[0, 3, 747].map((at) => insert(pets, { person_id: keyOf(at), name: `of ${at}` })),
    );

    for (let at = 0; at < count; at++) {
      const [person, visit, event] = found.slice(at * 3, at * 3 + 3);
      assert.deepEqual([person!.record["name"], person!.record["age"], person!.record["email"]], [`p${at}`, at, null]);
      assert.deepEqual(person, await store.find(people, readId(person!)));
      assert.deepEqual([visit!.record["id"], visit!.record["times"]], [`visit ${at}`, at]);
      assert.deepEqual([event!.record["id"], event!.record["what"]], [at + 1, `e${at}`]);
    }
    const pet = (at: number): unknown => found[count * 3 + at]!.record["person_id"];
    assert.deepEqual(
      [pet(0), pet(1), pet(2)],
      [0, 3, 747].map((at) => readId(found[at]!)),
    );
    assert.equal(new Set(found.map((row) => row!.revision)).size, found.length);
  });

  promises("reports the first refused row of many, and creates none of them", async (store) => {
    await inserted(store, people, { name: "Ada", badge: "known" });
    const many = (bad: Readonly<Record<number, Change>>): Change[] =>
      Array.from({ length: 60 }, (_, at) => bad[at] ?? insert(people, { name: `p${at}`, badge: `b${at}` }));
    const taken = (badge: string): Change => insert(people, { name: "x", badge });
    const dangling = insert(pets, { person_id: 9999, name: "x" });

    assert.deepEqual(await write(store, ...many({ 41: taken("b7"), 50: taken("known") })), {
      kind: "taken",
      change: 41,
      column: "badge",
    });
    assert.deepEqual(await write(store, ...many({ 20: dangling, 30: taken("known") })), {
      kind: "dangling",
      change: 20,
      column: "person_id",
    });
    assert.deepEqual(await write(store, ...many({ 20: taken("known"), 30: dangling })), {
      kind: "taken",
      change: 20,
      column: "badge",
    });
    assert.equal(await store.count(people, null), 1);
  });
}
