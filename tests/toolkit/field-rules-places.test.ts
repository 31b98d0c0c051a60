// On SQLite alone: the declarations are refused before a table is read.
//
// Rules of fields at each place where a field can be declared.
import assert from "node:assert/strict";
import { test } from "node:test";
import { documentation } from "../../src/door/features.ts";
import { administrator, anyone, authenticated, dateTime, defineResource, mount, text } from "../../src/door/index.ts";
import { DeclarationError, defineField, olderShape } from "../../src/door/resources.ts";
import { ownService } from "../harness/own-service.ts";

// Nightly on PostgreSQL: declarations are checked before the store opens.

function refuses(declare: () => unknown, message: RegExp): void {
  assert.throws(declare, (error) => {
    assert.ok(error instanceof DeclarationError, String(error));
    assert.match(error.message, message);
    return true;
  });
}

const book = defineResource({ name: "book", fields: { title: text() } });
const optional = { optional: true } as const;
const rules = [{ read: administrator }, { write: administrator }] as const;

test("refuses each rule in the body and in the answer of an action, and accepts a record as the answer", () => {
  const act = (action: object) => mount(book, { permission: anyone, actions: { lend: action as never } });
  for (const rule of rules) {
    const field = text({ ...optional, ...rule });
    refuses(
      () => act({ permission: anyone, body: { to: field }, handle: () => undefined }),
      /action lend: body: field to: [^]*leave read and write out/,
    );
    refuses(
      () => act({ permission: anyone, answer: { to: field }, handle: () => ({ answer: { to: "x" } }) }),
      /action lend: answer: field to: [^]*leave read and write out/,
    );
  }
  assert.ok(act({ permission: anyone, answer: "record", handle: () => undefined }));
});

test("refuses each rule in an older shape, and a field there that is none", () => {
  const books = mount(book, { permission: anyone });
  const older = (as: unknown) =>
    olderShape(books, {
      prefix: "/v1",
      fields: { name: { from: "title", as: as as never, show: String, read: String } },
    });
  for (const rule of rules)
    refuses(() => older(text({ ...optional, ...rule })), /read and write of the newer field hold here too/);
  refuses(() => older("text"), /field name: as is a text; it is .text. and no field/);
  assert.ok(older(text()));
});

test("refuses a rule for sending a generated field, and accepts one for reading it", () => {
  const generated = ({ now }: { readonly now: number }): string => new Date(now).toISOString();
  const made = (rule: object) =>
    defineResource({ name: "stamp", fields: { at: dateTime({ generated, ...rule }) as never } });
  refuses(() => made({ write: administrator }), /field at: no caller sends this field[^]*leave write out/);
  assert.ok(made({ read: administrator }));
});

test("asks for a creator who may send a required field only where a record can be created", () => {
  const ruled = defineResource({ name: "book", fields: { title: text({ write: administrator }) } });
  assert.ok(mount(ruled, { permission: { list: anyone, replace: anyone, update: anyone } }));
  assert.ok(mount(ruled, { permission: { list: anyone, create: administrator, replace: anyone } }));
  refuses(() => mount(ruled, { permission: { create: authenticated, replace: administrator } }), /create a record/);
  assert.ok(mount(book, { permission: anyone, cache: "public" }), "without rules, a response may be public");
});

test("describes in OpenAPI for whom a field is missing or read-only, and requires it in no record", async (t) => {
  const fields = {
    title: text(),
    same: text({ ...optional, read: administrator, write: administrator }),
    read: text({ ...optional, read: administrator }),
    sent: text({ ...optional, write: administrator }),
    both: text({ ...optional, read: authenticated, write: administrator }),
    pin: text({ ...optional, writeOnly: true, write: administrator }),
  };
  const books = mount(defineResource({ name: "book", fields }), { permission: anyone });
  const { get } = await ownService(t, { mounts: [books], features: [documentation({ title: "Books", version: "1" })] });

  const { schemas } = (await get("/openapi.json")).json.components;

  const described = (schema: string) =>
    Object.fromEntries(
      Object.keys(fields).map((name) => [name, schemas[schema].properties[name]?.description ?? null]),
    );
  const [only, missing, unsent] = [
    "Only for callers whom this permission allows: administrator.",
    "Missing for callers who may not read it (administrator).",
    "Read-only for callers who may not send it (administrator).",
  ];
  const both = `Missing for callers who may not read it (authenticated). ${unsent}`;
  assert.deepEqual(described("Book"), { title: null, same: only, read: missing, sent: unsent, both, pin: null });
  assert.equal(described("BookDraft").pin, only);
  assert.deepEqual(schemas.Book.required.toSorted(), ["id", "sent", "title"]);
});

test("checks an option of a kind of your own, although it is named like a rule", () => {
  const kind = {
    name: "hidden-text",
    parse: String,
    parseText: String,
    schema: { type: "string" },
    column: { type: "text" },
    options: { visible: (value: unknown) => (value === true ? null : "it has to be true") },
  } as const;
  const declare = (options: object) =>
    defineResource({ name: "book", fields: { title: defineField(kind as never, options as never) } });

  assert.ok(declare({ visible: true }));
  refuses(() => declare({ visible: 7 }), /visible is 7; it has to be true/);
  refuses(() => declare({ visible: true, optional: 7 }), /optional is 7; it has to be true or false/);
  assert.throws(
    () => declare({ visible: true, access: 7 }),
    (error) => {
      assert.ok(error instanceof DeclarationError);
      assert.deepEqual(error.mistakes, [
        "resource book: field title: hidden-text: there is no option access; read and write take the permissions of a field",
      ]);
      return true;
    },
  );
});
