import assert from "node:assert/strict";
import { test } from "node:test";
import type { Permission } from "../../src/door/auth.ts";
import type { Endpoint, Format } from "../../src/door/http.ts";
import {
  administrator,
  allOf,
  anyOf,
  anyone,
  createService,
  defineEndpoint,
  defineResource,
  integer,
  mount,
  owner,
  self,
  text,
  type Scheme,
  type ServiceOptions,
} from "../../src/door/index.ts";
import { DeclarationError, type Mount } from "../../src/door/resources.ts";
import { sqliteStore } from "../../src/door/stores.ts";
import { ownService } from "../harness/own-service.ts";

// Nightly on PostgreSQL: permissions are checked outside of the store.

const books = defineResource({ name: "book", fields: { owner_id: integer(), title: text() } });

async function collectMistakes(options: Partial<ServiceOptions>): Promise<readonly string[]> {
  const error: unknown = await createService({ store: sqliteStore({ path: ":memory:" }), ...options }).then(
    (service) => service.close(),
    (thrown: unknown) => thrown,
  );
  return error instanceof DeclarationError ? error.mistakes : [];
}

test("refuses to start if an endpoint, which has no rows, has a permission that narrows to rows", async () => {
  const destroy = (access: Permission, action?: Endpoint["action"]): Endpoint =>
    defineEndpoint({
      method: "POST",
      path: "/books/{id}/destroy",
      access,
      ...(action === undefined ? {} : { action }),
      handle: () => ({ status: 204 }),
    });
  const narrowing = [
    owner("owner_id"),
    anyOf(administrator, owner("owner_id")),
    allOf(anyone, anyOf(owner("owner_id"), administrator)),
  ];

  for (const access of narrowing) {
    // The cast lets the mistake compile, as in code without a type checker.
    const [mistake, ...more] = await collectMistakes({
      endpoints: [destroy(access as Permission<string> as Permission)],
    });
    assert.match(
      mistake!,
      /^endpoints\[0\] \(POST \/books\/\{id\}\/destroy\): the permission .*owner.* narrows to rows/,
    );
    assert.match(mistake!, /mount the resource, or use a permission that says "allow" or "deny"$/);
    assert.deepEqual(more, []);
  }
  assert.equal((await collectMistakes({ endpoints: [destroy(self(), "list")] })).length, 1);
  assert.deepEqual(await collectMistakes({ endpoints: [destroy(self())] }), []);
  assert.deepEqual(await collectMistakes({ mounts: [mount(books, { permission: owner("owner_id") })] }), []);
});

test("answers 500 and reports a fault if a permission returns an invalid decision, and calls no handler", async (t) => {
  let give = (): unknown => null;
  let ran = 0;
  const permission: Permission = { name: "own", decide: () => give() as "allow" };
  const endpoint = (method: Endpoint["method"]): Endpoint =>
    defineEndpoint({ method, path: "/own", access: permission, handle: () => (ran++, { status: 204 }) });
  const { ask, observed } = await ownService(t, {
    endpoints: [endpoint("GET"), endpoint("POST")],
    mounts: [
      mount(books, { permission: { ...permission, name: "rows" } }),
      mount(defineResource({ name: "page", within: books, fields: { body: text() } }), { permission: anyone }),
    ],
  });
  give = () => "allow";
  const book = { owner_id: 2, title: "Flatland" };
  assert.equal((await ask("POST", "/books", { as: "ada", body: book })).status, 201);
  assert.equal((await ask("POST", "/books/1/pages", { as: "ada", body: { body: "1" } })).status, 201);
  ran = 0;
  const column = "owner_id";
  const everywhere: readonly (() => unknown)[] = [
    () => undefined,
    () => null,
    () => true,
    () => false,
    () => ({}),
    () => "yes",
    () => Promise.resolve("allow"),
    () => Promise.reject(new Error("late")),
    () => ({ only: { column, operator: "ne", value: undefined } }),
    () => ({ only: { column: "ownr_id", operator: "null", value: true } }),
  ];
  const calls: readonly (readonly [method: string, path: string, body?: object])[] = [
    ["GET", "/own"],
    ["HEAD", "/own"],
    ["POST", "/own"],
    ["GET", "/books"],
    ["POST", "/books", book],
    ["GET", "/books/1"],
    ["PUT", "/books/1", book],
    ["PUT", "/books/9", book],
    ["PATCH", "/books/1", { title: "x" }],
    ["DELETE", "/books/1"],
    ["GET", "/books/1/pages"],
    ["GET", "/books/1/pages/1"],
    ["POST", "/books/1/pages", { body: "2" }],
    ["PATCH", "/books/1/pages/1", { body: "x" }],
    ["DELETE", "/books/1/pages/1"],
  ];

  for (give of everywhere) {
    for (const [method, path, body] of calls) {
      const before = observed.filter(({ kind }) => kind === "fault").length;
      const answer = await ask(method, path, { as: "ada", ...(body === undefined ? {} : { body }) });
      assert.equal(answer.status, 500, `${method} ${path}`);
      assert.equal(observed.filter(({ kind }) => kind === "fault").length, before + 1);
    }
  }
  give = () => ({ only: { column, operator: "eq", value: 2 } });
  assert.equal((await ask("POST", "/own", { as: "ada" })).status, 500);
  assert.equal(ran, 0);
  assert.equal((await ask("GET", "/books", { as: "ada" })).text, '[{"id":1,"owner_id":2,"title":"Flatland"}]');
  assert.equal((await ask("GET", "/books/1/pages", { as: "ada" })).text, '[{"id":1,"body":"1"}]');
});

test("reports all mistakes in the mounts, endpoints, schemes and formats of a service together", async () => {
  const handle = (): { status: number } => ({ status: 204 });
  const authenticate = (): never => {
    throw new Error();
  };
  const wrong = {
    mounts: [books, 7, { resource: books, permissions: { reed: anyone, read: "anyone" }, collection: {} }],
    endpoints: [
      { method: "post", path: "own", access: anyone, handle },
      { method: "GET", path: "/a", acces: anyone, handle },
      { method: "GET", path: "/b", access: () => "allow", handle },
      { method: "GET", path: "/c", access: { decide: () => "allow" }, handle: "handle", rows: {} },
      { method: "GET", path: "/d", access: anyone, consumes: "application/json", handle },
      null,
    ],
    schemes: [
      { name: "Badge", carriers: [], authenticate },
      { name: "badge", carriers: [{ in: "body", name: "key" }] },
      { name: "gate", carriers: [{ in: "header", name: "X Gate" }], authenticate, challenge: "Gate" },
    ],
    formats: { mediaType: "text/csv" },
  } as unknown as { mounts: Mount[]; endpoints: Endpoint[]; schemes: Scheme[]; formats: Format[] };

  const problems = await collectMistakes(wrong);

  assert.deepEqual(
    problems.map((each) => each.replace(/;.*/, "")),
    [
      "mounts[0] (book): it is a resource without a permission",
      "mounts[1] is 7, not an object",
      "mounts[2] (/books): permission.reed is not an action",
      "mounts[2] (/books): permission.read is 'anyone'",
      "endpoints[0] (post own): method is 'post'",
      "endpoints[0] (post own): path is 'own'",
      "endpoints[1] (GET /a): there is no option acces",
      "endpoints[1] (GET /a): access is missing",
      "endpoints[2] (GET /b): access is a function",
      "endpoints[3] (GET /c): there is no option rows",
      "endpoints[3] (GET /c): access is an object",
      "endpoints[3] (GET /c): handle is a text",
      "endpoints[4] (GET /d): consumes is 'application/json'",
      "endpoints[5] is null, not an object",
      "schemes[0] (Badge): name is 'Badge'",
      "schemes[0] (Badge): carriers is a list",
      "schemes[1] (badge): authenticate is missing",
      "schemes[1] (badge): carriers is a list",
      "schemes[2] (gate): challenge is a text",
      "schemes[2] (gate): carriers is a list",
      "formats is an object",
    ],
  );
});

test("refuses to mount a resource with wrong options", () => {
  const rows: readonly (readonly [options: unknown, told: RegExp])[] = [
    [undefined, /it has no permission/],
    [{}, /permission is missing/],
    [{ permission: "anyone" }, /permission is 'anyone'/],
    [{ permission: () => "allow" }, /permission is a function/],
    [{ permission: { name: "late", decide: "allow" } }, /permission is an object/],
    [{ permission: { reed: anyone } }, /permission\.reed is not an action; did you mean read\?/],
    [{ permission: { read: owner } }, /permission\.read is a function/],
    [{ permission: anyone, requireIfmatch: true }, /there is no option requireIfmatch; did you mean requireIfMatch\?/],
    [{ permission: anyone, cache: "private" }, /cache is 'private'/],
    [{ permission: anyone, beforeWrite: {} }, /beforeWrite is an object/],
  ];

  for (const [options, pattern] of rows) {
    assert.throws(
      () => mount(books, options as never),
      (error) =>
        error instanceof DeclarationError && pattern.test(error.message) && /mount\(\/books\)/.test(error.message),
    );
  }
  assert.throws(() => mount({ name: "book" } as never, { permission: anyone }), /declare one with defineResource/);
});
