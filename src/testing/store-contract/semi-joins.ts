import assert from "node:assert/strict";
import { keyOf, OVERTAKEN, type Collection, type Row, type Where } from "../../store/store.ts";
import {
  findRecord,
  insert,
  inserted,
  matching,
  people,
  pets,
  stamps,
  treatments,
  visits,
  where,
  write,
  written,
  type Promises,
} from "./library.ts";

/** Returns the condition that a column holds one of the values of a column of other rows. */
function among(column: string, collection: Collection, select: string, condition: Where = { all: [] }): Where {
  return { column, among: { collection, select, where: condition } };
}

/** Promises about conditions on other rows, and about rows that a transaction requires. */
export function promiseSemiJoins(promises: Promises): void {
  promiseConditions(promises);
  promiseLists(promises);
  promiseRequirements(promises);
  promiseConcurrentRequirements(promises);

  promises("compares text keys and refuses columns that are no keys", async (store) => {
    await written(
      store,
      insert(visits, { times: 1, place: "b" }, "a"),
      insert(visits, { times: 2 }, "b"),
      insert(stamps, { visit_id: "a", stamps: "b" }),
    );
    const ids = (condition: Where): Promise<unknown[]> => matching(store, condition, "id", visits);
    assert.deepEqual(await ids(among("id", stamps, "visit_id")), ["a"]);
    assert.deepEqual(await ids(among("id", visits, "place")), ["b"]);
    assert.deepEqual(await ids({ not: among("place", visits, "id", where("times", "gt", 1)) }), ["b"]);
    const wrong: Where[] = [
      among("times", stamps, "visit_id"),
      among("nothing", stamps, "visit_id"),
      among("id", stamps, "nothing"),
      among("id", stamps, "visit_id", where("nothing", "eq", 1)),
      { ...among("id", stamps, "visit_id"), operator: "eq" } as unknown as Where,
      { column: "id", among: { collection: stamps, select: "visit_id" } } as unknown as Where,
    ];
    for (const condition of wrong)
      await assert.rejects(async () => ids(condition), TypeError, JSON.stringify(condition));
    const byEmail = among("email", people, "email");
    await assert.rejects(async () => matching(store, byEmail), TypeError);
    await assert.rejects(async () => matching(store, among("active", people, "active")), TypeError);
  });
}

function promiseConditions(promises: Promises): void {
  promises("finds rows by the values of other rows", async (store) => {
    await written(
      store,
      insert(people, { name: "Ann", age: 3 }),
      insert(people, { name: "Bob", age: 4 }),
      insert(people, { name: "Zoë" }),
      insert(pets, { person_id: keyOf(0), name: "Rex" }),
      insert(pets, { person_id: keyOf(2), name: "Rex" }),
      insert(pets, { person_id: keyOf(2), name: "Tom" }),
      insert(treatments, { pet_id: 3 }),
      insert(treatments, { pet_id: null }),
    );
    const has = (...names: string[]): Where => among("id", pets, "person_id", where("name", "in", names));
    const treated = among("id", pets, "person_id", among("id", treatments, "pet_id"));
    const table: [Where, string[]][] = [
      [has("Rex"), ["Ann", "Zoë"]],
      [has("Tom"), ["Zoë"]],
      [has("nobody"), []],
      [has(), []],
      [has("' OR 1=1"), []],
      [among("id", pets, "person_id"), ["Ann", "Zoë"]],
      [{ not: has("Tom") }, ["Ann", "Bob"]],
      [{ not: has() }, ["Ann", "Bob", "Zoë"]],
      [{ any: [has("Tom"), where("name", "eq", "Bob")] }, ["Bob", "Zoë"]],
      [{ any: [has("Tom"), has("Rex")] }, ["Ann", "Zoë"]],
      [{ all: [has("Tom"), has("Rex")] }, ["Zoë"]],
      [{ all: [has("Rex"), { not: has("Tom") }] }, ["Ann"]],
      [{ all: [has("Rex"), where("age", "eq", 3)] }, ["Ann"]],
      [treated, ["Zoë"]],
      [{ not: treated }, ["Ann", "Bob"]],
      // The inner table is the outer one, and a missing value is on both sides.
      [among("age", people, "age", where("name", "eq", "Ann")), ["Ann"]],
      [among("age", people, "age"), ["Ann", "Bob"]],
      [{ not: among("age", people, "age") }, ["Zoë"]],
      [{ not: among("age", people, "age", where("name", "eq", "Zoë")) }, ["Ann", "Bob", "Zoë"]],
    ];
    for (const [condition, names] of table) {
      assert.deepEqual(await matching(store, condition), names, JSON.stringify(condition));
      assert.equal(await store.count(people, condition), names.length, JSON.stringify(condition));
      assert.equal(await store.count(people, condition, true), names.length, JSON.stringify(condition));
      const query = { collection: people, where: condition, sort: [{ column: "id" }], limit: 9, columns: ["name"] };
      for (const long of [false, true]) {
        const { json } = await store.listJSON({ ...query, long });
        assert.deepEqual(json, JSON.stringify(names.map((name) => ({ name }))));
      }
    }
    const ids = await matching(store, among("pet_id", pets, "id"), "id", treatments);
    assert.deepEqual(ids, [1]);
    assert.deepEqual(await matching(store, { not: among("pet_id", pets, "id") }, "id", treatments), [2]);

    await written(store, { kind: "updateAll", collection: people, where: has("Tom"), values: { age: 9 } });
    assert.deepEqual(await matching(store, where("age", "eq", 9)), ["Zoë"]);
    await written(store, { kind: "deleteAll", collection: people, where: { not: has("Rex") }, atMost: 5 });
    assert.deepEqual(await matching(store, null), ["Ann", "Zoë"]);
  });
}

function promiseLists(promises: Promises): void {
  promises("walks through rows by the values of other rows in every order", async (store) => {
    const ages = [5, 1, null, 3, 3, 2, 4, 1, 9, 7];
    await written(
      store,
      ...ages.map((age, at) => insert(people, { name: `p${at % 3}`, age })),
      ...[1, 2, 3, 5, 8, 9].map((person_id) => insert(pets, { person_id, name: person_id % 2 === 0 ? "even" : "odd" })),
    );
    const within = among("id", pets, "person_id", where("name", "eq", "odd"));
    for (const columns of [["id"], ["name", "id"], ["age", "id"], ["age", "name", "id"]])
      for (const descending of [false, true]) {
        const sort = columns.map((column) => ({ column, descending }));
        const all = await store.list({ collection: people, where: null, sort, limit: 20 });
        const expected = all.map(({ record }) => record["id"]).filter((id) => [1, 3, 5, 9].includes(id as number));
        const seen: unknown[] = [];
        let after: readonly never[] | undefined;
        for (let pages = 0; pages < 9; pages++) {
          const page = await store.listJSON({
            collection: people,
            where: within,
            sort,
            limit: 2,
            ...(after === undefined ? {} : { after }),
          });
          seen.push(...(JSON.parse(page.json) as { id: number }[]).map(({ id }) => id));
          if (!page.more) break;
          after = page.last as readonly never[];
        }
        assert.deepEqual(seen, expected, JSON.stringify(sort));
      }
    const keys = [1, 2, 9];
    const query = { collection: pets, column: "person_id", keys, limit: 5, maxLength: 9999, columns: ["person_id"] };
    const related = await store.listRelated({
      ...query,
      where: among("person_id", people, "id", where("age", "gt", 4)),
    });
    assert.deepEqual(
      related!.map(({ key }) => key),
      [1, 9],
    );
  });

  promises("shows a change of the other rows at once, also in a repeated page", async (store) => {
    await written(store, insert(people, { name: "Ann" }), insert(pets, { person_id: keyOf(0), name: "Rex" }));
    const query = {
      collection: people,
      where: among("id", pets, "person_id", where("name", "eq", "Rex")),
      sort: [{ column: "id" }],
      limit: 5,
      repeated: true,
    };
    assert.equal((await store.listJSON(query)).count, 1);
    await written(store, { kind: "update", collection: pets, key: 1, values: { name: "Tom" } });
    assert.equal((await store.listJSON(query)).count, 0);
    assert.equal(await store.count(people, query.where), 0);
  });
}

/** A required row: a pet with the name Rex. */
const rex = { collection: pets, where: where("name", "eq", "Rex") };
/** The outcome of a write whose required row is missing. */
const refused = { kind: "refused", change: -1, name: OVERTAKEN };

function promiseRequirements(promises: Promises): void {
  promises("writes nothing if a required row is missing", async (store) => {
    const changes = [insert(people, { name: "Ann" })];
    assert.deepEqual(await store.write({ changes, requires: [rex] }), refused);
    assert.equal(await store.count(people, null), 0);
    await written(store, insert(people, { name: "Bob" }), insert(pets, { person_id: keyOf(0), name: "Rex" }));
    assert.equal((await store.write({ changes, requires: [rex, rex] })).kind, "written");
    assert.deepEqual(
      await store.write({ changes, requires: [rex, { collection: pets, where: where("name", "eq", "Tom") }] }),
      refused,
    );
    // The state before the first change counts.
    const gone = { kind: "delete", collection: pets, key: 1 } as const;
    assert.equal((await store.write({ changes: [gone, ...changes], requires: [rex] })).kind, "written");
    const back = insert(pets, { person_id: 1, name: "Rex" });
    assert.deepEqual(await store.write({ changes: [back, ...changes], requires: [rex] }), refused);
    const many = Array.from({ length: 20 }, () => insert(people, { name: "many" }));
    assert.deepEqual(await store.write({ changes: many, requires: [rex] }), refused);
    assert.deepEqual(await store.write({ changes: [], requires: [rex] }), refused);
    assert.deepEqual(await matching(store, null), ["Bob", "Ann", "Ann"]);
    const within = { collection: people, where: among("id", pets, "person_id") };
    assert.deepEqual(await store.write({ changes, requires: [within] }), refused);
    await assert.rejects(store.write({ changes, requires: [{ collection: pets }] as never }), TypeError);
    await assert.rejects(store.write({ changes, requires: rex as never }), TypeError);
  });

  promises("recognizes a repeated write although its required row is gone", async (store) => {
    await written(store, insert(people, { name: "Bob" }), insert(pets, { person_id: keyOf(0), name: "Rex" }));
    const at = new Date();
    const idempotency = {
      key: "1 key",
      columns: ["id", "name"],
      erasable: false,
      fingerprint: "one",
      expiresAt: new Date(at.getTime() + 60_000).toISOString(),
      now: at.toISOString(),
    };
    const transaction = { changes: [insert(people, { name: "Ann" })], requires: [rex], idempotency };
    assert.equal((await store.write(transaction)).kind, "written");
    await written(store, { kind: "delete", collection: pets, key: 1 });
    assert.equal((await store.write(transaction)).kind, "replayed");
    const other = { ...idempotency, key: "1 other" };
    assert.deepEqual(await store.write({ ...transaction, idempotency: other }), refused);
    assert.equal(await store.recall(other), null);
  });
}

function promiseConcurrentRequirements(promises: Promises): void {
  promises("keeps a required row until the transaction ends", async (store, place) => {
    const second = await place.reopen();
    await second.open([people, pets]);
    for (let round = 0; round < 20; round++) {
      const owner = await inserted(store, people, { name: "owner", age: 1 });
      const [member] = await written(store, insert(pets, { person_id: owner.record["id"]!, name: `member ${round}` }));
      const requires = [{ collection: pets, where: where("name", "eq", `member ${round}`) }];
      const key = owner.record["id"] as number;
      // Each write reads that the member is there, and records it; the removal records how many there were.
      const writes = Array.from({ length: 3 }, () =>
        store.write({ changes: [insert(people, { name: `by ${round}` })], requires }),
      );
      const removal = write(second, { kind: "delete", collection: pets, key: member!.record["id"] as number });
      const renaming = store.write({
        changes: [{ kind: "update", collection: people, key, values: { age: 2 } }],
        requires,
      });
      const outcomes = await Promise.all([...writes, removal, renaming]);
      const made = outcomes.slice(0, 3).filter(({ kind }) => kind === "written").length;
      assert.equal(await store.count(people, where("name", "eq", `by ${round}`)), made);
      const late = await store.write({ changes: [insert(people, { name: "late" })], requires });
      assert.deepEqual(late, refused);
      assert.ok([1, 2].includes((await findRecord(store, people, key))!["age"] as number));
    }
  });

  promises("ends both of two transactions that require what the other one removes", async (store, place) => {
    const second = await place.reopen();
    await second.open([people, pets]);
    await inserted(store, people, { name: "owner" });
    for (let round = 0; round < 5; round++) {
      const [one, other] = await written(
        store,
        insert(pets, { person_id: 1, name: `one ${round}` }),
        insert(pets, { person_id: 1, name: `other ${round}` }),
      );
      const remove = (row: Row | null | undefined, requiredName: string, by: typeof store): Promise<{ kind: string }> =>
        by.write({
          changes: [{ kind: "delete", collection: pets, key: row!.record["id"] as number }],
          requires: [{ collection: pets, where: where("name", "eq", `${requiredName} ${round}`) }],
        });
      const outcomes = await Promise.all([remove(one, "other", store), remove(other, "one", second)]);
      assert.deepEqual(outcomes.map(({ kind }) => kind).toSorted(), ["refused", "written"]);
    }
  });
}
