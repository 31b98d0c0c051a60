import {
  anyone,
  boolean,
  decimal,
  defineResource,
  enumeration,
  integer,
  mount,
  reference,
  text,
} from "../../src/door/index.ts";
import { date, type Mount } from "../../src/door/resources.ts";

// Two years of a product: the changes of one resource's declaration, in their order, and their effects on its records.

/** A record as the service shows it. */
export type Shown = Readonly<Record<string, unknown>>;

type Fields = Parameters<typeof defineResource>[0]["fields"];
type Declared = Omit<Parameters<typeof defineResource>[0], "name">;

interface Change {
  readonly words: string;
  /** Returns the declaration after the change. */
  readonly declare: (before: Declared) => Declared;
  /** Returns the record after the change. Default: unchanged. */
  readonly carry?: (before: Shown) => Shown;
  /** Returns the fields of a new record from this version on. Default: as before. */
  readonly make?: (before: Shown, number: number) => Shown;
  /** The columns whose deletion the operator must allow. */
  readonly dropped?: readonly string[];
  /** A field that the previous version does not write, if it continues after the migration. */
  readonly left?: string;
}

/** Returns a change of the fields only. */
const fields =
  (change: (before: Fields) => Fields) =>
  (before: Declared): Declared => ({ ...before, fields: change(before.fields) });

function but(before: Fields, name: string): Fields {
  return Object.fromEntries(Object.entries(before).filter(([each]) => each !== name));
}

function without(record: Shown, name: string): Shown {
  return Object.fromEntries(Object.entries(record).filter(([each]) => each !== name));
}

const first: Declared = {
  fields: {
    title: text({ maxLength: 200 }),
    price: integer({ minimum: 0 }),
    state: enumeration(["draft", "new", "sold"]),
    isbn: text({ maxLength: 40 }),
    pages: integer({ minimum: 0 }),
    lang: text({ maxLength: 10 }),
    note: text({ maxLength: 200, optional: true }),
    shelf_id: integer({ optional: true }),
  },
};

/** Returns one of the first records, by its number. */
export function beginning(number: number): Shown {
  return {
    title: `Title ${number}`,
    price: number % 1000,
    state: ["draft", "new", "sold"][number % 3],
    isbn: `isbn-${number}`,
    pages: number % 700,
    lang: "en",
    note: number % 2 === 0 ? null : `a note of ${number}`,
    shelf_id: number % 5 === 0 ? null : (number % 3) + 1,
  };
}

const shelves = defineResource({ name: "shelf", plural: "shelves", fields: { name: text() } });

/** Twenty changes, in their order. */
export const changes: readonly Change[] = [
  {
    words: "an optional field",
    declare: fields((each) => ({ ...each, subtitle: text({ maxLength: 100, optional: true }) })),
    carry: (record) => ({ ...record, subtitle: null }),
    make: (body, number) => ({ ...body, subtitle: `sub ${number}` }),
  },
  {
    words: "a field with a default",
    declare: fields((each) => ({ ...each, copies: integer({ minimum: 0, default: 1 }) })),
    carry: (record) => ({ ...record, copies: 1 }),
  },
  {
    words: "a filter, a sort, and their index",
    declare: (each) => ({ ...each, filters: { pages: ["gte"] }, sorts: ["pages"] }),
  },
  {
    words: "an optional field with values for all",
    declare: fields((each) => ({
      ...each,
      weight: integer({ optional: true, backfill: (row) => Number(row["pages"]) * 2 }),
    })),
    carry: (record) => ({ ...record, weight: Number(record["pages"]) * 2 }),
    left: "weight",
  },
  {
    words: "a rename",
    declare: fields((each) => ({ ...but(each, "title"), name: text({ maxLength: 200, renamedFrom: "title" }) })),
    carry: (record) => ({ ...without(record, "title"), name: record["title"] }),
    make: (body) => ({ ...without(body, "title"), name: body["title"] }),
  },
  {
    words: "a conversion by a function, under another name",
    declare: fields((each) => ({
      ...but(each, "price"),
      amount: decimal({
        scale: 2,
        maximum: "100000000",
        renamedFrom: "price",
        convert: (euros) => `${Number(euros)}.50`,
      }),
    })),
    carry: (record) => ({ ...without(record, "price"), amount: `${Number(record["price"])}.50` }),
    make: (body) => ({ ...without(body, "price"), amount: `${Number(body["price"])}.25` }),
  },
  {
    words: "a required field with values by a function",
    declare: fields((each) => ({
      ...each,
      kind: text({ maxLength: 10, backfill: (row) => (Number(row["pages"]) > 300 ? "big" : "small") }),
    })),
    carry: (record) => ({ ...record, kind: Number(record["pages"]) > 300 ? "big" : "small" }),
    make: (body) => ({ ...body, kind: "own" }),
  },
  {
    words: "an enumeration without one of its words",
    declare: fields((each) => ({ ...each, state: enumeration(["new", "sold"], { convert: () => "new" as const }) })),
    carry: (record) => ({ ...record, state: record["state"] === "draft" ? "new" : record["state"] }),
  },
  {
    words: "a unique field",
    declare: fields((each) => ({ ...each, isbn: text({ maxLength: 40, unique: true }) })),
  },
  {
    words: "an optional field that becomes required",
    declare: fields((each) => ({ ...each, note: text({ maxLength: 200, backfill: "none" }) })),
    carry: (record) => ({ ...record, note: record["note"] ?? "none" }),
  },
  {
    words: "a conversion that the two types define",
    declare: (each) => ({
      ...each,
      fields: { ...each.fields, pages: text({ maxLength: 20 }) },
      filters: { pages: ["eq"] },
      sorts: ["pages"],
    }),
    carry: (record) => ({ ...record, pages: String(record["pages"]) }),
    make: (body) => ({ ...body, pages: String(body["pages"]) }),
  },
  {
    words: "a reference",
    declare: fields((each) => ({ ...each, shelf_id: reference("shelves", { optional: true }) })),
  },
  {
    words: "a field that is removed",
    declare: (each) => {
      return { ...each, fields: but(each.fields, "subtitle"), removed: { subtitle: "2999-01" } };
    },
    carry: (record) => without(record, "subtitle"),
    make: (body) => without(body, "subtitle"),
  },
  {
    words: "a removed index",
    declare: (each) => ({ ...each, filters: {}, sorts: [] }),
  },
  {
    words: "a filter by folded values",
    declare: (each) => ({ ...each, filters: { name: ["istarts"] } }),
  },
  {
    words: "a conversion back",
    declare: fields((each) => ({ ...each, pages: integer({ minimum: 0 }) })),
    carry: (record) => ({ ...record, pages: Number(record["pages"]) }),
    make: (body) => ({ ...body, pages: Number(body["pages"]) }),
  },
  {
    words: "a conversion in SQL, under another name",
    declare: fields((each) => ({
      ...but(each, "lang"),
      locale: text({
        maxLength: 10,
        renamedFrom: "lang",
        convert: { sqlite: 'upper("lang")', postgres: 'upper("lang")' },
      }),
    })),
    carry: (record) => ({ ...without(record, "lang"), locale: String(record["lang"]).toUpperCase() }),
    make: (body) => ({ ...without(body, "lang"), locale: "de" }),
  },
  {
    words: "a column that is deleted with its values",
    declare: (each) => ({ ...each, removed: {} }),
    dropped: ["books.subtitle"],
  },
  {
    words: "a smaller limit, and a search",
    declare: (each) => ({
      ...each,
      fields: { ...each.fields, note: text({ maxLength: 150, backfill: "none" }) },
      search: ["name"],
    }),
  },
  {
    words: "a date and a boolean",
    declare: fields((each) => ({ ...each, published: date({ optional: true }), active: boolean({ default: true }) })),
    carry: (record) => ({ ...record, published: null, active: true }),
    make: (body) => ({ ...body, published: "2026-02-28" }),
  },
];

/** Returns the mounts after this many changes. */
export function mountsBehind(count: number): readonly Mount[] {
  const declared = changes.slice(0, count).reduce((before, { declare }) => declare(before), first);
  const book = defineResource({ name: "book", ...declared });
  return [mount(shelves, { permission: anyone }), mount(book, { permission: anyone })];
}

/** Returns the fields of a new record after this many changes. */
export function bodyBehind(count: number, number: number): Shown {
  const body: Shown = { ...beginning(number), note: `note ${number}`, state: "new" };
  return changes.slice(0, count).reduce((before, { make }) => make?.(before, number) ?? before, body);
}

/** Returns a record after the changes from `from` to `to`. */
export function carried(record: Shown, from: number, to: number): Shown {
  return changes.slice(from, to).reduce((before, { carry }) => carry?.(before) ?? before, record);
}

/** Returns a record that the previous version has written after the migration, without a value in the `left` fields. */
export function leftWithout(record: Shown, shown: Shown, from: number, to: number): Shown {
  const left = changes
    .slice(from, to)
    .flatMap(({ left: name }) => (name !== undefined && shown[name] === null ? [name] : []));
  return { ...record, ...Object.fromEntries(left.map((name) => [name, null])) };
}

/**
 * Returns the columns that these changes delete. Returns none before the first change, because these columns do not
 * exist yet.
 */
export function droppedBetween(from: number, to: number): readonly string[] {
  return from === 0 ? [] : changes.slice(from, to).flatMap(({ dropped = [] }) => dropped);
}
