import assert from "node:assert/strict";
import { keyOf, type Change, type Collection, type Key, type KeyOf, type Store } from "../../store/store.ts";
import {
  readId,
  insert,
  inserted,
  keepers,
  people,
  pets,
  stamps,
  visits,
  where,
  write,
  written,
  type Promises,
} from "./library.ts";

/**
 * Promises about relations, and about the selected columns of a row. One change writes a row of the relation for each
 * id that a record links to.
 */
export function promiseLinks(promises: Promises): void {
  promiseWrittenLinks(promises);
  promiseRefusedLinks(promises);
  promiseShownColumns(promises);
}

function promiseWrittenLinks(promises: Promises): void {
  promises(
    "writes a row for each id of a link, for a record that exists or is created by the same transaction",
    async (store) => {
      const [ada, one, two] = [
        await inserted(store, people, { name: "Ada" }),
        await pet(store, "One"),
        await pet(store, "Two"),
      ];

      const rows = await written(
        store,
        insert(people, { name: "New" }),
        link(keepers, keyOf(0), [two, one]),
        link(keepers, readId(ada), [one]),
        link(keepers, readId(ada), []),
      );

      assert.deepEqual(rows.slice(1), [null, null, null]);
      const linked = await store.list({ collection: keepers, where: null, sort: [{ column: "id" }], limit: 10 });
      assert.deepEqual(
        new Set(linked.map(({ record }) => `${String(record["person_id"])} ${String(record["keepers"])}`)),
        new Set([`${readId(rows[0]!)} ${two}`, `${readId(rows[0]!)} ${one}`, `${readId(ada)} ${one}`]),
      );
      assert.equal(new Set(linked.map(({ revision }) => revision)).size, 3);
      assert.equal(new Set(linked.map(readId)).size, 3);
    },
  );

  promises(
    "writes thousands of links with other changes, for records that exist or are created by the same transaction",
    async (store) => {
      const keys = Array.from({ length: 600 }, (_, at) => `visit ${at}`);
      const made = keys.map((key) => insert(visits, { times: 1 }, key));
      const linking = keys.slice(0, 20).map((key, at) => link(stamps, at % 2 === 0 ? keyOf(at) : key, keys));

      await written(store, ...made, ...linking, { kind: "delete", collection: visits, key: "visit 599" });

      assert.equal(await store.count(stamps, null), 20 * 599);
      assert.equal(await store.count(stamps, where("visit_id", "eq", "visit 3")), 599);
    },
  );
}

function promiseRefusedLinks(promises: Promises): void {
  promises("refuses a link to a missing row, names the position of its id, and writes nothing", async (store) => {
    const [ada, one] = [await inserted(store, people, { name: "Ada" }), await pet(store, "One")];
    const refused = { kind: "dangling", column: "keepers" };
    const few = [insert(people, { name: "New" }), link(keepers, keyOf(0), [one, 99, 98])];
    const many = Array.from({ length: 20 }, (_, at) => link(keepers, readId(ada), at === 17 ? [one, one, 99] : [one]));

    assert.deepEqual(await write(store, ...few), { ...refused, change: 1, place: 1 });
    assert.deepEqual(await write(store, ...many), { ...refused, change: 17, place: 2 });
    assert.deepEqual(await write(store, link(keepers, 99, [one])), { ...refused, column: "person_id", change: 0 });
    assert.equal(await store.count(people, null), 2);
    assert.equal(await store.count(keepers, null), 0);
  });

  promises("throws for a link of a collection that is not a relation, and for ids of another type", async (store) => {
    await inserted(store, people, { name: "Ada" });

    for (const fault of [link(pets, 1, [1]), link(keepers, 1, ["one"]), link(keepers, keyOf(3), [1])])
      await assert.rejects(write(store, fault), TypeError);
  });
}

function promiseShownColumns(promises: Promises): void {
  promises("returns the row of a change if a later change deletes its links", async (store) => {
    const [ada, one] = [await inserted(store, people, { name: "Ada" }), await pet(store, "One")];
    await written(store, link(keepers, readId(ada), [one]));

    const [row] = await written(
      store,
      { kind: "update", collection: people, key: readId(ada), values: { age: 7 } },
      { kind: "deleteAll", collection: keepers, where: where("person_id", "eq", readId(ada)) },
    );

    assert.deepEqual(row, await store.find(people, readId(ada)));
    assert.equal(await store.count(keepers, null), 0);
  });

  promises("returns the selected columns of a row, and its revision", async (store) => {
    const ada = await inserted(store, people, { name: "Ada", notes: [1], age: 3 });
    const key = readId(ada);
    const update: Change = { kind: "update", collection: people, key, values: { age: 4 }, shown: ["id", "age"] };

    const [alone] = await written(store, update);
    assert.deepEqual(alone, { revision: (await store.find(people, key))!.revision, record: { id: key, age: 4 } });
    const [altered] = await written(store, update, {
      kind: "updateAll",
      collection: people,
      where: where("id", "eq", key),
      values: { age: 5 },
    });
    assert.deepEqual(altered!.record, { id: key, age: 5 });
    const query = { collection: people, where: null, sort: [{ column: "name" }], limit: 10 };
    const now = await store.find(people, key);
    assert.deepEqual(await store.list({ ...query, columns: ["notes", "id"] }), [
      { revision: now!.revision, record: { id: key, notes: [1] } },
    ]);
    assert.deepEqual(await write(store, { ...update, revision: 1_000_000 }), { kind: "stale", change: 0 });
    assert.deepEqual(await write(store, { ...update, key: 99 }), { kind: "missing", change: 0 });
    await assert.rejects(async () => store.list({ ...query, columns: ["nmae"] }), TypeError);
  });
}

function link(collection: Collection, record: Key | KeyOf, ids: readonly Key[]): Change {
  return { kind: "link", collection, record, ids };
}

async function pet(store: Store, name: string): Promise<number> {
  const owner = await inserted(store, people, { name: `keeper of ${name}` });
  const row = await inserted(store, pets, { person_id: readId(owner), name });
  return readId(row);
}
