import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";

/** A slip, as somebody would write it: what the compiler says of it, and what the start says to those who have none. */
interface Slip {
  readonly code: string;
  /** Words of the compiler's message; null: the compiler cannot know. */
  readonly compiled: RegExp | null;
  /** Words of the message that stops the start. Null: there is nothing to be run. */
  readonly started: RegExp | null;
}

const field = (code: string, compiled: RegExp, started: RegExp): Slip => ({
  code: `start([mount(defineResource({ name: "thing", fields: { one: ${code} } }), { permission: anyone })])`,
  compiled,
  started,
});

const slips: readonly Slip[] = [
  field(
    "text({ writeonly: true, uniqe: true })",
    /'writeonly'.*Did you mean.*'writeOnly'/,
    /field one: text: there is no option writeonly; did you mean writeOnly\?\n.*uniqe; did you mean unique\?/,
  ),
  field(
    "text({ optional: true, uniqe: true })",
    /ThereIsNo<"uniqe">/,
    /field one: text: there is no option uniqe; did you mean unique\?/,
  ),
  field("text({ max: 5 })", /'max' does not exist in type/, /text: there is no option max; did you mean maxLength\?/),
  field(
    "text({ maxLength: '5' })",
    /'string' is not assignable to type 'number'/,
    /text: maxLength is '5'; it has to be a whole number/,
  ),
  field(
    "integer({ optional: true, minimun: 1 })",
    /ThereIsNo<"minimun">/,
    /integer: there is no option minimun; did you mean minimum\?/,
  ),
  field(
    "decimal({ scale: 2, maximum: '9', minimun: '1' })",
    /ThereIsNo<"minimun">/,
    /decimal: there is no option minimun; did you mean minimum\?/,
  ),
  field(
    "enumeration(['a'], { optional: true, defualt: 'a' })",
    /ThereIsNo<"defualt">/,
    /enumeration: there is no option defualt; did you mean default\?/,
  ),
  field(
    "reference('authors', { optional: true, onDelte: 'cascade' })",
    /ThereIsNo<"onDelte">/,
    /reference: there is no option onDelte; did you mean onDelete\?/,
  ),
  field(
    "reference('authors', { onDelete: 'casade' })",
    /"casade"/,
    /reference: onDelete is 'casade'; it has to be one of cascade, restrict; did you mean cascade\?/,
  ),
  field(
    "email({ uniqe: true })",
    /'uniqe'.*Did you mean.*'unique'/,
    /e-mail: there is no option uniqe; did you mean unique\?/,
  ),
  field(
    "boolean",
    /is not assignable to type 'Field/,
    /field one: it is a function and no field; declare one, like text\(\)/,
  ),
  field(
    "defineField({ ...phone, colum: { type: 'text' } }, {})",
    /'colum'.*Did you mean.*'column'/,
    /its kind: there is no option colum; did you mean column\?/,
  ),
  {
    code: `defineResource({ name: "thing", feilds: {} })`,
    compiled: /'feilds'.*Did you mean.*'fields'/,
    started: /resource thing: there is no option feilds; did you mean fields\?/,
  },
  {
    code: `defineResource({ name: "thing", fields: { title: text() }, filters: { titel: ["eq"] } })`,
    compiled: /'titel'/,
    started: /filter titel: there is no such field; did you mean title\?/,
  },
  {
    code: `defineResource({ name: "thing", fields: { title: text() }, filters: { title: ["stars"] } })`,
    compiled: /"stars"/,
    started: /there is no operator stars; did you mean starts\?/,
  },
  {
    code: `defineResource({ name: "thing", fields: { title: text({ maxLength: 9 }) }, sorts: ["titel"] })`,
    compiled: /"titel"/,
    started: /sort titel: there is no such field; did you mean title\?/,
  },
  {
    code: `defineResource({ name: "thing", fields: { title: text() }, check: ({ titel }) => (titel === "" ? [] : []) })`,
    compiled: /'titel' does not exist/,
    started: null,
  },
  {
    code: `start([mount(books, { permision: anyone })])`,
    compiled: /'permision'.*Did you mean.*'permission'/,
    started: /mount\(\/books\): there is no option permision; did you mean permission\?/,
  },
  {
    code: `start([mount(books, { permission: { reed: anyone } })])`,
    compiled: /'reed'/,
    started: /mount\(\/books\): permission\.reed is of no action; did you mean read\?/,
  },
  {
    code: `start([mount(books, { permission: owner("ownr_id") })])`,
    compiled: /"ownr_id"/,
    started: /the permission owner narrows by the column ownr_id, which is not there; did you mean owner_id\?/,
  },
  {
    code: `start([mount(books, { permission: { list: anyOf(administrator, owner("ownr_id")) } })])`,
    compiled: /"ownr_id"/,
    started: /the permission any of .* narrows by the column ownr_id, which is not there; did you mean owner_id\?/,
  },
  {
    code: `start([mount(books, { permission: anyone, problems: { delete: ["last_admn"] } })])`,
    compiled: /"last_admn".*Did you mean.*"last_admin"/,
    started: /there is no problem last_admn; did you mean last_admin\?/,
  },
  {
    code: `write(mount(books, { permission: anyone, beforeWrite: () => ({ values: { titel: "x" } }) }))`,
    compiled: /titel/,
    started: /mount\(\/books\): beforeWrite gave something wrong: there is no column titel; did you mean title\?/,
  },
  {
    code: `write(mount(books, { permission: anyone, beforeWrite: () => ({ values: { title: "x", titel: "x" } }) }))`,
    compiled: /ThereIsNo<"titel">/,
    started: /there is no column titel; did you mean title\?/,
  },
  {
    code: `write(mount(books, { permission: anyone, beforeWrite: async ({ kind }) => (kind === "delete" ? {} : { values: { titel: "x" } }) }))`,
    compiled: /titel/,
    started: /there is no column titel; did you mean title\?/,
  },
  {
    code: `mount(books, { permission: anyone, beforeWrite: ({ draft }) => ({ values: { title: draft?.values.titel ?? "" } }) })`,
    compiled: /'titel' does not exist.*Did you mean 'title'/s,
    started: null,
  },
  {
    code: `mount(books, { permission: anyone, beforeWrite: ({ current }) => ({ values: { title: current?.titel ?? "" } }) })`,
    compiled: /'titel' does not exist/,
    started: null,
  },
  {
    code: `start([mount(defineResource({ name: "page", fields: { author_id: reference(authrs) } }), { permission: anyone })])`,
    compiled: /'authrs'. Did you mean 'authors'/,
    started: null,
  },
  {
    code: `start([mount(authors, { permission: anyone }), mount(defineResource({ name: "page", fields: { author_id: reference("autors") } }), { permission: anyone })])`,
    compiled: null,
    started: /mount\(\/pages\): the field author_id refers to autors, which is not mounted; did you mean authors\?/,
  },
  {
    code: `integer({ default: ({ identity }) => identity.id })`,
    compiled: /'identity' is possibly 'null'/,
    started: null,
  },
  {
    code: `start([], { endpoints: [defineEndpoint({ method: "GET", path: "/a", acces: anyone, handle: () => ({ status: 204 }) })] })`,
    compiled: /'acces'.*Did you mean.*'access'/,
    started: /endpoints\[0\] \(GET \/a\): there is no option acces; did you mean access\?/,
  },
  {
    code: `start([], { endpoints: [defineEndpoint({ method: "GET", path: "/a", access: owner("owner_id"), handle: () => ({ status: 204 }) })] })`,
    compiled: /'"owner_id"' is not assignable to type 'never'/,
    started: /the permission owner narrows to rows, and an endpoint of your own applies none/,
  },
  {
    code: `start([], { endpoints: [defineEndpoint({ method: "GET", path: "/a", access: anyone, documentation: { sumary: "A" }, handle: () => ({ status: 204 }) })] })`,
    compiled: /'sumary'/,
    started: /documentation is an object; there is no option sumary; did you mean summary\?/,
  },
  {
    code: `defineEndpoint({ method: "GET", path: "/a/{name:text}", access: anyone, handle: ({ params }) => ({ status: params.nmae === "a" ? 200 : 204 }) })`,
    compiled: /'nmae' does not exist/,
    started: null,
  },
  {
    code: `start([], { endpoint: [] })`,
    compiled: /'endpoint'.*Did you mean.*'endpoints'/,
    started: /createService: there is no option endpoint; did you mean endpoints\?/,
  },
  {
    code: `start([], { features: [defineFeature({ name: "a", nedes: [], setUp: () => ({ offer: null }) })] })`,
    compiled: /'nedes'.*Did you mean.*'needs'/,
    started: /feature a: there is no option nedes; did you mean needs\?/,
  },
  {
    code: `start([], { features: [defineFeature({ name: "a", setUp: () => ({ offer: null, mount: [] }) })] })`,
    compiled: /ThereIsNo<"mount">/,
    started: /feature a: there is no option mount; did you mean mounts\?/,
  },
  {
    code: `readConfig(defineConfig({ settings: { prot: 8080 } }))`,
    compiled: /'prot' does not exist in type 'ConfigSettings'/,
    started: /settings\.prot in the config file is not a setting\. The nearest is port\./,
  },
  {
    code: `readConfig(defineConfig({ registation: "open" }))`,
    compiled: /'registation'.*Did you mean.*'registration'/,
    started: /registation in the config file means nothing\. The nearest is registration\./,
  },
];

const root = path.join(import.meta.dirname, "..");
const folder = mkdtempSync(path.join(tmpdir(), "latchkey-slips-"));
const file = path.join(folder, "slips.ts");
after(() => rmSync(folder, { recursive: true }));

const head = `import { administrator, anyOf, anyone, boolean, createService, decimal, defineEndpoint, defineField, defineFeature, defineResource, email, enumeration, integer, mount, owner, reference, sqliteStore, text, type Kind, type Mount, type ServiceOptions } from ${JSON.stringify(path.join(root, "src/index.ts"))};
import { defineConfig, readSettings, type ConfigFile } from ${JSON.stringify(path.join(root, "src/service/service.ts"))};
void [administrator, anyOf, boolean, decimal, defineEndpoint, defineFeature, email, enumeration, integer, owner];
const authors = defineResource({ name: "author", fields: { name: text() } });
const books = defineResource({ name: "book", fields: { title: text(), owner_id: integer() } });
const phone: Kind<string> = { name: "phone", parse: String, parseText: String, schema: {}, column: { type: "text" } };
const start = async (mounts: readonly Mount[], options: Omit<ServiceOptions, "store" | "mounts"> = {}): Promise<void> => (await createService({ store: sqliteStore({ path: ":memory:" }), mounts, ...options })).close();
const write = async (mounted: Mount): Promise<void> => {
  const faults: unknown[] = [];
  const service = await createService({ store: sqliteStore({ path: ":memory:" }), mounts: [mounted], observe: (seen) => void ("error" in seen && faults.push(seen.error)) });
  const request = new Request("http://127.0.0.1" + mounted.resource.path, { method: "POST", body: '{"title":"a","owner_id":1}', headers: { "content-type": "application/json" } });
  const { status } = await service.fetch(request, { peer: "127.0.0.1" });
  await service.close();
  if (status === 500) throw faults[0];
};
const readConfig = (config: ConfigFile): void => void readSettings({}, config);
void [authors, books, phone, start, write, readConfig];
`;
const firstLine = head.split("\n").length;
writeFileSync(
  file,
  `${head}${slips.map(({ code }, at) => `export const slip${at} = (): unknown => ${code};`).join("\n")}\n`,
);
const configuration = {
  extends: path.join(root, "tsconfig.json"),
  compilerOptions: {
    typeRoots: [path.join(root, "node_modules/@types")],
    paths: {},
    rewriteRelativeImportExtensions: false,
  },
  include: [],
  files: [file],
};
writeFileSync(path.join(folder, "package.json"), '{"type":"module"}');
writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify(configuration));

/** What the compiler says of each slip, by its line. */
async function compile(): Promise<ReadonlyMap<number, string>> {
  const told = await new Promise<string>((resolve) => {
    const tsc = path.join(root, "node_modules/.bin/tsc");
    execFile(tsc, ["-p", folder, "--pretty", "false"], { cwd: folder, maxBuffer: 1 << 24 }, (_, output) =>
      resolve(output),
    );
  });
  const messages = new Map<number, string>();
  let line = -1;
  for (const each of told.split("\n")) {
    const start = /^slips\.ts\((\d+),\d+\): error TS\d+: (.*)$/.exec(each);
    if (start !== null) line = Number(start[1]) - firstLine;
    const text = start === null ? each : start[2]!;
    if (text !== "") messages.set(line, messages.has(line) ? `${messages.get(line)}\n${text}` : text);
  }
  return messages;
}

// The terminal of somebody who made one slip shows all of it at once. Of what a function gives, the compiler tells the whole way to the value.
const LONGEST = 800;
const LONGEST_WAY = 1300;

test("what is misspelt does not compile, and the message is short and has the word", async () => {
  const messages = await compile();

  for (const [at, { code, compiled }] of slips.entries()) {
    const message = messages.get(at);
    if (compiled === null) {
      assert.equal(message, undefined, code);
      continue;
    }
    assert.ok(message !== undefined, `${code} compiles`);
    assert.match(message, compiled, code);
    const longest = code.startsWith("write(") ? LONGEST_WAY : LONGEST;
    assert.ok(message.length <= longest, `${code} is told with ${message.length} characters:\n${message}`);
    assert.doesNotMatch(message, /Symbol|import\("/, code);
  }
  assert.deepEqual(
    [...messages.keys()].filter((at) => slips[at] === undefined),
    [],
    "nothing else is wrong",
  );
});

test("what is misspelt does not start, and the message has the nearest name", async () => {
  const module = (await import(pathToFileURL(file).href)) as Readonly<Record<string, () => unknown>>;

  for (const [at, { code, started }] of slips.entries()) {
    if (started === null) continue;
    const error: unknown = await attempt(module[`slip${at}`]!).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof Error, `${code} starts`);
    assert.match(error.message, started, code);
  }
});

async function attempt(run: () => unknown): Promise<unknown> {
  return run();
}
