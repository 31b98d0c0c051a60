import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { findOtherCopy } from "../../src/core/copy.ts";
import * as auth from "../../src/door/auth.ts";
import type * as features from "../../src/door/features.ts";
import * as http from "../../src/door/http.ts";
import * as latchkey from "../../src/door/index.ts";
import type * as ops from "../../src/door/ops.ts";
import * as resources from "../../src/door/resources.ts";
import * as stores from "../../src/door/stores.ts";
import { command } from "../harness/command.ts";
import { ownService } from "../harness/own-service.ts";
import { makeSecondCopy } from "../harness/second-copy.ts";

const copy = makeSecondCopy();
after(() => copy[Symbol.dispose]());

async function load(door: string): Promise<unknown> {
  return import(pathToFileURL(copy.resolveModule(`door/${door}`)).href);
}

// The compiler treats the types of both copies as the same.
const other = (await load("index")) as typeof latchkey;
const others = {
  auth: (await load("auth")) as typeof auth,
  features: (await load("features")) as typeof features,
  http: (await load("http")) as typeof http,
  ops: (await load("ops")) as typeof ops,
  resources: (await load("resources")) as typeof resources,
  stores: (await load("stores")) as typeof stores,
};

const { accounts, anyone, createService, defineEndpoint, defineFeature, defineResource, mount, text } = latchkey;
const book = defineResource({ name: "book", fields: { title: text({ maxLength: 5 }) } });
const theirBook = other.defineResource({ name: "book", fields: { title: other.text({ maxLength: 5 }) } });
const theirMembership = other.defineResource({
  name: "membership",
  fields: { user_id: other.reference("users"), book_id: other.reference(theirBook) },
});
const key = "a secret of more than 32 characters";
const secret = new latchkey.Secret(key);
const people = accounts();
// On SQLite alone: these services are refused before they open their store.
const store = (): stores.Store => stores.sqliteStore({ path: ":memory:" });
const handle = (): { status: number } => ({ status: 204 });
const withParts = (parts: object): Partial<latchkey.ServiceOptions> => ({
  features: [defineFeature({ name: "own", setUp: () => ({ offer: null, ...parts }) })],
});

async function collectMistakes(options: () => Partial<latchkey.ServiceOptions>): Promise<readonly string[]> {
  try {
    await (await createService({ store: store(), secret, ...options() })).close();
    return [];
  } catch (error) {
    assert.ok(error instanceof resources.DeclarationError, String(error));
    return error.mistakes;
  }
}

const declarations: Readonly<Record<string, () => Partial<latchkey.ServiceOptions>>> = {
  "a mount": () => ({ mounts: [other.mount(theirBook, { permission: other.anyone })] }),
  "a resource": () => ({ mounts: [mount(theirBook, { permission: anyone })] }),
  "a field": () => ({
    mounts: [mount(defineResource({ name: "book", fields: { title: other.text() } }), { permission: anyone })],
  }),
  "a member of a list": () => ({
    mounts: [
      mount(defineResource({ name: "book", fields: { tags: resources.array(other.text()) } }), { permission: anyone }),
    ],
  }),
  "a field with a mistake": () => ({
    mounts: [
      mount(defineResource({ name: "book", fields: { title: other.text({ maxLength: -1 }) } }), { permission: anyone }),
    ],
  }),
  "the parent of a resource": () => ({
    mounts: [
      mount(defineResource({ name: "page", within: theirBook, fields: { body: text() } }), { permission: anyone }),
    ],
  }),
  "the resource of an older shape": () => ({
    mounts: [
      resources.olderShape(other.mount(theirBook, { permission: other.anyone }), {
        prefix: "/v1",
        fields: { title: "title" },
      }),
    ],
  }),
  "a field of an action": () => ({
    mounts: [
      mount(book, {
        permission: anyone,
        actions: { lend: { permission: anyone, body: { to: other.text() }, handle: () => undefined } },
      }),
    ],
  }),
  "a permission": () => ({ mounts: [mount(book, { permission: other.anyone })] }),
  "the permission of an action": () => ({
    mounts: [
      mount(book, {
        permission: anyone,
        actions: { lend: { permission: other.authenticated, handle: () => undefined } },
      }),
    ],
  }),
  "a part of a permission": () => ({
    mounts: [mount(book, { permission: latchkey.anyOf(latchkey.administrator, other.owner("id")) })],
  }),
  "a permission that is negated": () => ({ mounts: [mount(book, { permission: latchkey.not(other.anyone) })] }),
  "the memberships of memberOf": () => ({
    mounts: [mount(book, { permission: auth.memberOf(theirMembership, { on: "id" }) })],
  }),
  "the memberships of sharesGroup": () => ({
    features: [accounts({ permissions: { list: auth.sharesGroup(theirMembership) } })],
  }),
  "an endpoint": () => ({ endpoints: [other.defineEndpoint({ method: "GET", path: "/x", access: anyone, handle })] }),
  "a problem of an endpoint": () => ({
    endpoints: [
      defineEndpoint({
        method: "GET",
        path: "/x",
        access: anyone,
        documentation: {
          summary: "x",
          tag: "x",
          responses: {},
          problems: [other.defineProblem({ code: "own", status: 409, title: "t", detail: "d", why: "w", cure: "c" })],
        },
        handle,
      }),
    ],
  }),
  "a feature": () => ({ features: [other.accounts()] }),
  "a feature that another feature needs": () => ({ features: [latchkey.sessionLogin(other.accounts())] }),
  "a feature that a mount needs": () => ({ mounts: [mount(book, { permission: anyone, needs: [other.accounts()] })] }),
  "a part of a feature": () => withParts({ mounts: [other.mount(theirBook, { permission: other.anyone })] }),
  "an error of a feature": () => ({
    features: [
      defineFeature({
        name: "own",
        setUp: () => {
          throw new others.resources.DeclarationError(["it is wrong"]);
        },
      }),
    ],
  }),
  "a scheme": () => ({
    schemes: [others.auth.customHeader({ token: new other.Secret(key), account })],
  }),
  "the secret of a scheme": () => ({
    schemes: [auth.customHeader({ token: new other.Secret(key), account })],
  }),
  "a format": () => ({ formats: [others.http.csv()] }),
  "a store": () => ({ store: others.stores.sqliteStore({ path: ":memory:" }) }),
  "a secret": () => ({ secret: new other.Secret(key) }),
  "a throttle": () => ({ throttle: others.auth.loginThrottle({ store: store() }) }),
};

const account = (): null => null;

for (const [what, options] of Object.entries(declarations))
  test(`refuses ${what} from another copy of the package, and names the folders of both copies`, async () => {
    const mistakes = await collectMistakes(options);

    assert.equal(mistakes.length, 1, mistakes.join("\n"));
    assert.ok(mistakes[0]!.includes(`another copy of the package made it: 0.0.1 in ${copy.place}.`), mistakes.join());
    assert.match(mistakes[0]!, /This one is \d+\.\d+\.\d+ in .+\. Use only one copy: npm ls latchkey/);
  });

test("refuses memberships from another copy where the permission is declared", () => {
  for (const [name, declare] of Object.entries({
    memberOf: () => auth.memberOf(theirMembership),
    sharesGroup: () => auth.sharesGroup(theirMembership),
  }))
    assert.throws(declare, ({ message }: Error) =>
      message.includes(`${name}: the memberships: another copy of the package made it`),
    );
});

test("accepts declarations of its own copy while another copy is in the process", async () => {
  const theirs = await other.createService({
    store: others.stores.sqliteStore({ path: ":memory:" }),
    mounts: [other.mount(theirBook, { permission: other.anyone })],
  });

  assert.deepEqual(
    await collectMistakes(() => ({
      features: [people, latchkey.sessionLogin(people)],
      mounts: [mount(book, { permission: latchkey.anyOf(latchkey.owner("id"), latchkey.administrator) })],
      formats: [http.csv()],
    })),
    [],
  );
  await assert.rejects(latchkey.listen(theirs, { port: 0 }), /the service: another copy of the package made it/);
  await theirs.close();
});

test("reports a fault and stores nothing if a kind returns a `Flaw` of another copy", async (t) => {
  const parse = (value: unknown): string | resources.Flaw =>
    value === "good" ? value : new others.resources.Flaw("invalid", "It is not good.");
  const kind: resources.Kind<string> = {
    name: "own",
    parse,
    parseText: parse,
    schema: {},
    column: { type: "json" },
  };
  const own = defineResource({ name: "own", fields: { value: resources.defineField(kind, {}) } });
  const { ask, observed } = await ownService(t, { mounts: [mount(own, { permission: anyone })] });

  assert.equal((await ask("POST", "/owns", { body: { value: "bad" } })).status, 500);
  assert.equal((await ask("POST", "/owns", { body: { value: "good" } })).status, 201);
  assert.deepEqual((await ask("GET", "/owns")).json, [{ id: 1, value: "good" }]);
  assert.deepEqual(
    observed.flatMap((each) => (each.kind === "fault" ? [String(each.error).split(":")[1]] : [])),
    [" A value cannot be used"],
  );
});

test("reports an exception of another copy as a fault with its cause", async (t) => {
  const thrown: readonly (() => unknown)[] = [
    () => other.problem("not_found"),
    () => new others.stores.StoreUnavailable("away"),
    () => new others.resources.DeclarationError(["it is wrong"]),
  ];
  for (const make of thrown) {
    const error = make();
    const fail = (): never => {
      throw error;
    };
    const { ask, observed } = await ownService(t, {
      endpoints: [defineEndpoint({ method: "GET", path: "/x", access: anyone, handle: fail })],
      mounts: [mount(book, { permission: anyone, afterWrite: fail })],
    });

    assert.equal((await ask("GET", "/x")).status, 500);
    assert.equal((await ask("POST", "/books", { body: { title: "a" } })).status, 201);
    const faults = observed.flatMap((each) => (each.kind === "fault" ? [each.error as Error] : []));
    assert.equal(faults.length, 2);
    for (const fault of faults) {
      assert.match(fault.message, /^The thrown value is a fault: another copy of the package made it: 0\.0\.1 in /);
      assert.equal(fault.cause, error);
    }
  }
});

/** The arguments of the factories that require arguments. */
const needed: Readonly<Record<string, () => readonly unknown[]>> = {
  allOf: () => [other.anyone],
  anyOf: () => [other.anyone],
  array: () => [other.text()],
  decimal: () => [{ scale: 2, maximum: "9.99" }],
  enumeration: () => [["a"]],
  hasRole: () => [others.auth.defineUsers({}), "admin"],
  loginThrottle: () => [{ store: store() }],
  not: () => [other.anyone],
  owner: () => ["owner_id"],
  postgresStore: () => [{ url: new other.Secret("postgres://ann:secret@127.0.0.1:1/shop") }],
  reference: () => ["books"],
  references: () => ["books"],
  sameAs: () => [
    others.auth.defineUsers({ fields: { team: other.text({ maxLength: 20, optional: true }) }, identity: ["team"] }),
    "team",
  ],
  scope: () => ["notes:read"],
  sqliteStore: () => [{ path: ":memory:" }],
  standardSchema: () => [{ "~standard": { version: 1, vendor: "own", validate: (value: unknown) => ({ value }) } }],
};

/** The members by which a service recognizes a declaration. */
const declared = ["decide", "setUp", "authenticate", "mediaType", "listJSON", "isKnown"] as const;

function isDeclaration(value: object): boolean {
  const isField = "kind" in value && typeof value.kind === "object";
  return isField || declared.some((member) => member in value);
}

test("marks each declaration that a factory makes with its copy of the package", () => {
  const found: string[] = [];
  for (const [name, factory] of Object.entries({
    ...other,
    ...others.auth,
    ...others.http,
    ...others.resources,
    ...others.stores,
  })) {
    if (typeof factory !== "function" || isClass(factory)) continue;
    const made = attempt(() => (factory as (...inputs: readonly unknown[]) => unknown)(...(needed[name]?.() ?? [])));
    if (typeof made !== "object" || made === null || !isDeclaration(made)) continue;
    found.push(name);
    assert.notEqual(findOtherCopy(made), null, name);
  }

  assert.deepEqual(
    Object.keys(needed).filter((name) => !found.includes(name)),
    [],
  );
  for (const name of ["text", "accounts", "csv", "self"]) assert.ok(found.includes(name), name);
});

function attempt(make: () => unknown): unknown {
  try {
    const made = make();
    if (made instanceof Promise) made.catch(() => undefined);
    return made;
  } catch {
    return null;
  }
}

test("marks each exported class and permission with its copy of the package", () => {
  const doors = { latchkey: other, ...others };
  const unmarked = Object.entries(doors).flatMap(([door, exported]) =>
    Object.entries(exported as object)
      .filter(([, value]) => isClass(value) || isPermission(value))
      .filter(([, value]) => findOtherCopy(isClass(value) ? value.prototype : value) === null)
      .map(([name]) => `${door}: ${name}`),
  );

  // Two classes need no mark: a service makes its own `Call` for each request, and each copy recognizes an
  // `ExactNumber` by a shared symbol.
  assert.deepEqual(unmarked, ["http: Call", "resources: ExactNumber"]);
});

function isClass(value: unknown): value is { readonly prototype: object } {
  return typeof value === "function" && /^class\b/.test(Function.prototype.toString.call(value));
}

function isPermission(value: unknown): boolean {
  return typeof value === "object" && value !== null && "decide" in value;
}

const config = `import { anyone, defineResource, mount, text } from "latchkey";
import { array } from "latchkey/resources";

const books = defineResource({
  name: "book",
  fields: { title: text({ maxLength: 5 }), tags: array(text({ maxLength: 3 }), { default: [] }) },
});
export default { mounts: [mount(books, { permission: anyone })] };
`;

test("refuses a config file that imports another copy", () => {
  writeFileSync(path.join(copy.project, "latchkey.config.ts"), config);
  const start = (program: string, name: string) =>
    spawnSync(process.execPath, [program, name], {
      cwd: copy.project,
      encoding: "utf8",
      env: { ...process.env, LATCHKEY_DATABASE: "sqlite::memory:" },
    });

  const refused = start(command, "serve");
  assert.equal(refused.status, 78, refused.stderr);
  assert.ok(refused.stderr.includes(`another copy of the package made it: 0.0.1 in ${copy.place}.`), refused.stderr);
  assert.match(refused.stderr, /npx latchkey in the folder of a config file uses the copy of that project/);
  const own = start(copy.resolveModule("cli/latchkey"), "routes");
  assert.deepEqual([own.status, own.stderr], [0, ""]);
});
