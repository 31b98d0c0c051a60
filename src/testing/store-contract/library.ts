import assert from "node:assert/strict";
import type {
  Change,
  Collection,
  Key,
  Outcome,
  Row,
  Store,
  StoredRecord,
  Transaction,
  Value,
  Where,
  WrittenValues,
} from "../../store/store.ts";

/** The separate database of one test, with a store that uses it. */
export interface TestDatabase {
  readonly store: Store;
  reopen(): Promise<Store>;
  dispose(): Promise<void>;
}

/** Declares one promise and its test. The test gets an open store with the collections of `library`. */
export type Promises = (title: string, keep: (store: Store, place: TestDatabase) => Promise<void>) => void;

/** A column of every type, most of them nullable. */
export const people: Collection = {
  name: "people",
  key: "integer",
  columns: [
    { name: "name", type: "text" },
    { name: "email", type: "text", unique: "folded", nullable: true },
    { name: "badge", type: "text", unique: true, nullable: true },
    { name: "age", type: "integer", nullable: true },
    { name: "active", type: "boolean", nullable: true },
    { name: "height", type: "decimal", scale: 2, nullable: true },
    { name: "born_at", type: "date-time", nullable: true },
    { name: "notes", type: "json", nullable: true },
  ],
  indexes: [["name"], ["age", "name"]],
};

/** A pet is deleted with its person. */
export const pets: Collection = {
  name: "pets",
  key: "integer",
  columns: [
    { name: "person_id", type: "integer", references: { collection: "people", onDelete: "cascade" } },
    { name: "name", type: "text" },
  ],
};

/** A treatment prevents the deletion of its pet. */
export const treatments: Collection = {
  name: "treatments",
  key: "integer",
  columns: [
    { name: "pet_id", type: "integer", nullable: true, references: { collection: "pets", onDelete: "restrict" } },
  ],
};

/** A collection with a unique set. */
export const lockers: Collection = {
  name: "lockers",
  key: "integer",
  columns: [
    { name: "hall", type: "text" },
    { name: "number", type: "integer", nullable: true },
  ],
  uniques: [["hall", "number"]],
};

/** A collection that is sorted by a boolean. */
export const lamps: Collection = {
  name: "lamps",
  key: "integer",
  columns: [
    { name: "lit", type: "boolean" },
    { name: "watts", type: "integer" },
  ],
  indexes: [["lit"], ["lit", "watts"]],
};

/** A collection with text keys and a counter. */
export const visits: Collection = {
  name: "visits",
  key: "text",
  columns: [
    { name: "times", type: "integer" },
    { name: "place", type: "text", nullable: true },
  ],
};

/** A collection whose rows are only inserted. */
export const events: Collection = {
  name: "events",
  key: "integer",
  columns: [{ name: "what", type: "text" }],
};

/** The relation between people and the pets that they keep. */
export const keepers: Collection = {
  name: "keepers",
  key: "integer",
  columns: [
    { name: "person_id", type: "integer", references: { collection: "people", onDelete: "cascade" } },
    { name: "keepers", type: "integer", references: { collection: "pets", onDelete: "restrict" } },
  ],
  indexes: [["keepers", "person_id"], ["person_id"]],
  links: { collection: "people", column: "keepers" },
};

/** A relation between rows with text keys. */
export const stamps: Collection = {
  name: "stamps",
  key: "integer",
  columns: [
    { name: "visit_id", type: "text", references: { collection: "visits", onDelete: "cascade" } },
    { name: "stamps", type: "text", references: { collection: "visits", onDelete: "cascade" } },
  ],
  indexes: [["stamps", "visit_id"], ["visit_id"]],
  links: { collection: "visits", column: "stamps" },
};

export const library: readonly Collection[] = [
  people,
  pets,
  treatments,
  lockers,
  lamps,
  visits,
  events,
  keepers,
  stamps,
];

/** Writes changes and returns the rows. Fails if the outcome is not `written`. */
export async function written(store: Store, ...changes: Change[]): Promise<readonly (Row | null)[]> {
  const outcome = await store.write({ changes });
  assert.equal(outcome.kind, "written", `expected written: ${JSON.stringify(outcome)}`);
  return outcome.kind === "written" ? outcome.rows : [];
}

/** Inserts one row and returns it. */
export async function inserted(store: Store, collection: Collection, values: WrittenValues, key?: Key): Promise<Row> {
  const [row] = await written(store, insert(collection, values, key));
  assert.ok(row, "an insert returns its row");
  return row;
}

export function insert(collection: Collection, values: WrittenValues, key?: Key): Change {
  return key === undefined ? { kind: "insert", collection, values } : { kind: "insert", collection, key, values };
}

export function write(store: Store, ...changes: Change[]): Promise<Outcome> {
  return store.write({ changes } satisfies Transaction);
}

export function readId(row: Row): number {
  return row.record["id"] as number;
}

export function where(
  column: string,
  operator: Extract<Where, { operator: unknown }>["operator"],
  value: Value,
): Where {
  return { column, operator, value };
}

/** Returns the values of one column of all matching rows, sorted by key. */
export async function matching(
  store: Store,
  condition: Where | null,
  column = "name",
  collection = people,
): Promise<Value[]> {
  const rows = await store.list({ collection, where: condition, sort: [{ column: "id" }], limit: 1000 });
  return rows.map(({ record }) => record[column]!);
}

/** Returns the current record of a row. Returns null if there is no such row. */
export async function findRecord(store: Store, collection: Collection, key: Key): Promise<StoredRecord | null> {
  return (await store.find(collection, key))?.record ?? null;
}
