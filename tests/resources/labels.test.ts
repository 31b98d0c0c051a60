import assert from "node:assert/strict";
import { test } from "node:test";
import { documentation } from "../../src/door/features.ts";
import {
  anyone,
  dateTime,
  defineResource,
  enumeration,
  integer,
  json,
  mount,
  reference,
  text,
} from "../../src/door/index.ts";
import { DeclarationError, jsonSchema, olderShape, references, standardSchema } from "../../src/door/resources.ts";
import { ownService } from "../harness/own-service.ts";

const loan = defineResource({
  name: "loan",
  fields: {
    due_at: dateTime({ label: "Due", description: "The last day." }),
    state: enumeration(["in_work", "done", "lost"], {
      label: "State",
      labels: { in_work: "In work", done: "Done" },
      default: "in_work",
    }),
    size: standardSchema(jsonSchema({ type: "string", enum: ["small", "large"] }), { default: "small" }),
    book_id: reference("books", { label: "Book", optional: true }),
  },
  computed: { days: { as: integer({ label: "Days" }), from: () => 1 } },
  label: { one: "Loan", many: "Loans" },
  labelField: "book_id",
  description: "A book that somebody has at home.",
});
const books = mount(defineResource({ name: "book", fields: { title: text() } }), { permission: anyone });
const loans = mount(loan, { permission: anyone });
const older = olderShape(loans, {
  prefix: "/v1",
  fields: { until: "due_at", work_id: "book_id" },
  defaults: { state: "done" },
});

test("gives the words of fields, enumerations and resources to OpenAPI, as titles and descriptions", async (t) => {
  const { get } = await ownService(t, {
    mounts: [books, loans, older],
    features: [documentation({ title: "Library", version: "1" })],
  });

  const { schemas } = (await get("/openapi.json")).json.components;

  const { properties } = schemas.Loan;
  assert.deepEqual([schemas.Loan.title, schemas.Loan.description], ["Loan", "A book that somebody has at home."]);
  assert.deepEqual([properties.due_at.title, properties.due_at.description], ["Due", "The last day."]);
  assert.deepEqual(
    [properties.state.title, properties.state.description],
    ["State", "`in_work`: In work; `done`: Done."],
  );
  assert.deepEqual(properties.state.enum, ["in_work", "done", "lost"]);
  assert.equal("description" in properties.size, false);
  assert.deepEqual([properties.book_id.title, properties.days.title], ["Book", "Days"]);
  assert.deepEqual(
    [schemas.LoanDraft.properties.due_at.title, schemas.LoanPatch.properties.state.title],
    ["Due", "State"],
  );
  assert.equal("title" in schemas.Book, false);
  assert.deepEqual(
    Object.keys(schemas.Book.properties.title).filter((key) => /title|description/.test(key)),
    [],
  );
  assert.equal(older.resource.labelField, "work_id");
});

test("changes no stored rule of a field by a label, so a start migrates nothing", () => {
  const plain = mount(defineResource({ name: "loan", fields: { state: enumeration(["open", "done"]) } }), {
    permission: anyone,
  });
  const labeled = mount(
    defineResource({
      name: "loan",
      fields: { state: enumeration(["open", "done"], { label: "State", labels: { open: "Open" } }) },
    }),
    { permission: anyone },
  );

  assert.equal(JSON.stringify(labeled.collection), JSON.stringify(plain.collection));
});

test("takes the words that every JavaScript object has as members, with and without a label and a tone", () => {
  for (const word of Object.getOwnPropertyNames(Object.prototype)) {
    const declare = (labels: object, tones: object) => {
      const state = enumeration(["open", word], { labels, tones } as { labels: { open: string } });
      return defineResource({ name: "loan", fields: { state } }).fields.state.kind;
    };
    const plain = declare({ open: "Open" }, { open: "good" });
    const named = declare(Object.fromEntries([[word, "Word"]]), Object.fromEntries([[word, "bad"]]));

    assert.deepEqual([plain.label?.(word), plain.tone?.(word), plain.label?.("open")], [null, null, "Open"], word);
    assert.deepEqual([named.label?.(word), named.tone?.(word), named.label?.("open")], ["Word", "bad", null], word);
    assert.throws(() => declare(Object.fromEntries([[word, 7]]), {}), /it has to be a text, like "Due at"/, word);
  }
});

test("refuses words that no page can show, with their place and the fix", () => {
  const declare = (more: object, options: object = {}, labels: object = {}): void => {
    defineResource({
      name: "loan",
      fields: {
        due_at: dateTime(options as { label: "Due" }),
        state: enumeration(["in_work"], { labels: labels as { in_work: "In work" } }),
        secret: text({ writeOnly: true }),
        meta: json(),
        tags: references("tags"),
      },
      ...more,
    });
  };
  const long = "x".repeat(61);
  const short = `it has 61 characters; shorten it to at most 60`;
  const rows: readonly (readonly [make: () => void, message: RegExp])[] = [
    [() => declare({}, { label: long }), new RegExp(`^resource loan: field due_at: date-time: label is .*; ${short}$`)],
    [
      () => declare({}, { label: "" }),
      /field due_at: date-time: label is ''; it has to be a word, without white space/,
    ],
    [
      () => declare({}, { label: " Due" }),
      /field due_at: date-time: label is ' Due'; it has to be a word, without white space/,
    ],
    [() => declare({}, { label: "\ud800" }), /field due_at: date-time: label is .*; it has to be one line/],
    [() => declare({}, { label: "Due\nat" }), /field due_at: date-time: label is .*; it has to be one line/],
    [() => declare({}, { label: 7 }), /field due_at: date-time: label is 7; it has to be a text, like "Due at"/],
    [
      () => declare({}, {}, { in_work: long }),
      new RegExp(`field state: enumeration: labels is .*in_work is .*${short}`),
    ],
    [
      () => declare({}, {}, { in_wrok: "In work" }),
      /field state: enumeration: labels is .*there is no option in_wrok; did you mean in_work\?/,
    ],
    [
      () => declare({ label: "Loan" }),
      /^resource loan: label is a text; it has to be \{ one: "Loan", many: "Loans" \}$/,
    ],
    [
      () => declare({ label: { one: "Loan" } }),
      /resource loan: label is an object; many is missing; it has to be a text/,
    ],
    [
      () => declare({ label: { one: long, many: "Loans" } }),
      new RegExp(`resource loan: label is an object; one is .*${short}`),
    ],
    [() => declare({ labelField: "due" }), /^resource loan: labelField: there is no field due; did you mean due_at\?$/],
    [
      () => declare({ labelField: "secret" }),
      /labelField: secret is never shown, so it cannot name a record; name another field$/,
    ],
    [
      () => declare({ labelField: "meta" }),
      /labelField: meta has no short value that names a record; name another field$/,
    ],
    [
      () => declare({ computed: { whole: { as: json(), from: () => 1 } }, labelField: "whole" }),
      /^resource loan: labelField: whole has no short value that names a record; name another field$/,
    ],
    [() => declare({ fields: { title: 7 }, labelField: "title" }), /^resource loan: field title/],
    [
      () => declare({ labelField: "tags" }),
      /labelField: tags has no short value that names a record; name another field$/,
    ],
  ];

  for (const [make, message] of rows)
    assert.throws(make, (error) => {
      assert.ok(error instanceof DeclarationError);
      assert.match(error.mistakes.join("\n"), message);
      return true;
    });
  declare(
    { label: { one: "Loan", many: "Loans" }, labelField: "state" },
    { label: "é".repeat(60) },
    { in_work: "In work" },
  );
});

// The compiler reports names that a declaration does not have.
const fields = { title: text(), code: text() };
export const declared = [
  () => defineResource({ name: "book", fields, labelField: "title", label: { one: "Book", many: "Books" } }),
  () =>
    defineResource({
      name: "book",
      fields,
      computed: { whole: { as: text(), from: ({ title, code }) => title + code } },
      labelField: "whole",
    }),
  // @ts-expect-error -- there is no field of this name
  () => defineResource({ name: "book", fields, labelField: "titel" }),
  // @ts-expect-error -- the word for several records is missing
  () => defineResource({ name: "book", fields, label: { one: "Book" } }),
  // @ts-expect-error -- there is no option of this name
  () => text({ lable: "Title" }),
  // @ts-expect-error -- the enumeration has no such word
  () => enumeration(["open"], { labels: { opne: "Open" } }),
  // @ts-expect-error -- the enumeration has no such word
  () => enumeration(["open", "paid"], { labels: { opne: "Open", paid: "Paid" } }),
  // @ts-expect-error -- the enumeration has no such word
  () => enumeration(["open", "paid"], { tones: { piad: "good", open: "warn" } }),
  () => enumeration(["open", "paid"], { labels: { open: "Open", paid: "Paid" }, tones: { open: "warn" } }),
];
