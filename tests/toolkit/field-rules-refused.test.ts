// On SQLite alone: the start refuses before it reads a table.
//
// Rules of fields that cannot hold: the declaration or the start of the service refuses them, with place and fix.
import assert from "node:assert/strict";
import { test } from "node:test";
import { hasRole } from "../../src/door/auth.ts";
import {
  accounts,
  administrator,
  allOf,
  anyOf,
  anyone,
  authenticated,
  createService,
  defineResource,
  mount,
  owner,
  self,
  text,
  type Feature,
} from "../../src/door/index.ts";
import { DeclarationError, olderShape } from "../../src/door/resources.ts";
import { sqliteStore } from "../../src/door/stores.ts";

function refuses(declare: () => unknown, message: RegExp): void {
  assert.throws(declare, (error) => {
    assert.ok(error instanceof DeclarationError, String(error));
    assert.match(error.message, message);
    return true;
  });
}

const bookWith = (options: object) => defineResource({ name: "book", fields: { title: text(options as never) } });

test("refuses a rule that is no permission for the caller alone", () => {
  // @ts-expect-error -- the permission narrows to rows by a column
  text({ read: owner("owner_id") });
  refuses(() => bookWith({ read: owner("owner_id") }), /field title: text: read is [^]*owner narrows to rows/);
  refuses(() => bookWith({ write: self() }), /field title: text: write is [^]*self narrows to rows/);
  refuses(() => bookWith({ read: "admin" }), /read is a text; it has to be a permission, like administrator/);
  for (const rule of [null, 7, {}, { name: "mine" }, { decide: () => "allow" }])
    refuses(() => bookWith({ read: rule }), /title: text: read is [^]*it has to be a permission, like administrator/);
  refuses(() => bookWith({ uniqe: true }), /there is no option uniqe; did you mean unique/);
  for (const name of ["readableBy", "writableBy", "visible", "canRead", "permission", "access"])
    refuses(
      () => bookWith({ [name]: administrator }),
      new RegExp(`there is no option ${name}; read and write take the permissions of a field`),
    );
});

test("refuses rules that say nothing, or that a write would reveal", () => {
  refuses(() => bookWith({ unique: true, read: administrator }), /read and write have to be the same permission/);
  refuses(() => bookWith({ unique: true, write: administrator }), /read and write have to be the same permission/);
  assert.ok(bookWith({ unique: true, optional: true, read: administrator, write: administrator }));
  refuses(() => bookWith({ optional: true, readOnly: true, write: administrator }), /leave write out/);
  refuses(() => bookWith({ optional: true, writeOnly: true, read: administrator }), /leave read out/);
});

test("refuses a required field that some creators may not send", () => {
  const book = bookWith({ write: administrator });
  refuses(
    () => mount(book, { permission: anyone }),
    /mount\(\/books\): field title: it is required, but not every caller who may create a record may send it \(write: administrator\)/,
  );
  refuses(() => mount(book, { permission: { create: anyOf(administrator, authenticated) } }), /it is required/);
  assert.ok(mount(book, { permission: { list: anyone, create: administrator } }));
  assert.ok(mount(book, { permission: { list: anyone, create: allOf(authenticated, administrator) } }));
  assert.ok(mount(book, { permission: { list: anyone, update: anyone } }), "no caller creates a record");
  assert.ok(mount(bookWith({ write: anyOf(administrator, authenticated) }), { permission: authenticated }));
});

test("refuses rules where their field is not the field of a record", () => {
  const optional = { optional: true, read: administrator } as const;
  refuses(
    () => mount(bookWith(optional), { permission: anyone, cache: "public" }),
    /cache is "public", but the fields have rules \(administrator\)/,
  );
  refuses(
    () =>
      mount(bookWith({}), {
        permission: anyone,
        actions: { lend: { permission: anyone, body: { to: text(optional) }, handle: () => undefined } },
      }),
    /action lend: body: field to: [^]*leave read and write out/,
  );
  const books = mount(bookWith({}), { permission: anyone });
  const fields = { name: { from: "title", as: text(optional), show: String } } as const;
  refuses(() => olderShape(books, { prefix: "/v1", fields }), /read and write of the newer field hold here too/);
});

async function start(fields: Readonly<Record<string, unknown>>, features: readonly Feature[] = []): Promise<void> {
  const store = sqliteStore({ path: ":memory:" });
  const book = defineResource({ name: "book", fields: fields as never });
  const service = await createService({ store, mounts: [mount(book, { permission: anyone })], features });
  await service.close();
}

test("refuses to start with a role that nobody declared, and with more than twelve rules", async () => {
  const rule = (name: string) => text({ optional: true, read: hasRole(name) });
  const people = accounts({ roles: ["user", "hr", "admin"] });
  await assert.rejects(
    start({ pay: rule("hrr") }, [people]),
    /mount\(\/books\): the permission role hrr requires the role hrr[^]*did you mean hr/,
  );
  await start({ pay: rule("hr") }, [accounts({ roles: ["user", "hr", "admin"] })]);
  const many = (count: number) => Object.fromEntries([...Array(count)].map((_, at) => [`f${at}`, rule(`r${at}`)]));
  await start(many(12));
  await assert.rejects(start(many(13)), /13 different rules[^]*at most 12 are allowed/);
  refuses(() => hasRole("" as never), /hasRole: it names '', and that is no role/);
});

test("takes hasRole of the same roles as one rule, wherever it is written", async () => {
  const coded = text({ optional: true, unique: true, read: hasRole("hr"), write: hasRole("hr") });
  await start({ code: coded }, [accounts({ roles: ["user", "hr", "admin"] })]);
  const fields = [...Array(13)].map((_, at) => [`f${at}`, text({ optional: true, read: hasRole("hr", "admin") })]);
  await start(Object.fromEntries(fields) as Readonly<Record<string, unknown>>);
  assert.notEqual(hasRole("hr"), hasRole("hr", "admin"));
});

test("names a computed field that may show a hidden value, when the service starts", async () => {
  const messages: string[] = [];
  const pay = { pay: text({ optional: true, read: administrator }) };
  const store = sqliteStore({ path: ":memory:" });
  const person = defineResource({
    name: "person",
    fields: pay,
    computed: {
      doubled: { as: text({ optional: true }), from: (record) => record.pay },
      shown: { as: text({ optional: true }), sql: '"pay"' },
      secret: { as: text({ optional: true, read: administrator }), from: (record) => record.pay },
      other: { as: text(), from: () => "x" },
    },
  });
  const service = await createService({
    store,
    mounts: [mount(person, { permission: anyone })],
    observe: (each) => void ("message" in each && messages.push(each.message)),
  });
  await service.close();
  const about = messages.filter((message) => message.includes("is computed from"));
  assert.deepEqual(
    about.map((message) => message.split(",", 1)[0]),
    ["/persons: doubled is computed from pay", "/persons: shown is computed from pay"],
  );
});
