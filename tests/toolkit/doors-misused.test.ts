import assert from "node:assert/strict";
import { test } from "node:test";
import * as auth from "../../src/door/auth.ts";
import * as features from "../../src/door/features.ts";
import * as http from "../../src/door/http.ts";
import * as latchkey from "../../src/door/index.ts";
import * as ops from "../../src/door/ops.ts";
import * as resources from "../../src/door/resources.ts";
import * as stores from "../../src/door/stores.ts";
import * as service from "../../src/service/service.ts";
import * as testing from "../../src/testing/testing.ts";
import { placeOfOptions, signatures, type Signature } from "../harness/signatures.ts";

// On SQLite alone: these services are refused before they open their store.

// Whatever the doors give is called here as somebody would who has no types. A function that is added is called too, without a word here.

type Loose = (...given: readonly unknown[]) => unknown;

const modules: Readonly<Record<string, unknown>> = {
  ...latchkey,
  ...resources,
  ...http,
  ...auth,
  ...features,
  ...stores,
  ...ops,
  ...service,
  ...testing,
};
const { accounts, createService, defineResource, integer, Secret, text } = latchkey;
const people = accounts();
const secret = new Secret("a secret of 32 characters or more.");
const books = defineResource({ name: "book", fields: { title: text(), owner_id: integer() } });
const settings = { LATCHKEY_DATABASE: "sqlite::memory:" };

/** What stands in the places beside the one that is misused, by the name of the parameter. */
const samples: Readonly<Record<string, unknown>> = {
  people,
  resource: books,
  newer: latchkey.mount(books, { permission: latchkey.anyone }),
  which: "not_found",
  values: ["a"],
  column: "owner_id",
  parameter: "id",
  permission: latchkey.anyone,
  of: text(),
  schema: { "~standard": { version: 1, vendor: "own", validate: () => ({ issues: [{ message: "None will do." }] }) } },
  kind: {
    name: "phone",
    parse: () => new resources.Flaw("invalid", "None will do."),
    parseText: String,
    schema: {},
    column: { type: "text" },
  },
  service: { respond: () => undefined },
  file: "keys.json",
  config: {},
  url: new Secret("postgres://ann@127.0.0.1:1/shop"),
  path: "/nowhere/shop.db",
  collections: [],
};

/**
 * What is asked while a request is answered, and what gives what is wrong as its value: there is no start that they could stop. The members
 * of a config file have sentences of their own (`misspellings.test.ts`).
 */
const asked = new Set([
  "aTablePrefix",
  "accepted",
  "accountOf",
  "after",
  "assertProblem",
  "bearerRefusal",
  "callerFields",
  "checkNewPassword",
  "countersOf",
  "createLatchkey",
  "declarationMistakes",
  "defineConfig",
  "firstGeneration",
  "formatCSVLine",
  "formatClearedCookie",
  "formatFamilies",
  "formatSetCookie",
  "gauge",
  "html",
  "identityOf",
  "invalid",
  "isKeyOf",
  "isKnownFormat",
  "isPostgresURL",
  "isTrusted",
  "isUnsafe",
  "keyOf",
  "mergeFamilies",
  "mergeLogins",
  "nearest",
  "parseBasePath",
  "parseOpaqueToken",
  "parseOrigin",
  "parsePasswordCost",
  "ownUserFieldsMistakes",
  "placeOf",
  "prefersRedirect",
  "problem",
  "processFamilies",
  "readJSON",
  "readPage",
  "readProxyText",
  "readRecord",
  "rejected",
  "requireDraft",
  "requireSameSite",
  "seriesOf",
  "shownName",
  "updateRecord",
]);

/** Options that cannot be left out, beside one that is looked at alone. */
const needed: Readonly<Record<string, object>> = {
  decimal: { scale: 2, maximum: "9.99" },
  externalIssuers: { ownIssuer: "a", bindings: {}, observe: () => undefined },
  createService: { store: stores.sqliteStore({ path: ":memory:" }) },
  standardSchema: { column: "text" },
};

const functions = signatures();
const started = functions.filter(({ name }) => !asked.has(name));

test("what is asked while a request is answered is there", () => {
  assert.deepEqual(
    [...asked].filter((name) => !functions.some((each) => each.name === name)),
    [],
  );
});

const configurable = started.filter((each) => placeOfOptions(each) !== -1);

for (const each of configurable)
  test(`${each.name} tells every option that is misspelt, with the one that was meant, at once`, async () => {
    const known = membersTold(await callWith(each, { zzzzzzzz: 1 }));
    assert.ok(known.length > 0, "it names its options");
    const slips = known.map((name) => [name, slipOf(name, known)] as const);

    const told = await callWith(each, Object.fromEntries(slips.map(([, slip]) => [slip, 1])));

    assert.deepEqual(
      slips.filter(([name, slip]) => !new RegExp(`\\b${slip}\\b.*(?:did you mean|nearest is) ${name}\\b`).test(told)),
      [],
      told,
    );
  });

for (const each of configurable)
  test(`${each.name} tells every option of a wrong type at once`, async () => {
    const known = membersTold(await callWith(each, { zzzzzzzz: 1 }));

    const told = await callWith(each, Object.fromEntries(known.map((name) => [name, Symbol("none")])));

    // What a default may be follows from the other options: of what is malformed nobody can say more.
    const later = known.filter((name) => !new RegExp(`\\b${name}\\b`).test(told));
    for (const name of later)
      assert.match(await callWith(each, { ...needed[each.name], [name]: Symbol("none") }), new RegExp(`\\b${name}\\b`));
  });

for (const each of configurable)
  test(`${each.name} refuses options that are no object`, async () => {
    for (const given of [5, "options", [], null, () => undefined])
      assert.notEqual(await callWith(each, given), "it starts", String(given));
  });

const connection = "postgres://app:hunter2-/#secret@db.example/shop?password=hunter2";

/** Behind the place of a database the function opens that, and a file that cannot be read is named. */
const opens = (parameter: string): boolean => ["url", "path", "file"].includes(parameter);

for (const each of started.filter(({ parameters }) => parameters.length > 0))
  test(`${each.name} shows no secret that is given in the place of something else`, async () => {
    for (const [at, { name: misused }] of each.parameters.entries()) {
      if (opens(each.parameters[0]!.name) && !(at === 0 && misused === "url")) continue;
      const given = each.parameters.map(({ name }, place) => (place === at ? connection : samples[name]));
      assert.doesNotMatch(await call(each, given), /hunter2/, misused);
    }
    if (placeOfOptions(each) === -1 || opens(each.parameters[0]!.name)) return;
    const told = membersTold(await callWith(each, { zzzzzzzz: 1 }));
    const known = told.filter((name) => name !== "signingKeysFile");
    for (const value of [connection, [connection], { url: connection }])
      for (const name of known)
        assert.doesNotMatch(await callWith(each, { ...needed[each.name], [name]: value }), /hunter2/, name);
    // A secret has no form of its own.
    for (const name of known.filter((member) => /secret|token|url|password|key/i.test(member)))
      assert.doesNotMatch(await callWith(each, { ...needed[each.name], [name]: "hunter2" }), /hunter2/, name);
  });

for (const each of started.filter(({ parameters }) => parameters.length > 0))
  test(`${each.name} refuses arguments that are none, in words of its own`, async () => {
    const { length } = each.parameters;
    for (const given of [[], Array<number>(length).fill(5), Array<null>(length).fill(null)])
      assert.notEqual(
        await call(each, given),
        given.length === 0 && isAllOptional(each) ? "" : "it starts",
        String(given),
      );
  });

for (const each of started.filter((each) => placeOfOptions(each) === -1))
  test(`${each.name} refuses what stands behind its last argument`, async () => {
    const given = each.parameters.map(({ name }) => samples[name] ?? 5);

    assert.notEqual(await call(each, [...given, { enabled: false }]), "it starts");
  });

/** What it takes may all be left out. */
function isAllOptional({ name }: Signature): boolean {
  return (modules[name] as Loose).length === 0;
}

function callWith(each: Signature, options: unknown): Promise<string> {
  const at = placeOfOptions(each);
  return call(each, [...each.parameters.slice(0, at).map(({ name }) => samples[name]), options]);
}

/** What stops it, in the words of the toolkit. */
async function call({ name }: Signature, given: readonly unknown[]): Promise<string> {
  try {
    await use(name, await (modules[name] as Loose)(...given));
    return "it starts";
  } catch (error) {
    assert.ok(error instanceof Error, `${name} throws what is no error`);
    const isOurs = "mistakes" in error || "problems" in error || error.message.startsWith(`${name}: `);
    assert.ok(isOurs, `${name}(${given.map(String).join(", ")}) throws ${error.stack}`);
    return error.message;
  }
}

/** Much is looked at where it is used: with everything else of a service, all at once. */
async function use(name: string, made: unknown): Promise<void> {
  const start = async (options: object): Promise<void> =>
    (await createService({ store: stores.sqliteStore({ path: ":memory:" }), secret, ...options })).close();
  if (name === "defineEndpoint") return start({ endpoints: [made] });
  if (name === "defineConfig") return void service.readSettings(settings, made as never);
  if (typeof made !== "object" || made === null) return;
  if ("close" in made && typeof made.close === "function") await made.close();
  if ("setUp" in made || name === "defineFeature")
    return start({ features: name === "accounts" ? [made] : [people, made] });
  if ("kind" in made && "options" in made) void defineResource({ name: "thing", fields: { one: made as never } });
}

/** The options that there are, as the message names them. */
function membersTold(told: string): readonly string[] {
  const [, names = ""] = /zzzzzzzz\b.*?; there are ([\w, ]+)/.exec(told) ?? [];
  return names.split(", ").filter((name) => name !== "");
}

/** A name with two letters swapped, which is none that there is. */
function slipOf(name: string, known: readonly string[]): string {
  const slips = Array.from(
    { length: name.length - 1 },
    (_, at) => name.slice(0, at) + name[at + 1]! + name[at]! + name.slice(at + 2),
  );
  return slips.find((slip) => !known.includes(slip)) ?? `${name}x`;
}
