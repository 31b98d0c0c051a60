import assert from "node:assert/strict";
import type { Change, Key, RelatedQuery, Store } from "../../store/store.ts";
import { insert, people, pets, visits, where, written, type Promises } from "./library.ts";

/** Promises about related rows. */
export function promiseRelated(promises: Promises): void {
  promiseTextKeys(promises);
  promiseBeside(promises);
  promiseLengths(promises);
  promises("returns the first related rows of each key by id, and whether there are more", async (store) => {
    await fill(store);

    assert.deepEqual(await related(store, { limit: 2 }), {
      1: { names: ["a", "c"], more: true },
      2: { names: ["b"], more: false },
    });
    assert.deepEqual(await related(store, { limit: 3 }), {
      1: { names: ["a", "c", "d"], more: false },
      2: { names: ["b"], more: false },
    });
    assert.deepEqual(await related(store, { keys: [] }), {});
  });

  promises("returns only the related rows that match a condition", async (store) => {
    await fill(store);

    assert.deepEqual(await related(store, { where: where("name", "in", ["c", "d"]), limit: 1 }), {
      1: { names: ["c"], more: true },
    });
    assert.deepEqual(await related(store, { where: { any: [] } }), {});
  });

  promises("finds rows by their ids, with values of every type in the same form as on a page", async (store) => {
    const values = { name: 'O"Neill\\', active: true, height: "1.50", notes: { a: [1, null] } };
    await written(store, insert(people, values), insert(people, { name: "b" }));
    const page = await store.listJSON({ collection: people, where: null, sort: [{ column: "id" }], limit: 10 });

    const groups = await store.listRelated({ ...byId, keys: [2, 3, 1] });

    assert.deepEqual(
      groups!.map(({ key, json, more }) => [key, JSON.parse(json), more]),
      [2, 1].map((key) => [key, [(JSON.parse(page.json) as unknown[])[key - 1]], false]),
    );
  });

  promises("shows a deletion when a query for related rows is repeated", async (store) => {
    await fill(store);
    await related(store, {});

    await written(store, { kind: "delete", collection: people, key: 1 });

    assert.deepEqual(await related(store, {}), { 2: { names: ["b"], more: false } });
    assert.deepEqual(await related(store, { long: true }), { 2: { names: ["b"], more: false } });
  });

  promises("refuses an undeclared column", async (store) => {
    for (const query of [{ column: "pesron_id" }, { columns: ["nmae"] }])
      await assert.rejects(async () => store.listRelated({ ...ofPeople, ...query }), TypeError);
  });
}

function promiseBeside(promises: Promises): void {
  promises("returns the same related rows with a page as with a separate query for its keys", async (store) => {
    await fill(store);
    await written(store, insert(people, { name: "Cy" }), insert(pets, { name: "e", person_id: 3 }));
    const page = { where: null, sort: [{ column: "id", descending: true }], limit: 2 };
    const { keys: _, ...pet } = { ...ofPeople, columns: ["id", "name"], limit: 1 };
    const { keys: __, ...person } = { ...byId, columns: ["name"] };

    const [ofPets, ofOwners, ofTooLong] = [
      await store.listJSON({ ...page, collection: people, columns: ["name"] }, [{ ...pet, from: "id" }]),
      await store.listJSON({ ...page, collection: pets }, [
        { ...person, from: "person_id" },
        { ...pet, where: where("name", "eq", "a"), column: "id", from: "id" },
      ]),
      await store.listJSON({ ...page, collection: people }, [{ ...pet, maxLength: 10, from: "id" }]),
    ];

    // A driver may require a separate query for related rows.
    if (ofPets.beside === undefined) return;
    const byKey = (one: { readonly key: Key }, other: { readonly key: Key }): number =>
      Number(one.key) - Number(other.key);
    assert.equal(ofPets.json, '[{"name":"Cy"},{"name":"Bob"}]');
    assert.deepEqual(ofPets.beside[0]!.toSorted(byKey), await store.listRelated({ ...pet, keys: [2, 3] }));
    assert.deepEqual(
      ofOwners.beside!.map((each) => each!.toSorted(byKey)),
      [await store.listRelated({ ...person, keys: [1, 3] }), []],
    );
    assert.deepEqual(ofTooLong.beside, [null]);
  });
}

const byId: RelatedQuery = { collection: people, column: "id", keys: [], where: null, limit: 1, maxLength: 10_000 };
const ofPeople: RelatedQuery = { ...byId, collection: pets, column: "person_id", keys: [2, 1, 9], limit: 10 };

function promiseTextKeys(promises: Promises): void {
  promises("returns the rows that are related to text keys", async (store) => {
    const visit = (key: string, place: string): Change => ({
      kind: "insert",
      collection: visits,
      key,
      values: { times: 1, place },
    });
    await written(store, visit("c", "x"), visit("a", "y"), visit("b", "x"));
    const query = { collection: visits, where: null, limit: 1, maxLength: 1000, columns: ["id"] };

    const own = await store.listRelated({ ...query, column: "id", keys: ["b", "none", "c"] });
    const others = await store.listRelated({ ...query, column: "place", keys: ["x", "y"] });

    assert.deepEqual(
      own!.map(({ key, json, more }) => [key, JSON.parse(json), more]),
      ["b", "c"].map((key) => [key, [{ id: key }], false]),
    );
    assert.deepEqual(
      others!.map(({ key, json, more }) => [key, JSON.parse(json), more]),
      [
        ["x", [{ id: "b" }], true],
        ["y", [{ id: "a" }], false],
      ],
    );
  });

  promises("returns the rows that are related to text keys with characters that JSON escapes", async (store) => {
    const keys = ['a"b', "a\\b", "line\nbreak", "\u001e\u001f", '"', "é€"].toSorted();
    await written(store, ...keys.map((key, times) => insert(visits, { times, place: `in ${key}` }, key)));
    const query = { collection: visits, where: null, limit: 1, maxLength: 1000, columns: ["id"] };
    const places = keys.map((key) => `in ${key}`);

    for (const [column, wanted] of [
      ["id", keys],
      ["place", places],
    ] as const) {
      const found = await store.listRelated({ ...query, column, keys: wanted });
      assert.deepEqual(
        new Map(found!.map(({ key, json }) => [key, JSON.parse(json) as unknown])),
        new Map(wanted.map((key, at) => [key, [{ id: keys[at] }]])),
      );
    }
  });
}

function promiseLengths(promises: Promises): void {
  promises("returns null if the related rows are longer than the limit", async (store) => {
    await written(store, insert(people, { name: "a".repeat(1000) }), insert(people, { name: "b" }));

    assert.equal(await store.listRelated({ ...byId, keys: [1, 2], maxLength: 900 }), null);
    assert.equal((await store.listRelated({ ...byId, keys: [2], maxLength: 900 }))!.length, 1);
    assert.equal(await store.listRelated({ ...byId, keys: [2, 1], maxLength: 900, long: true }), null);
  });

  promises("answers later reads after related rows that are far longer than the limit", async (store) => {
    const notes = "€".repeat(500_000);
    for (let at = 0; at < 6; at++) await written(store, insert(people, { name: `n${at}`, notes }));
    const keys = [1, 2, 3, 4, 5, 6];

    assert.equal(await store.listRelated({ ...byId, keys, maxLength: 1_000_000 }), null);
    assert.deepEqual(
      (await store.listRelated({ ...byId, keys, maxLength: 10_000_000 }))!.map(({ key }) => key),
      keys,
    );
    assert.equal(await store.listRelated({ ...byId, keys, maxLength: 1_000_000 }), null);
    const page = await store.listJSON({ collection: people, where: null, sort: [{ column: "id" }], limit: 10 });
    assert.ok(page.json.length > 3_000_000);
  });

  promises("counts the length of related rows in characters, not in octets", async (store) => {
    await written(store, insert(people, { name: "€".repeat(1000) }));
    const [found] = (await store.listRelated({ ...byId, keys: [1] }))!;
    const { length } = found!.json;

    assert.deepEqual(await store.listRelated({ ...byId, keys: [1], maxLength: length }), [found]);
    assert.equal(await store.listRelated({ ...byId, keys: [1], maxLength: length - 1 }), null);
  });
}

async function fill(store: Store): Promise<void> {
  await written(store, insert(people, { name: "Ada" }), insert(people, { name: "Bob" }));
  const pet = (name: string, person_id: number) => insert(pets, { name, person_id });
  await written(store, pet("a", 1), pet("b", 2), pet("c", 1), pet("d", 1));
}

async function related(store: Store, query: Partial<RelatedQuery>): Promise<Record<number, unknown>> {
  const groups = await store.listRelated({ ...ofPeople, columns: ["id", "name"], ...query });
  return Object.fromEntries(
    groups!.map(({ key, json, more }) => {
      const names = (JSON.parse(json) as { name: string }[]).map(({ name }) => name);
      return [key, { names, more }];
    }),
  );
}
