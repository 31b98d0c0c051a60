// On SQLite alone: the declarations are refused before a table is read.
//
// Rules of fields at each place where a field can be declared.
import assert from "node:assert/strict";
import { test } from "node:test";
import { administrator, anyone, authenticated, dateTime, defineResource, mount, text } from "../../src/door/index.ts";
import { DeclarationError, olderShape } from "../../src/door/resources.ts";

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
