import assert from "node:assert/strict";
import { test } from "node:test";
import type { Permission } from "../../src/door/auth.ts";
import {
  administrator,
  anyOf,
  boolean,
  dateTime,
  decimal,
  defineEndpoint,
  defineResource,
  email,
  enumeration,
  integer,
  json,
  mount,
  nobody,
  owner,
  reference,
  self,
  text,
  type RecordOf,
  type Scheme,
} from "../../src/door/index.ts";
import {
  olderShape,
  references,
  type ColumnOf,
  type DraftOf,
  type MountOptions,
  type StoredOf,
} from "../../src/door/resources.ts";
import { keyOf } from "../../src/door/stores.ts";

const books = defineResource({
  name: "book",
  fields: {
    title: text({ maxLength: 200 }),
    pages: integer({ optional: true }),
    price: decimal({ scale: 2, maximum: "999.99", default: "0.00" }),
    lent: boolean({ default: false, optional: true }),
    due: dateTime({ optional: true }),
    kind: enumeration(["novel", "poem"]),
    contact: email(),
    author_id: reference("authors"),
    meta: json({ optional: true }),
    added_at: dateTime({ generated: ({ now }) => new Date(now).toISOString() }),
    score: integer({ readOnly: true, default: 0 }),
    pin: text({ writeOnly: true }),
    note: text({ writeOnly: true, transient: true, optional: true }),
  },
  filters: { title: ["eq", "starts"], id: ["in"] },
  sorts: ["title", "price"],
});

type Book = RecordOf<typeof books>;
type BookDraft = DraftOf<typeof books>;

/** True if the types are equal: neither is wider than the other. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Flat<T> = { readonly [K in keyof T]: T[K] };

const checks = {
  record: true satisfies Same<
    Flat<Book>,
    {
      readonly id: number;
      readonly title: string;
      readonly pages: number | null;
      readonly price: string;
      readonly lent: boolean;
      readonly due: string | null;
      readonly kind: "novel" | "poem";
      readonly contact: string;
      readonly author_id: number;
      readonly meta: unknown;
      readonly added_at: string;
      readonly score: number;
    }
  >,
  draft: true satisfies Same<
    Flat<BookDraft>,
    {
      readonly title: string;
      readonly pages?: number | null;
      readonly price?: string;
      readonly lent?: boolean | null;
      readonly due?: string | null;
      readonly kind: "novel" | "poem";
      readonly contact: string;
      readonly author_id: number;
      readonly meta?: unknown;
      readonly pin: string;
      readonly note?: string;
    }
  >,
};

const least: BookDraft = { title: "Emma", kind: "novel", contact: "a@example.com", author_id: 1, pin: "1" };

test("gives records and drafts the types of their declaration", () => {
  assert.deepEqual(checks, { record: true, draft: true });
  assert.equal(least.kind, "novel");
});

const shelves = defineResource({ name: "shelf", plural: "shelves", within: books, fields: { label: text() } });

test("gives hooks, checks and handlers the types of their arguments", () => {
  // None of this code runs. Only the compiler checks it.
  const never = (): void => {
    mount(books, {
      permission: anyOf(administrator, owner("author_id")),
      beforeWrite(write) {
        if (write.kind === "delete") return {};
        true satisfies Same<typeof write.draft.values.title, string>;
        true satisfies Same<typeof write.draft.transient.note, string | undefined>;
        if (write.kind === "create") {
          true satisfies Same<typeof write.current, null>;
          true satisfies Same<typeof write.draft.values.pin, string>;
          true satisfies Same<typeof write.draft.values.added_at, string>;
          return { values: { score: 1, author_id: keyOf(1) } };
        }
        // Undefined if the caller omits the field, whose stored value then stays unchanged.
        true satisfies Same<typeof write.draft.values.pin, string | undefined>;
        true satisfies Same<typeof write.current.pin, string>;
        true satisfies Same<typeof write.id, number>;
        return { values: { score: write.current.score + 1 } };
      },
    });
    const members = defineResource({
      name: "member",
      table: "members",
      writes: ["create", "update"],
      fields: { active: boolean({ filled: true }), joined_at: dateTime({ readOnly: true, filled: true }) },
      check(record) {
        // The database sets a value that the caller of a create or a PUT omits.
        true satisfies Same<typeof record.active, boolean | undefined>;
        true satisfies Same<typeof record.joined_at, string | undefined>;
        return [];
      },
    });
    mount(members, {
      permission: nobody,
      beforeWrite(write) {
        if (write.kind !== "delete") true satisfies Same<typeof write.draft.values.active, boolean | undefined>;
        if (write.kind === "update") true satisfies Same<typeof write.draft.values.active, boolean | undefined>;
        if (write.kind === "update") true satisfies Same<typeof write.current.active, boolean>;
        return {};
      },
    });
    true satisfies Same<ColumnOf<typeof shelves>, "id" | "book_id" | "label">;
    true satisfies Same<StoredOf<typeof shelves>["book_id"], number>;
    mount(shelves, { permission: owner("book_id") });
    const lent: Permission<"lent"> = {
      name: "lent",
      // @ts-expect-error -- booleans have no order
      decide: () => ({ only: { column: "lent", operator: "gte", value: true } }),
    };
    mount(books, { permission: lent });
    defineResource({
      name: "stay",
      fields: {
        from: dateTime(),
        to: dateTime({ optional: true }),
        secret: text({ writeOnly: true, transient: true }),
      },
      check(record) {
        true satisfies Same<typeof record.from, string>;
        true satisfies Same<typeof record.to, string | null>;
        true satisfies Same<typeof record.secret, string | undefined>;
        return [];
      },
    });
    defineEndpoint({
      method: "GET",
      path: "/shelves/{id}/{label:text}",
      access: anyOf(administrator, self()),
      handle({ params }) {
        true satisfies Same<typeof params.id, number>;
        true satisfies Same<typeof params.label, string>;
        return { status: 204 };
      },
    });
    const tagged = defineResource({
      name: "tagged",
      fields: { tags: references(books, { default: [] }), keys: references("keys", { id: "uuid", optional: true }) },
      filters: { tags: ["eq", "in"] },
    });
    true satisfies Same<
      Flat<RecordOf<typeof tagged>>,
      { readonly id: number; readonly tags: readonly number[]; readonly keys: readonly string[] | null }
    >;
    mount(tagged, { permission: nobody, expand: { books: "tags" } });
    const measured = defineResource({
      name: "measured",
      fields: { height: decimal({ scale: 2, maximum: "9.99", json: "number", default: 1.5 }) },
    });
    true satisfies Same<Flat<RecordOf<typeof measured>>, { readonly id: number; readonly height: number }>;
    // @ts-expect-error -- the default is a number, as `json` says
    decimal({ scale: 2, maximum: "9.99", json: "number", default: "1.50" });
    // @ts-expect-error -- ids are numbers
    references(books, { default: ["1"] });
    // @ts-expect-error -- a misspelt option
    references("books", { maxItms: 3 });
    const named = defineResource({
      name: "person",
      fields: { first: text(), last: text({ optional: true }), pin: text({ writeOnly: true }) },
      computed: {
        full: {
          as: text(),
          from: ({ first, last }) => `${first satisfies string} ${(last satisfies string | null) ?? ""}`,
        },
        age: { as: integer({ optional: true }), from: () => null },
      },
    });
    true satisfies Same<
      Flat<RecordOf<typeof named>>,
      {
        readonly id: number;
        readonly first: string;
        readonly last: string | null;
        readonly full: string;
        readonly age: number | null;
      }
    >;
    true satisfies Same<ColumnOf<typeof named>, "id" | "first" | "last" | "pin">;
    true satisfies Same<
      Flat<DraftOf<typeof named>>,
      { readonly first: string; readonly pin: string; readonly last?: string | null }
    >;
    mount(named, {
      permission: nobody,
      // @ts-expect-error -- a computed field has no column
      beforeWrite: () => ({ values: { full: "x" } }),
    });
    // @ts-expect-error -- the computed value has another type
    defineResource({ name: "a", fields: {}, computed: { b: { as: integer(), from: () => "1" } } });
    defineResource({
      name: "a",
      fields: { b: text({ writeOnly: true }) },
      // @ts-expect-error -- a write-only field is never shown
      computed: { c: { as: text(), from: ({ b }) => b } },
    });
    const mounted = mount(books, { permission: nobody });
    const defaults = { kind: "novel", contact: "a@b.example", author_id: 1, pin: "1" } as const;
    olderShape(mounted, {
      prefix: "/v1",
      fields: {
        name: "title",
        secret: "pin",
        cents: {
          from: "price",
          as: integer(),
          show: (price) => Number(price satisfies string) * 100,
          read: (cents: number) => String(cents / 100),
        },
        length: { from: "pages", as: text(), show: (pages) => String(pages satisfies number) },
      },
      defaults,
    });
    // @ts-expect-error -- no such field
    olderShape(mounted, { prefix: "/v1", fields: { name: "titel" }, defaults });
    // @ts-expect-error -- no such field
    olderShape(mounted, { prefix: "/v1", fields: { c: { from: "prise", as: text(), show: () => "" } }, defaults });
    // @ts-expect-error -- a write-only field is never shown
    olderShape(mounted, { prefix: "/v1", fields: { p: { from: "pin", as: text(), show: () => "" } }, defaults });
    // @ts-expect-error -- no path
    olderShape(mounted, { prefix: "v1", fields: { name: "title" }, defaults });
    defineResource({
      name: "note",
      fields: { a: text({ deprecated: { since: "2026-07-01", sunset: "2027-01-01", link: "/changes" } }) },
      filters: { a: { operators: ["eq"], deprecated: { since: "2026-07-01T12:00:00Z" } } },
    });
    // @ts-expect-error -- no day
    text({ deprecated: { since: "soon" } });
    // @ts-expect-error -- no address
    text({ deprecated: { since: "2026-07-01", link: "example.org" } });
    // @ts-expect-error -- a misspelt option
    text({ deprecated: { since: "2026-07-01", sunet: "2027-01-01" } });
    // @ts-expect-error -- since is missing
    mount(books, { permission: nobody, deprecated: { sunset: "2027-01-01" } });
    // @ts-expect-error -- a misspelt option
    mount(books, { permission: nobody, deprecated: { since: "2026-07-01", lnik: "/changes" } });
    mount(books, {
      permission: nobody,
      async beforeWrite({ kind, current, draft }) {
        if (kind === "delete") return {};
        if (kind === "create") return { values: { kind: "novel", score: 1 } };
        if (current?.lent === true) return { values: { kind: "poem" }, changes: [], complete: async () => [] };
        return { values: draft === null ? {} : { title: draft.values.title } };
      },
    });
    mount(books, {
      permission: nobody,
      beforeWrite: ({ kind }) => (kind === "create" ? Promise.resolve({ values: { score: 2 } }) : {}),
    });
    // @ts-expect-error -- an unknown member
    mount(books, { permission: nobody, beforeWrite: () => ({ values: { score: 1 }, alos: [] }) });
    const shelved = mount(shelves, { permission: nobody });
    mount(books, {
      permission: nobody,
      beforeWrite: () => ({
        changes: [{ kind: "insert", collection: shelved.collection, values: { label: "a", book_id: keyOf(0) } }],
      }),
    });
    mount(books, {
      permission: nobody,
      // @ts-expect-error -- no column of the table that is written
      beforeWrite: () => ({ changes: [{ kind: "insert", collection: shelved.collection, values: { lable: "a" } }] }),
    });
    mount(books, {
      permission: nobody,
      // @ts-expect-error -- no column of shelves
      beforeWrite: async ({ kind }) =>
        kind === "delete"
          ? {
              changes: [
                {
                  kind: "deleteAll",
                  collection: shelved.collection,
                  where: { column: "lable", operator: "eq", value: 1 },
                },
              ],
            }
          : {},
    });
    mount(books, {
      permission: nobody,
      actions: {
        shelve: {
          permission: nobody,
          // @ts-expect-error -- no column of shelves
          handle: () => ({ changes: [{ kind: "insert", collection: shelved.collection, values: { lable: "a" } }] }),
        },
      },
    });
    // @ts-expect-error -- the path gives the value
    mount(shelves, { permission: nobody, beforeWrite: () => ({ values: { book_id: 2 } }) });
    // @ts-expect-error -- a value of another type
    mount(books, { permission: nobody, beforeWrite: () => ({ values: { score: "1" } }) });
    mount(books, {
      permission: nobody,
      expand: { author: "author_id", shelves: mount(shelves, { permission: nobody }) },
    });
    mount(shelves, { permission: nobody, expand: { book: "book_id" } });
    // @ts-expect-error -- no such column
    mount(books, { permission: nobody, expand: { author: "auhtor_id" } });
    // @ts-expect-error -- a number that refers to nothing
    mount(books, { permission: nobody, expand: { author: "pages" } });
    // @ts-expect-error -- books do not belong to a shelf
    mount(shelves, { permission: nobody, expand: { books: mount(books, { permission: nobody }) } });
    // @ts-expect-error -- transient, and no column
    mount(books, { permission: owner("note") });
    // @ts-expect-error -- the type of the permission does not name the column
    ({ name: "own", decide: () => ({ only: { column: "author_id", operator: "eq", value: 1 } }) }) satisfies Permission;
    ({
      name: "own",
      decide: () => ({ only: { column: "author_id", operator: "eq", value: 1 } }),
    }) satisfies Permission<"author_id">;
  };

  assert.equal(typeof never, "function");
});

test("refuses in the compiler what a declaration refuses at run time", () => {
  // None of this code runs. Only the compiler checks it.
  const never = (): void => {
    // @ts-expect-error -- title is required
    ({ kind: "novel", contact: "a@example.com", author_id: 1, pin: "1" }) satisfies BookDraft;
    // @ts-expect-error -- a word that is not of the enumeration
    ({ ...least, kind: "essay" }) satisfies BookDraft;
    // @ts-expect-error -- the service generates the value
    ({ ...least, added_at: "2026-01-01T00:00:00Z" }) satisfies BookDraft;
    // @ts-expect-error -- read-only
    ({ ...least, score: 1 }) satisfies BookDraft;
    // @ts-expect-error -- an amount is text
    ({ ...least, price: 12.5 }) satisfies BookDraft;
    // @ts-expect-error -- required fields are never null
    ({ ...least, title: null }) satisfies BookDraft;
    // @ts-expect-error -- a write-only field is never shown
    void ({} as Book).pin;
    // @ts-expect-error -- records are read-only
    ({} as { book: Book }).book.title = "Persuasion";
    // @ts-expect-error -- no such field
    defineResource({ name: "book", fields: { title: text() }, sorts: ["titel"] });
    // @ts-expect-error -- no such field
    defineResource({ name: "book", fields: { title: text() }, filters: { titel: ["eq"] } });
    // @ts-expect-error -- no such operator
    defineResource({ name: "book", fields: { title: text() }, filters: { title: ["like"] } });
    // @ts-expect-error -- the default has another type than the field
    integer({ default: "1" });
    // @ts-expect-error -- not one of the words
    enumeration(["a", "b"], { default: "c" });
    // @ts-expect-error -- a scale is needed
    decimal({ maximum: "1" });
    // @ts-expect-error -- no such option
    text({ maximum: 2 });
    // @ts-expect-error -- no such action
    ({ permission: { destroy: null } }) satisfies MountOptions;
    // @ts-expect-error -- a permission is needed
    mount(books, {});
    // @ts-expect-error -- a handler is needed
    defineEndpoint({ method: "GET", path: "/", access: "open" });
    // @ts-expect-error -- a verdict is needed
    ({ name: "a", carriers: [], authenticate: () => true }) satisfies Scheme;
  };

  assert.equal(typeof never, "function");
});
