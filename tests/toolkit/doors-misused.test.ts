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

// The tests call every exported function as a developer without types would. New functions are included automatically.

type Loose = (...inputs: readonly unknown[]) => unknown;

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
const box = features.outbox();
const mails = features.mail(box, {
  send: async () => undefined,
  from: "shop@example.com",
  publicURL: "https://shop.example",
});
const settings = { LATCHKEY_DATABASE: "sqlite::memory:" };

/** Valid arguments for the parameters that a test does not misuse, by the parameter's name. */
const samples: Readonly<Record<string, unknown>> = {
  people,
  outbox: box,
  mail: mails,
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
 * Most tests in this file skip these functions. They are called during requests or in tests, or they return mistakes
 * instead of throwing them, so they cannot prevent a start. Mistakes in a config file have separate messages
 * (`misspellings.test.ts`).
 */
const exemptNames = new Set([
  "aTablePrefix",
  "accepted",
  "accountOf",
  "admitAsOperator",
  "after",
  "assertProblem",
  "bearerRefusal",
  "callerFields",
  "checkNewPassword",
  "countersOf",
  "createLatchkey",
  "declarationMistakes",
  "defineConfig",
  "findByToken",
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
  "providersMistakes",
  "readJSON",
  "readPage",
  "readProxyText",
  "readRecord",
  "readSMTPURL",
  "readSender",
  "rejected",
  "requireDraft",
  "requireSameSite",
  "requireUnused",
  "seriesOf",
  "shownName",
  "totpCode",
  "updateRecord",
]);

/** The required options of a function, which a test adds to the option that it misuses. */
const needed: Readonly<Record<string, object>> = {
  decimal: { scale: 2, maximum: "9.99" },
  mail: { send: () => undefined, from: "shop@example.com", publicURL: "https://shop.example" },
  externalIssuers: { ownIssuer: "a", bindings: {}, observe: () => undefined },
  assembleService: { store: stores.sqliteStore({ path: ":memory:" }) },
  createService: { store: stores.sqliteStore({ path: ":memory:" }) },
  standardSchema: { column: "text" },
};

const functions = signatures();
const started = functions.filter(({ name }) => !exemptNames.has(name));

test("lists only existing functions as exempt", () => {
  assert.deepEqual(
    [...exemptNames].filter((name) => !functions.some((each) => each.name === name)),
    [],
  );
});

const configurable = started.filter((each) => placeOfOptions(each) !== -1);

for (const each of configurable)
  test(`reports all misspelled options of ${each.name} together, with the intended names`, async () => {
    const memberNames = membersTold(await callWith(each, { zzzzzzzz: 1 }));
    assert.ok(memberNames.length > 0, "it names its options");
    const slips = memberNames.map((name) => [name, misspell(name, memberNames)] as const);

    const message = await callWith(each, Object.fromEntries(slips.map(([, slip]) => [slip, 1])));

    assert.deepEqual(
      slips.filter(
        ([name, slip]) => !new RegExp(`\\b${slip}\\b.*(?:did you mean|nearest is) ${name}\\b`).test(message),
      ),
      [],
      message,
    );
  });

for (const each of configurable)
  test(`reports all options of ${each.name} with a wrong type together`, async () => {
    const memberNames = membersTold(await callWith(each, { zzzzzzzz: 1 }));

    const message = await callWith(each, Object.fromEntries(memberNames.map((name) => [name, Symbol("none")])));

    // A default is checked only if the other options are valid. So each member that this message leaves out has to be
    // reported if no other member is wrong.
    const later = memberNames.filter((name) => !new RegExp(`\\b${name}\\b`).test(message));
    for (const name of later)
      assert.match(await callWith(each, { ...needed[each.name], [name]: Symbol("none") }), new RegExp(`\\b${name}\\b`));
  });

for (const each of configurable)
  test(`refuses options of ${each.name} that are not an object`, async () => {
    for (const input of [5, "options", [], null, () => undefined])
      assert.notEqual(await callWith(each, input), "it starts", String(input));
  });

const connection = "postgres://app:hunter2-/#secret@db.example/shop?password=hunter2";

/**
 * Returns true if a parameter names a database or file that the function opens. The error message may name a file that
 * cannot be read.
 */
const opens = (parameter: string): boolean => ["url", "path", "file"].includes(parameter);

for (const each of started.filter(({ parameters }) => parameters.length > 0))
  test(`hides a secret that is passed to ${each.name} as a wrong argument or option`, async () => {
    for (const [at, { name: misused }] of each.parameters.entries()) {
      if (opens(each.parameters[0]!.name) && !(at === 0 && misused === "url")) continue;
      const inputs = each.parameters.map(({ name }, place) => (place === at ? connection : samples[name]));
      assert.doesNotMatch(await call(each, inputs), /hunter2/, misused);
    }
    if (placeOfOptions(each) === -1 || opens(each.parameters[0]!.name)) return;
    const allMembers = membersTold(await callWith(each, { zzzzzzzz: 1 }));
    const memberNames = allMembers.filter((name) => name !== "signingKeysFile");
    for (const value of [connection, [connection], { url: connection }])
      for (const name of memberNames)
        assert.doesNotMatch(await callWith(each, { ...needed[each.name], [name]: value }), /hunter2/, name);
    // A secret without the form of a URL must stay hidden too.
    for (const name of memberNames.filter((member) => /secret|token|url|password|key/i.test(member)))
      assert.doesNotMatch(await callWith(each, { ...needed[each.name], [name]: "hunter2" }), /hunter2/, name);
  });

for (const each of started.filter(({ parameters }) => parameters.length > 0))
  test(`refuses invalid arguments of ${each.name} with a message of the toolkit`, async () => {
    const { length } = each.parameters;
    for (const inputs of [[], Array<number>(length).fill(5), Array<null>(length).fill(null)])
      assert.notEqual(
        await call(each, inputs),
        inputs.length === 0 && isAllOptional(each) ? "" : "it starts",
        String(inputs),
      );
  });

for (const each of started.filter((each) => placeOfOptions(each) === -1))
  test(`refuses additional arguments of ${each.name}`, async () => {
    const inputs = each.parameters.map(({ name }) => samples[name] ?? 5);

    assert.notEqual(await call(each, [...inputs, { enabled: false }]), "it starts");
  });

/** Returns true if all parameters of a function are optional. */
function isAllOptional({ name }: Signature): boolean {
  return (modules[name] as Loose).length === 0;
}

function callWith(each: Signature, options: unknown): Promise<string> {
  const at = placeOfOptions(each);
  return call(each, [...each.parameters.slice(0, at).map(({ name }) => samples[name]), options]);
}

/** Calls a function. Returns the toolkit's error message, or `it starts` if nothing is thrown. */
async function call({ name }: Signature, inputs: readonly unknown[]): Promise<string> {
  try {
    await use(name, await (modules[name] as Loose)(...inputs));
    return "it starts";
  } catch (error) {
    assert.ok(error instanceof Error, `${name} throws a value that is not an Error`);
    const isOurs = "mistakes" in error || "problems" in error || error.message.startsWith(`${name}: `);
    assert.ok(isOurs, `${name}(${inputs.map(String).join(", ")}) throws ${error.stack}`);
    return error.message;
  }
}

/**
 * Starts a service with the result of a function, because only the start finds many mistakes. It reports them together.
 */
async function use(name: string, made: unknown): Promise<void> {
  const start = async (options: object): Promise<void> =>
    (await createService({ store: stores.sqliteStore({ path: ":memory:" }), secret, ...options })).close();
  if (name === "defineEndpoint") return start({ endpoints: [made] });
  if (name === "defineConfig") return void service.readSettings(settings, made as never);
  if (typeof made !== "object" || made === null) return;
  if ("close" in made && typeof made.close === "function") await made.close();
  if ("setUp" in made || name === "defineFeature")
    return start({
      features:
        name === "accounts"
          ? [made]
          : [people, ...(name === "mailbox" ? [box, mails] : []), ...(name === "mail" ? [box] : []), made],
    });
  if ("kind" in made && "options" in made) void defineResource({ name: "thing", fields: { one: made as never } });
}

/** Returns the names that the message about an unknown option lists. */
function membersTold(message: string): readonly string[] {
  const [, names = ""] = /zzzzzzzz\b.*?; there are ([\w, ]+)/.exec(message) ?? [];
  return names.split(", ").filter((name) => name !== "");
}

/** Returns a misspelling of the name with two swapped letters, which is not the name of another option. */
function misspell(name: string, memberNames: readonly string[]): string {
  const slips = Array.from(
    { length: name.length - 1 },
    (_, at) => name.slice(0, at) + name[at + 1]! + name[at]! + name.slice(at + 2),
  );
  return slips.find((slip) => !memberNames.includes(slip)) ?? `${name}x`;
}
