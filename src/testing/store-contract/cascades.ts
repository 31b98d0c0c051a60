import assert from "node:assert/strict";
import { keyOf, type Change, type Collection, type Outcome, type Store } from "../../store/store.ts";
import { readId, insert, library, matching, people, pets, where, write, written, type Promises } from "./library.ts";

/** A reply is deleted with its author, and with the reply that it answers. */
const replies: Collection = {
  name: "replies",
  key: "integer",
  columns: [
    { name: "person_id", type: "integer", references: { collection: "people", onDelete: "cascade" } },
    { name: "reply_to", type: "integer", nullable: true, references: { collection: "replies", onDelete: "cascade" } },
    { name: "text", type: "text", searched: true },
  ],
  indexes: [["person_id"], ["reply_to"]],
};

/** A mark prevents the deletion of its reply. */
const marks: Collection = {
  name: "marks",
  key: "text",
  columns: [{ name: "reply_id", type: "integer", references: { collection: "replies", onDelete: "restrict" } }],
};

/** A folder is deleted with its parent. The keys are texts. */
const folders: Collection = {
  name: "folders",
  key: "text",
  columns: [
    { name: "above", type: "text", nullable: true, references: { collection: "folders", onDelete: "cascade" } },
  ],
  indexes: [["above"]],
};

/** The number of rows in a chain. SQLite itself cascades through at most a thousand rows. */
const DEPTH = 1300;

/** Promises about deletions that delete long chains of rows. */
export function promiseCascades(promises: Promises): void {
  const deep: Deep = (title, keep) =>
    promises(title, async (_, place) => {
      const store = await place.reopen();
      await store.open([...library, replies, marks, folders]);
      await keep(store);
    });
  promiseRemoved(deep);
  promiseStored(deep);
}

type Deep = (title: string, keep: (store: Store) => Promise<void>) => void;

function promiseRemoved(deep: Deep): void {
  deep("deletes cascading rows at any depth", async (store) => {
    const [first] = await chain(store);
    await written(store, { kind: "delete", collection: replies, key: first! });
    assert.equal(await store.count(replies, null), 0);

    const [again] = await chain(store);
    await written(store, { kind: "deleteAll", collection: replies, where: where("id", "eq", again!) });
    assert.equal(await store.count(replies, null), 0);

    await written(
      store,
      ...Array.from({ length: DEPTH }, (_, at): Change =>
        insert(folders, { above: at === 0 ? null : `f${at - 1}` }, `f${at}`),
      ),
    );
    await written(store, { kind: "delete", collection: folders, key: "f0" });
    assert.equal(await store.count(folders, null), 0);
  });

  deep("deletes a row that a cascade reaches by several paths", async (store) => {
    const ids = await chain(store);
    // The first reply answers the last one, so the replies form a circle. The author also has a pet.
    await written(
      store,
      { kind: "update", collection: replies, key: ids[0]!, values: { reply_to: ids.at(-1)! } },
      insert(pets, { person_id: 1, name: "Rex" }),
      insert(people, { name: "Eve" }),
      insert(replies, { person_id: keyOf(2), reply_to: ids[7]!, text: "of another" }),
      insert(replies, { person_id: keyOf(2), text: "alone" }),
    );

    await written(store, { kind: "delete", collection: people, key: 1 });

    assert.deepEqual(await matching(store, null, "text", replies), ["alone"]);
    assert.deepEqual([await store.count(pets, null), await store.count(people, null)], [0, 1]);
  });
}

function promiseStored(deep: Deep): void {
  deep("refuses a deep deletion if a row refers to its last row, and keeps all rows", async (store) => {
    const ids = await chain(store);
    await written(store, insert(marks, { reply_id: ids.at(-1)! }, "a"), insert(people, { name: "Eve" }));
    const before = await store.count(replies, null);

    const outcomes = [
      await write(store, { kind: "delete", collection: replies, key: ids[0]! }),
      await write(store, insert(pets, { person_id: 2, name: "x" }), {
        kind: "deleteAll",
        collection: replies,
        where: { all: [] },
      }),
    ];

    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ["referenced", "referenced"] satisfies Outcome["kind"][],
    );
    assert.deepEqual([await store.count(replies, null), await store.count(pets, null)], [before, 0]);
    await written(
      store,
      { kind: "delete", collection: marks, key: "a" },
      { kind: "delete", collection: replies, key: ids[0]! },
    );
    assert.equal(await store.count(replies, null), 0);
  });

  deep("makes a deep deletion only if the first row has the given revision", async (store) => {
    const [first] = await chain(store);
    const row = (await store.find(replies, first!))!;

    const stale = await write(store, { kind: "delete", collection: replies, key: first!, revision: row.revision + 1 });
    assert.deepEqual(stale, { kind: "stale", change: 0 });
    assert.equal(await store.count(replies, null), DEPTH);
    const [left, made] = await written(
      store,
      { kind: "delete", collection: replies, key: first!, revision: row.revision },
      insert(people, { name: "Eve" }),
    );
    assert.deepEqual([left, made!.record["name"]], [null, "Eve"]);
    assert.equal(await store.count(replies, null), 0);
  });
}

/** Makes replies of one person, each answering the previous one. Returns their keys. */
async function chain(store: Store): Promise<readonly number[]> {
  if ((await store.count(people, null)) === 0) await written(store, insert(people, { name: "Ada" }));
  const rows = await written(
    store,
    ...Array.from({ length: DEPTH }, (_, at): Change =>
      insert(replies, { person_id: 1, reply_to: at === 0 ? null : keyOf(at - 1), text: `reply ${at}` }),
    ),
  );
  return rows.map((row) => readId(row!));
}
