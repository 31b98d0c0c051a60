import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { emptyStore } from "../../../tests/harness/test-store.ts";
import { boolean, dateTime, enumeration, integer, text } from "../../resource/kinds/fields.ts";
import { array } from "../../resource/kinds/lists.ts";
import { reference } from "../../resource/kinds/reference.ts";
import { keyOf, type Collection, type Key, type Row, type Store } from "../../store/store.ts";
import { requireNewId, requireWrittenRow } from "../../store/written.ts";
import { add, insert, jsonOf, storedOf, table, update, updateAll, type StoredIn } from "./table.ts";

interface Visit {
  readonly at: number;
  readonly from: string;
}

const readers = table({ name: "readers", fields: { name: text({ unique: "case-insensitive" }) } });
const cards = table({
  name: "cards",
  id: "text",
  fields: {
    reader_id: reference("readers", { onDelete: "cascade" }),
    state: enumeration(["new", "used"]),
    lost: boolean({ optional: true }),
    visits: jsonOf<readonly Visit[]>(),
    shelves: array(text(), { optional: true }),
    loans: integer({ default: 0 }),
    number: text({ optional: true, unique: true }),
    made_at: dateTime(),
  },
  indexes: [["reader_id", "id"], ["made_at"]],
});

let store: Store;
before(async () => {
  store = await emptyStore();
  await store.open([readers, cards]);
});
after(() => store.close());

/** True if the types are equal: neither is wider than the other. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Flat<T> = { readonly [K in keyof T]: T[K] };

true satisfies Same<
  Flat<StoredIn<typeof cards>>,
  {
    readonly id: string;
    readonly reader_id: number;
    readonly state: "new" | "used";
    readonly lost: boolean | null;
    readonly visits: readonly Visit[];
    readonly shelves: readonly string[] | null;
    readonly loans: number;
    readonly number: string | null;
    readonly made_at: string;
  }
>;

const made_at = "2026-11-28T19:00:00.000Z";
const newCard = { state: "new", visits: [{ at: 1, from: "x" }], made_at } as const;

test("makes a column of each field, with its type and without its limits", () => {
  assert.deepEqual(cards, {
    name: "cards",
    key: "text",
    columns: [
      { name: "reader_id", type: "integer", references: { collection: "readers", onDelete: "cascade" } },
      { name: "state", type: "text" },
      { name: "lost", type: "boolean", nullable: true },
      { name: "visits", type: "json" },
      { name: "shelves", type: "json", nullable: true },
      { name: "loans", type: "integer", default: 0 },
      { name: "number", type: "text", nullable: true, unique: true },
      { name: "made_at", type: "date-time" },
    ],
    indexes: [["reader_id", "id"], ["made_at"]],
  });
  assert.deepEqual(readers, {
    name: "readers",
    key: "integer",
    columns: [{ name: "name", type: "text", unique: "folded" }],
  });
});

test("gives rows of a table the types of its fields, in every way to read them", async () => {
  const inserted = insert(readers, { values: { name: "Ann" } });
  const changes = [inserted, insert(cards, { key: "a", values: { reader_id: keyOf(0), ...newCard } })];
  const outcome = await store.write({ changes });
  assert.equal(outcome.kind, "written");
  const id = outcome.kind === "written" ? requireNewId(outcome) : 0;
  const name = outcome.kind === "written" && storedOf(requireWrittenRow(inserted, changes, outcome)).name;

  const found = storedOf((await store.find(cards, "a"))!);
  true satisfies Same<typeof found.state, "new" | "used">;
  const [listed] = await store.list({ collection: cards, where: null, sort: [], limit: 1 });
  true satisfies Same<typeof listed, Row<StoredIn<typeof cards>> | undefined>;
  const named = storedOf((await store.findBy(readers, "name", "ANN"))!);
  true satisfies Same<typeof named.id, number>;

  assert.equal(name, "Ann");
  assert.equal(named.id, id);
  assert.deepEqual(storedOf(listed!), found);
  assert.deepEqual(
    { ...found },
    { id: "a", reader_id: id, ...newCard, lost: null, shelves: null, loans: 0, number: null },
  );
});

test("writes the named columns of one row and of many", async () => {
  await store.write({ changes: [insert(readers, { values: { name: "Ben" } })] });
  const { id: reader_id } = storedOf((await store.findBy(readers, "name", "Ben"))!);
  await store.write({ changes: [insert(cards, { key: "b", values: { reader_id, ...newCard } })] });
  const { revision } = (await store.find(cards, "b"))!;
  const where = { column: "id", operator: "eq", value: "b" } as const;

  await store.write({
    changes: [
      update(cards, { key: "b", values: { state: "used" }, revision }),
      updateAll(cards, { where, values: { shelves: ["history"], lost: true } }),
      add(cards, { key: "b", column: "loans", by: 2, values: { reader_id, ...newCard } }),
    ],
  });

  const { state, shelves, lost, loans } = storedOf((await store.find(cards, "b"))!);
  assert.deepEqual({ state, shelves, lost, loans }, { state: "used", shelves: ["history"], lost: true, loans: 2 });
});

test("does not compile with a column that does not exist, or with a value of another type", () => {
  // None of this code runs. Only the compiler checks it.
  const never = async (untyped: Collection): Promise<void> => {
    const found = storedOf((await store.find(cards, "a"))!);
    // @ts-expect-error -- no such column
    void found.sate;
    // @ts-expect-error -- no such column
    update(cards, { key: "a", values: { sate: "used" } });
    const misspelled = { reader_id: 1, ...newCard, numbr: "7" };
    // @ts-expect-error -- no such column, in a value that was made before
    insert(cards, { key: "a", values: misspelled });
    // @ts-expect-error -- no value for a column that requires one
    insert(cards, { key: "a", values: { reader_id: 1, state: "new", made_at } });
    // @ts-expect-error -- not one of the words
    update(cards, { key: "a", values: { state: "lost" } });
    // @ts-expect-error -- a text is no list of visits
    updateAll(cards, { where: { column: "id", operator: "eq", value: "a" }, values: { visits: "none" } });
    // @ts-expect-error -- no such column to add to
    add(cards, { key: "a", column: "loan", by: 1, values: { reader_id: 1, ...newCard } });
    // @ts-expect-error -- an index over a column that does not exist
    table({ name: "shelves", fields: { label: text() }, indexes: [["lable"]] });
    // A store that does not know the types of rows is still a store.
    ({ find: (_: Collection, id: Key): Row => ({ revision: 1, record: { id } }) }) satisfies Pick<Store, "find">;
    // @ts-expect-error -- the types of a row are unknown without its table
    void storedOf((await store.find(untyped, "a"))!).state;
  };
  assert.equal(typeof never, "function");
});
