import assert from "node:assert/strict";
import { splitWords } from "../../core/words/words.ts";
import type { Collection, Store, Where } from "../../store/store.ts";
import { readId, inserted, insert, written, type Promises } from "./library.ts";

const shelves: Collection = { name: "shelves", key: "integer", columns: [{ name: "room", type: "text" }] };

const books: Collection = {
  name: "books",
  key: "integer",
  columns: [
    { name: "shelf_id", type: "integer", nullable: true, references: { collection: "shelves", onDelete: "cascade" } },
    { name: "title", type: "text", searched: true },
    { name: "author", type: "text", nullable: true, searched: true },
    { name: "year", type: "integer", nullable: true },
  ],
};

const labels: Collection = { name: "labels", key: "text", columns: [{ name: "says", type: "text", searched: true }] };

/** The declaration of `books` before the search was added. */
const unsearched: Collection = {
  ...books,
  columns: books.columns.map((column) => {
    const { searched, ...rest } = column;
    return searched === true ? rest : column;
  }),
};

/** Promises about searches for words. */
export function promiseSearch(promise: Promises): void {
  promiseWords(promise);
  promiseLateWords(promise);
}

function promiseWords(promise: Promises): void {
  promise("finds a word by its beginning, without regard to case and accents", async (store) => {
    await open(store);
    const eva = await inserted(store, books, { title: "Éva's well-known Book_2", author: "STRAẞE Östlund" });
    const odos = await inserted(store, books, { title: "ΟΔΟΣ 東京", author: null });

    for (const word of ["e", "eva", "s", "well", "known", "book", "2", "strasse", "ostlund"])
      assert.deepEqual(await found(store, books, word), [readId(eva)], word);
    for (const word of ["οδοσ", "東"]) assert.deepEqual(await found(store, books, word), [readId(odos)], word);
    for (const word of ["va", "nown", "京", "evas"]) assert.deepEqual(await found(store, books, word), [], word);
  });

  promise("finds rows immediately after every kind of write, and no deleted rows", async (store) => {
    await open(store);
    const shelf = await inserted(store, shelves, { room: "attic" });
    const [first, second, third] = await written(
      store,
      insert(books, { title: "Amber", author: "Ann", shelf_id: readId(shelf) }),
      insert(books, { title: "Beryl", author: "Ben" }, 70),
      insert(books, { title: "Coral", author: "Cy", shelf_id: readId(shelf) }),
    );
    const [one, two, three] = [first!, second!, third!].map(readId) as [number, number, number];
    assert.deepEqual(await found(store, books, "a"), [one]);

    await written(store, { kind: "update", collection: books, key: one, values: { title: "Agate" } });
    assert.deepEqual([await found(store, books, "amber"), await found(store, books, "agate")], [[], [one]]);
    assert.deepEqual(await found(store, books, "ann"), [one]);

    const old: Where = { column: "id", operator: "in", value: [two, three] };
    await written(store, { kind: "updateAll", collection: books, where: old, values: { author: "Dora" } });
    assert.deepEqual([await found(store, books, "cy"), await found(store, books, "dora")], [[], [three, two]]);

    await written(store, { kind: "delete", collection: shelves, key: readId(shelf) });
    assert.deepEqual([await found(store, books, "agate"), await found(store, books, "dora")], [[], [two]]);

    await written(store, { kind: "deleteAll", collection: books, where: old });
    assert.deepEqual(await found(store, books, "dora"), []);
  });

  promise("searches rows with text keys like rows with integer keys", async (store) => {
    await open(store);
    await written(store, insert(labels, { says: "Handle with care" }, "b"), insert(labels, { says: "Careful" }, "a"));

    assert.deepEqual(await found(store, labels, "care"), ["a", "b"]);
  });

  promise("finds the same names in many scripts as a search through a list in memory", async (store) => {
    await open(store);
    const random = createRandom(7);
    const rows = Array.from({ length: 1500 }, (_, at) => ({
      title: makeName(random),
      author: at % 5 === 0 ? null : makeName(random),
    }));
    await written(store, ...rows.map((values) => insert(books, values)));
    const words = rows.map(({ title, author }) => splitWords(`${title} ${author ?? ""}`));

    for (let round = 0; round < 100; round++) {
      const from = words[Math.floor(random() * words.length)]!;
      const [word, other] = [0, 1].map(() => pickBeginning(from, random)) as [string, string];
      const all = [...new Set([word, other])];
      const expected = rows.flatMap((_, at) =>
        all.every((each) => words[at]!.some((one) => one.startsWith(each))) ? [at + 1] : [],
      );
      const both: Where = { all: [{ word, few: true }, { word: other }] };
      assert.deepEqual(await loadIds(store, books, both), expected, JSON.stringify(all));
      assert.deepEqual(await loadIds(store, books, { all: [{ word }, { word: other }] }), expected);
    }
  });
}

function promiseLateWords(promise: Promises): void {
  promise(
    "finds rows from before the search was declared, even if the search was removed in between",
    async (_, place) => {
      const before = await place.reopen();
      await before.open([shelves, unsearched]);
      const many = Array.from({ length: 700 }, (_each, at) =>
        insert(unsearched, { title: `Number ${at}`, author: "Émile" }),
      );
      await written(before, ...many);
      const store = await place.reopen();
      await store.open([shelves, books]);
      assert.equal((await settled(store, "emile")).length, 700);
      await store.close();

      // Removes the search, and then adds it again.
      const without = await place.reopen();
      await without.open([shelves, unsearched]);
      await written(without, { kind: "update", collection: unsearched, key: 1, values: { author: "Zoë" } });
      await without.close();
      const again = await place.reopen();
      await again.open([shelves, books]);
      assert.equal((await settled(again, "emile")).length, 699);
      assert.deepEqual(await settled(again, "zoe"), [1]);
      await again.close();
      await before.close();
    },
  );

  promise("still finds the rows of a table that a migration has created again", async (_, place) => {
    const before = await place.reopen();
    await before.open([shelves, books]);
    const amber = await inserted(before, books, { title: "Amber", author: "Ann", year: 1815 });
    await before.close();
    const strict = books.columns.map(({ nullable, ...column }) =>
      nullable === true && column.name !== "year" ? { ...column, nullable } : column,
    );
    const strictBooks: Collection = { ...books, columns: strict };
    const store = await place.reopen();
    await store.open([shelves, strictBooks]);

    assert.deepEqual(await found(store, strictBooks, "amb"), [readId(amber)]);
    await written(store, { kind: "delete", collection: strictBooks, key: readId(amber) });
    assert.deepEqual(await found(store, strictBooks, "amb"), []);
    await store.close();
  });

  promise("finds rows that a program without search has written, after a short time", async (_, place) => {
    const older = await place.reopen();
    await older.open([shelves, unsearched]);
    const store = await place.reopen();
    await store.open([shelves, books]);
    const old = await inserted(older, unsearched, { title: "Amber", author: "Ann" });
    const other = await inserted(store, books, { title: "Beryl", author: "Ann" });
    await written(older, { kind: "update", collection: unsearched, key: readId(other), values: { title: "Coral" } });
    // After this write, the store indexes the rows of the other program sooner.
    await inserted(store, books, { title: "Dune", author: null });

    await soon(async () => assert.deepEqual(await found(store, books, "ann"), [readId(old), readId(other)]));
    await soon(async () => assert.deepEqual(await found(store, books, "coral"), [readId(other)]));
    assert.deepEqual(await found(store, books, "beryl"), []);
    await older.close();
    await store.close();
  });

  promise("estimates the number of rows with each word, and stops above the limit", async (store) => {
    await open(store);
    await written(store, ...Array.from({ length: 30 }, (_, at) => insert(books, { title: `common ${at}` })));

    await soon(async () => {
      const counts = await store.countWords!(books, ["common", "29", "rare"], 10);
      assert.deepEqual(counts, { rows: [11, 1, 0], waiting: 0 });
    });
  });
}

async function open(store: Store): Promise<void> {
  await store.open([shelves, books, labels]);
}

/** Returns the ids of rows with a word. Throws if the index and a scan of all rows find different rows. */
async function found(store: Store, collection: Collection, word: string): Promise<unknown[]> {
  const byIndex = await loadIds(store, collection, { word, few: true });
  assert.deepEqual(await loadIds(store, collection, { word }), byIndex);
  return byIndex;
}

async function loadIds(store: Store, collection: Collection, where: Where): Promise<unknown[]> {
  const rows = await store.list({ collection, where, sort: [{ column: "id" }], limit: 2000 });
  assert.equal(await store.count(collection, where), rows.length);
  return rows.map(({ record }) => record["id"]);
}

/** Waits until the index is complete, and returns the ids of rows with a word. */
async function settled(store: Store, word: string): Promise<unknown[]> {
  await soon(async () => assert.notEqual(await store.countWords!(books, [word], 1), null));
  return found(store, books, word);
}

async function soon(hold: () => Promise<void>): Promise<void> {
  const due = performance.now() + 10_000;
  for (;;) {
    try {
      return await hold();
    } catch (error) {
      if (performance.now() > due) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Makes a generator of numbers from 0 to 1 that repeats for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
}

const parts = [
  ..."aeiouöéåßſıİnrstlk",
  "ΟΣ",
  "ος",
  "Ёж",
  "ий",
  "אב",
  "مح",
  "हि",
  "न्दी",
  "東京",
  "か\u3099",
  "한국",
  "\u1112\u1161",
  "ﬁ",
  "Ǆ",
  "𐐀",
  "7",
  "٣",
  "²",
];
const between = [" ", "-", ".", "@", "_", "'", "\u200d", "、", "😀", "\u00ad", "¨"];

function makeName(random: () => number): string {
  const pick = (from: readonly string[]): string => from[Math.floor(random() * from.length)]!;
  let name = "";
  for (let at = 0; at < 8; at++) name += random() < 0.25 ? pick(between) : pick(parts);
  return `${name}x`;
}

function pickBeginning(words: readonly string[], random: () => number): string {
  const word = [...words[Math.floor(random() * words.length)]!];
  return word.slice(0, 1 + Math.floor(random() * word.length)).join("");
}
