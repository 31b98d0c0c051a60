import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openInEditor } from "../harness/language-service.ts";

// Tests what a developer sees in an editor. The tests ask the compiler through the Language Server Protocol.

const text = `import { accounts, administrator, anyOf, anyone, caller, createService, defineEndpoint, defineFeature, defineResource, enumeration, integer, mount, owner, reference, text, tokenLogin } from "../../src/door/index.ts";
import { sqliteStore } from "../../src/door/stores.ts";

// On SQLite alone: the programs are compiled, and none of them runs.
const authors = defineResource({ name: "author", fields: { name: text({ maxLength: 100 }) } });
const title = text({ maxLength: 200, unique: true });
const book = defineResource({
  name: "book",
  fields: {
    title,
    pages: integer({ optional: true }),
    state: enumeration(["open", "lent"], { default: "open" }),
    author_id: reference(authors),
    owner_id: integer({ default: caller, readOnly: true }),
  },
  filters: { title: ["eq"] },
  check: (checked) => (checked.title === "" ? [] : []),
});
const books = mount(book, {
  permission: owner("owner_id"),
  beforeWrite: (write) => ({ values: { title: String(write) } }),
  afterWrite: (written) => void written,
  actions: {
    lend: { permission: anyone, handle: ({ record }) => void record },
    extend: { permission: anyone, body: { days: integer(), note: text({ optional: true, writeOnly: true, transient: true }) }, handle: ({ draft }) => void draft },
  },
});
const people = accounts();
const tokens = tokenLogin(people);
const service = await createService({ store: sqliteStore({ path: ":memory:" }), features: [people, tokens], mounts: [books] });
const offered = service.use(people);
const hello = defineEndpoint({ method: "GET", path: "/hello/{name:text}", access: anyone, handle: (context) => ({ status: context.params.name === "" ? 404 : 204 }) });
const feature = defineFeature({ name: "own", setUp: (host) => ({ offer: host.name }) });
export const all = [title, book, books, tokens, service, offered, hello, feature];
export const w01 = mount(book, { permission: owner("ownr_id") });
export const w02 = mount(book, { permission: anyone, actions: { lend: { permission: anyone, handle: () => ({ values: { titel: "a" } }) } } });
export const w03 = text({ writeonly: true });
export const w04 = mount(book, { permision: anyone });
export const w05 = createService({ store: sqliteStore({ path: ":memory:" }), mount: [books] });
export const w06 = enumeration(["open"], { default: "opn" });
export const w07 = reference("authors", { onDelete: "casade" });
export const w08 = defineResource({ name: "page", fields: { title: text() }, filters: { titel: ["eq"] } });
export const w10 = mount(book, { permission: { list: anyone, create: anyOf(administrator, owner("ownr_id")) } });
export const w11 = mount(book, { permission: owner("title") });
export const w12 = mount(book, { permission: { raed: anyone } });
export const w09 = mount(book, { permission: anyone, beforeWrite: () => ({ values: { titel: "a" } }) });
`;
const opened = await openInEditor(text);
after(() => opened.close());

/** Returns the lines that an editor shows for the first declaration of a word in the text. */
async function readHover(word: string): Promise<readonly string[]> {
  const at = text.search(new RegExp(`(?<=[ (,])${word}\\b(?= =|\\)? =>|\\) =| \\})`));
  assert.notEqual(at, -1, word);
  return opened.hover(at);
}

const variables = ["title", "book", "books", "tokens", "service", "offered", "hello", "feature"];
const parameters = ["checked", "write", "written", "record", "draft", "context", "host"];
for (const word of [...variables, ...parameters])
  test(`shows a readable type for ${word}`, async () => {
    const lines = await readHover(word);

    assert.match(lines[0]!, new RegExp(`^(?:const|\\(parameter\\)) ${word}: `));
    assert.doesNotMatch(lines.join("\n"), /: any\b/);
    assert.ok(lines.length <= 12, lines.join("\n"));
    for (const line of lines) assert.ok(line.length <= 120, line);
  });

test("shows each field of a resource with the type of its values", async () => {
  assert.deepEqual(await readHover("book"), [
    "const book: Resource<{",
    "    readonly title: Field<string, never>;",
    '    readonly pages: Field<number, "optional">;',
    '    readonly state: Field<"lent" | "open", "default">;',
    '    readonly author_id: Field<number, RefersTo<"author">>;',
    '    readonly owner_id: Field<number, "default" | "made" | "readOnly">;',
    '}, "book", never, "integer", never>',
  ]);
});

test("names the mistake in compiler messages, and the intended name if the compiler can know it", async () => {
  const messages = new Map(await opened.mistakes());
  const lines = text.split("\n");
  const sayings: Readonly<Record<string, RegExp>> = {
    w01: /^[^\n]*"there is no ownr_id; did you mean owner_id\?"/,
    w02: /"there is no titel; did you mean title\?/,
    w03: /^[^\n]*'writeonly' does not exist in type[^\n]*Did you mean to write 'writeOnly'/,
    w04: /^[^\n]*'permision' does not exist in type[^\n]*Did you mean to write 'permission'/,
    w05: /^[^\n]*'mount' does not exist in type 'ServiceOptions'\. Did you mean to write 'mounts'/,
    w06: /^[^\n]*"opn"[^\n]*Did you mean '"open"'/,
    w07: /"casade"[\s\S]*Did you mean '"cascade"'/,
    w08: /^[^\n]*'titel' does not exist in type[^\n]*Did you mean to write 'title'/,
    w10: /^[^\n]*"there is no ownr_id; did you mean owner_id\?"/,
    w11: /^[^\n]*"title cannot hold the id of a user"/,
    w12: /^[^\n]*'raed' does not exist|there is no raed; did you mean re/,
    w09: /^[^\n]*"there is no titel; did you mean title\?/,
  };
  for (const [name, saying] of Object.entries(sayings))
    assert.match(messages.get(lines.findIndex((line) => line.includes(`const ${name} `))) ?? "nothing", saying);
  const right = lines.findIndex((line) => line.includes("const w01 "));
  assert.deepEqual(
    [...messages].filter(([line]) => line < right),
    [],
  );
});
