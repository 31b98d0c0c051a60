import assert from "node:assert/strict";
import { test } from "node:test";
import {
  anyone,
  boolean,
  dateTime,
  decimal,
  defineResource,
  email,
  enumeration,
  integer,
  json,
  mount,
  reference,
  text,
} from "../../src/door/index.ts";
import {
  array,
  date,
  DeclarationError,
  defineField,
  number,
  references,
  standardSchema,
  updatedAt,
  url,
  uuid,
  type Field,
  type Fields,
  type Kind,
  type ResourceDeclaration,
} from "../../src/door/resources.ts";
import { ownService } from "../harness/own-service.ts";

// Nightly on PostgreSQL: declarations are checked before the store opens.

const shop = defineResource({ name: "shop", fields: { name: text() } });

const ownKind: Kind<string> = {
  name: "own",
  parse: (sent) => sent as string,
  parseText: String,
  schema: {},
  column: { type: "text" },
};
const refuse = (): never => {
  throw new TypeError("It is no phone.");
};

/** Returns a declaration with a valid type, so that its mistakes compile as in code without a type checker. */
function loosely(declaration: object): ResourceDeclaration<Fields> {
  return declaration as ResourceDeclaration<Fields>;
}

function collectMistakes(declaration: object): readonly string[] {
  try {
    defineResource(loosely(declaration));
  } catch (error) {
    assert.ok(error instanceof DeclarationError, String(error));
    return error.message.split("\n").slice(1);
  }
  return [];
}

test("reports every mistake of a declaration with its place and its fix", () => {
  const rows: readonly (readonly [declaration: object, mistake: string])[] = [
    [
      { name: "Book", fields: {} },
      'resource Book: the name "Book" must be lower-case words joined by underscores, like order_line',
    ],
    [{ name: "", fields: {} }, 'resource (no name): the name "" must be'],
    [{ name: "order-line", fields: {} }, 'the name "order-line" must be'],
    [
      { name: "book", plural: "all books", fields: {} },
      'the plural "all books" must be lower-case words joined by hyphens or underscores',
    ],
    [{ name: "book", plural: "", fields: {} }, 'the plural "" must be'],
    [
      { name: "book", fields: { unitPrice: text() } },
      "field unitPrice: the name must be lower-case words joined by underscores, like unit_price",
    ],
    [
      { name: "book", fields: { id: integer() } },
      "field id: every record has an id already; leave it out of the fields",
    ],
    [
      { name: "book", within: shop, fields: { shop_id: integer() } },
      "field shop_id: the path contains it already, because the resource is within shops; leave it out",
    ],
    [
      { name: "book", fields: { title: text({ readOnly: true, writeOnly: true }) } },
      "field title: readOnly and writeOnly exclude each other; keep one",
    ],
    [
      { name: "book", fields: { title: text({ transient: true }) } },
      "field title: transient fields are not stored, so they cannot be shown; add writeOnly",
    ],
    [
      { name: "book", fields: { title: text({ default: "a", generated: () => "b" }) } },
      "field title: generated and default exclude each other; keep one",
    ],
    [
      { name: "book", fields: { meta: json({ unique: true }) } },
      "field meta: a JSON value cannot be unique; leave unique out",
    ],
    [
      { name: "book", fields: { title: text({ maxLength: 2, default: "abc" }) } },
      "field title: its own default is 'abc', and that is not valid: At most 2 characters are allowed.",
    ],
    [
      { name: "book", fields: { phone: defineField(ownKind, { default: 5 as never }) } },
      "field phone: its own default is 5, and that is not valid: its column is of type text.",
    ],
    [
      { name: "book", fields: { phone: defineField({ ...ownKind, parse: refuse }, { default: "5" }) } },
      "field phone: its own default is '5', and that is not valid: own cannot read it. TypeError: It is no phone.",
    ],
    [
      { name: "book", fields: { tags: array(text({ maxLength: 2 }), { default: ["abc"] }) } },
      "field tags: its own default is a list, and that is not valid: Some members are not valid. /0: At most 2 characters",
    ],
    [
      { name: "book", fields: { meta: json({ maxLength: 4, default: "long" }) } },
      "field meta: its own default is 'long', and that is not valid: At most 4 characters of JSON are allowed.",
    ],
    [{ name: "book", fields: {}, filters: { title: ["eq"] } }, "filter title: there is no such field; there are none"],
    [{ name: "book", fields: {}, filters: { constructor: ["eq"] } }, "filter constructor: there is no such field"],
    [
      { name: "book", fields: {}, filters: { id: ["contains"] } },
      "filter id: contains needs a text; leave the operator out",
    ],
    [
      { name: "book", fields: {}, filters: { id: ["null"] } },
      "filter id: null needs an optional field; make it one or leave the operator out",
    ],
    [
      { name: "book", fields: { limit: integer() }, filters: { limit: ["lt"] } },
      "filter limit: every list has a parameter of this name; rename the field or leave the filter out",
    ],
    [
      { name: "book", fields: { pin: text({ writeOnly: true }) }, filters: { pin: ["eq"] } },
      "filter pin: a search would reveal a field that is never shown",
    ],
    [
      { name: "book", fields: { meta: json() }, filters: { meta: ["eq"] } },
      "filter meta: a JSON value cannot be filtered by; leave the filter out",
    ],
    [
      { name: "book", fields: { title: text() }, filters: { title: [] } },
      'filter title: no operator is named; name some, like ["eq"], or leave the filter out',
    ],
    [
      { name: "book", fields: { title: text() }, filters: { title: ["like"] } },
      "filter title: there is no operator like; there are eq, ne,",
    ],
    [
      { name: "book", fields: { pages: integer() }, filters: { pages: ["starts"] } },
      "filter pages: starts needs a text; leave the operator out",
    ],
    [
      { name: "book", fields: { lent: boolean() }, filters: { lent: ["lt"] } },
      "filter lent: lt has no meaning for true and false; leave the operator out",
    ],
    [
      { name: "book", fields: { title: text({ maxLength: 9 }) }, sorts: ["titel"] },
      "sort titel: there is no such field; did you mean title?",
    ],
    [{ name: "book", fields: {}, sorts: ["id"] }, "sort id: every list can be sorted by id already; leave it out"],
    [
      { name: "book", fields: { pin: text({ writeOnly: true }) }, sorts: ["pin"] },
      "sort pin: the order would reveal a field that is never shown",
    ],
    [
      { name: "book", fields: { meta: json() }, sorts: ["meta"] },
      "sort meta: a JSON value cannot be sorted by; leave the sort out",
    ],
    [
      { name: "book", fields: { title: text() }, sorts: ["title"] },
      "sort title: the cursor contains the value, and it would make addresses too long; give it a maxLength of 1000 or less",
    ],
  ];

  for (const [declaration, mistake] of rows) {
    const mistakes = collectMistakes(declaration);
    assert.equal(mistakes.length, 1, `${mistake}\n${mistakes.join("\n")}`);
    assert.ok(mistakes[0]!.includes(mistake), `${mistakes[0]} should say: ${mistake}`);
    assert.ok(mistakes[0]!.startsWith("- resource "));
  }
});

test("reports all mistakes of a declaration together", () => {
  const mistakes = collectMistakes({
    name: "Book",
    fields: { Title: text({ transient: true }) },
    filters: { a: ["eq"] },
    sorts: ["b"],
  });

  assert.equal(mistakes.length, 5);
});

test("reports a misspelled or malformed option together with all other mistakes", () => {
  const declaration: object = {
    name: "page",
    fields: { title: text({ maxLength: 100 }), author: text({ minLenght: 1 } as never) },
    filters: { titel: ["eq"] },
    sorts: "title",
    pageSize: { defualt: 5 },
    seach: ["title"],
  };

  assert.deepEqual(collectMistakes(declaration), [
    "- resource page: there is no option seach; did you mean search?",
    "- resource page: sorts is 'title'; it has to be a list of texts",
    "- resource page: pageSize is an object; there is no option defualt; did you mean default?",
    "- resource page: field author: text: there is no option minLenght; did you mean minLength?",
    "- resource page: filter titel: there is no such field; did you mean title?",
  ]);
});

test("reports the mistakes in fields of every kind together, each with the name of its field", () => {
  const fields: Readonly<Record<string, readonly [made: () => Field, told: RegExp]>> = {
    a_text: [() => text({ maxLength: -1 }), /text: maxLength is -1/],
    an_integer: [
      () => integer({ minimum: 2, maximum: 1 }),
      /integer: maximum is 1; it has to be minimum \(2\) or more/,
    ],
    a_number: [() => number({ minimum: "1" as never }), /number: minimum is '1'/],
    a_decimal: [() => decimal({ scale: 7, maximum: "1" }), /decimal: scale is 7; it has to be a whole number from 0/],
    a_large_decimal: [() => decimal({ scale: 2, maximum: "9999999999999999" }), /do not fit/],
    a_small_decimal: [() => decimal({ scale: 0, maximum: "1.5" }), /do not fit/],
    a_boolean: [
      () => boolean({ optonal: true } as never),
      /boolean: there is no option optonal; did you mean optional/,
    ],
    a_time: [() => dateTime({ default: "now" }), /its own default is .*, and that is not valid/],
    a_date: [() => date({ uniqe: true } as never), /date: there is no option uniqe; did you mean unique/],
    a_stamp: [() => updatedAt({ optonal: true } as never), /updatedAt: there is no option optonal; did you mean/],
    a_word: [() => enumeration([], { uniqe: true } as never), /enumeration: it has no words/],
    an_address: [() => email({ uniqe: true } as never), /e-mail: there is no option uniqe/],
    a_link: [() => url({ uniqe: true } as never), /url: there is no option uniqe/],
    a_uuid: [() => uuid({ default: "1" }), /its own default is .*, and that is not valid/],
    a_reference: [() => reference(undefined as never), /reference: its target is missing/],
    its_option: [
      () => reference("pages", { onDelete: "casade" as never }),
      /onDelete is 'casade'.*did you mean cascade/,
    ],
    a_relation: [() => references(null as never, { maxItem: 1 } as never), /references: its target is null/],
    any_json: [() => json({ maxLength: 0 }), /json: maxLength is 0/],
    a_list: [() => array(text(), { maxItem: 1 } as never), /array: there is no option maxItem; did you mean maxItems/],
    its_members: [
      () => array(text({ maxLenght: 1 } as never)),
      /array: its members: text: there is no option maxLenght/,
    ],
    a_schema: [() => standardSchema({} as never), /standard: it is no Standard Schema/],
    a_kind: [() => defineField({ nam: "a" } as never, {}), /its kind: there is no option nam; did you mean name/],
    no_options: [() => defineField({ name: "phone" } as never, undefined as never), /phone: its options are missing/],
    nothing: [() => undefined as never, /it is missing and no field/],
  };
  const made = Object.fromEntries(Object.entries(fields).map(([name, [make]]) => [name, make()]));

  const mistakes = collectMistakes({ name: "page", fields: made });

  for (const [name, [, pattern]] of Object.entries(fields))
    assert.ok(
      mistakes.some((each) => each.startsWith(`- resource page: field ${name}: `) && pattern.test(each)),
      `${name}: ${mistakes.join("\n")}`,
    );
  assert.ok(
    mistakes.includes("- resource page: field a_word: enumeration: there is no option uniqe; did you mean unique?"),
  );
});

test("stops the start for conflicting declarations, and explains why", async (t) => {
  const shelf = defineResource({ name: "shelf", plural: "shelves", within: shop, fields: { name: text() } });
  const lost = defineResource({ name: "note", fields: { about_id: reference("nowhere") } });

  await assert.rejects(
    ownService(t, { mounts: [mount(shelf, { permission: anyone })] }),
    /\/shops\/\{shop_id\}\/shelves is nested in \/shops, which is not mounted; mount shops too/,
  );
  await assert.rejects(
    ownService(t, { mounts: [mount(shop, { permission: { list: anyone } }), mount(shelf, { permission: anyone })] }),
    /which has no permission for read; give shops a permission for read/,
  );
  await assert.rejects(
    ownService(t, { mounts: [mount(shop, { permission: anyone }), mount(shop, { permission: anyone })] }),
    /\/shops is mounted twice in mounts; keep one/,
  );
  await assert.rejects(ownService(t, { mounts: [mount(lost, { permission: anyone })] }), /about_id/);
});
