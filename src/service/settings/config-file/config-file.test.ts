import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { inspect } from "node:util";
import { defineUsers } from "../../../door/auth.ts";
import { anyone, defineFeature, defineResource, integer, mount, text, type RecordOf } from "../../../door/index.ts";
import { ConfigError } from "../error.ts";
import { ofService } from "./config-cures.ts";
import { defineConfig, loadConfigFile } from "./config-file.ts";

const place = mkdtempSync(path.join(tmpdir(), "latchkey-config-"));
/** These tests run from the source, as a clone of the repository does. */
const clone = path.resolve(import.meta.dirname, "../../../..");
let count = 0;

after(() => rmSync(place, { recursive: true, force: true }));

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = path.join(place, `it's ${++count} #?%20`);
  mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  return folder;
}

async function requireConfigError(files: Readonly<Record<string, string>>): Promise<ConfigError> {
  const error: unknown = await loadConfigFile(folderWith(files)).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof ConfigError, inspect(error));
  assert.equal(error.problems.length, 1);
  return error;
}

test("finds no config file in a directory without one", async () => {
  assert.equal(await loadConfigFile(folderWith({ "latchkey.config.json": "{}" })), undefined);
});

for (const name of ["latchkey.config.js", "latchkey.config.mjs", "latchkey.config.ts", "latchkey.config.mts"]) {
  test(`reads ${name}`, async () => {
    const types = name.endsWith("ts") ? "const port: number = 9000;" : "const port = 9000;";

    const config = await loadConfigFile(folderWith({ [name]: `${types} export default { settings: { port } };` }));

    assert.deepEqual(config, { settings: { port: 9000 } });
  });
}

test("resolves a relative directory against the working directory of the process", async () => {
  const folder = folderWith({ "latchkey.config.mjs": "export default { settings: {} };" });

  assert.deepEqual(await loadConfigFile(path.relative(process.cwd(), folder)), { settings: {} });
});

test("refuses two config files, because only one could be used", async () => {
  const { message } = await requireConfigError({
    "latchkey.config.ts": "export default {};",
    "latchkey.config.mjs": "export default {};",
  });

  assert.equal(message, "latchkey.config.ts and latchkey.config.mjs both exist. Keep one of them.");
});

test("names a config file that throws, with the thrown message", async () => {
  const error = await requireConfigError({ "latchkey.config.mjs": `throw new RangeError("no luck");` });

  assert.match(error.message, /^latchkey\.config\.mjs cannot be run\. RangeError: no luck/);
  assert.ok(error.cause instanceof RangeError);
  assert.match((await requireConfigError({ "latchkey.config.mjs": `throw null;` })).message, /cannot be run\. null/);
});

test("accepts a promise of a configuration", async () => {
  const late = { "latchkey.config.mjs": "export default Promise.resolve({ settings: { port: 1 } });" };

  assert.deepEqual(await loadConfigFile(folderWith(late)), { settings: { port: 1 } });
  const never = { "latchkey.config.mjs": `export default Promise.reject(new Error("no luck"));` };
  assert.match((await requireConfigError(never)).message, /no luck/);
});

test("names a config file that cannot be loaded", async () => {
  const broken = {
    "latchkey.config.mjs": "export default {",
    "latchkey.config.js": `import "no-such-package"; export default {};`,
    "latchkey.config.ts": "enum A { B } export default {};",
  };

  for (const [name, text] of Object.entries(broken)) {
    const { message } = await requireConfigError({ [name]: text });
    assert.ok(message.startsWith(`${name} cannot be run.`), message);
  }
});

test("names the line and the fix of a config file that cannot be run", async () => {
  const rows: readonly (readonly [text: string, message: RegExp])[] = [
    [
      "export default {};\nenum State { open }",
      /enum is not supported in strip-only mode, in latchkey\.config\.ts, line 2\. Write a union, like type State = "open" \| "lent", or an object with as const\.$/,
    ],
    [
      "class A {\n  constructor(readonly a: number) {}\n}\nexport default {};",
      /line 2\. Node only removes types; write the parameter property in JavaScript\.$/,
    ],
    ['\nimport "./shop.ts";\nexport default {};', /Cannot find module '.+shop\.ts' imported from .+, line 2$/],
    ['\n\nimport { a } from "no-such/part";', /Cannot find package 'no-such' imported from .+, line 3$/],
  ];

  for (const [text, message] of rows)
    assert.match((await requireConfigError({ "latchkey.config.ts": text })).message, message);
});

test("names the fix if the package of a config file is a clone of the repository", async () => {
  const rows = [
    [
      "latchkey",
      `Node looks for it in the folder node_modules beside the file: npm install ${clone}, and start with npx latchkey.`,
    ],
    [path.join(clone, "dist/door/not-built.js"), `The clone is not built: npm run build, in ${clone}.`],
  ] as const;

  for (const [from, cure] of rows) {
    const { message } = await requireConfigError({ "latchkey.config.ts": `import { text } from "${from}";` });
    assert.equal(message.split(", line 1. ")[1], cure, message);
  }
});

test("explains the fix for a config file that Node treats as CommonJS", async () => {
  const commonJS = `{ "type": "commonjs" }`;
  const text = `import path from "node:path"; export default { settings: { issuer: path.sep } };`;

  const { message } = await requireConfigError({ "package.json": commonJS, "latchkey.config.ts": text });
  assert.match(message, /write "type": "module" there, or rename the file to latchkey\.config\.mts\.$/);
  const exported = await requireConfigError({ "package.json": commonJS, "latchkey.config.js": "export default {};" });
  assert.match(exported.message, /rename the file to latchkey\.config\.mjs\.$/);
  const config = await loadConfigFile(folderWith({ "package.json": commonJS, "latchkey.config.mts": text }));
  assert.deepEqual(config, { settings: { issuer: path.sep } });
});

test("refuses a config file without a configuration", async () => {
  const texts = [
    "",
    "export const settings = {};",
    "export default null;",
    "export default 7;",
    "export default [];",
    "export default () => ({});",
  ];

  for (const text of texts) {
    assert.match((await requireConfigError({ "latchkey.config.mjs": text })).message, /gives no configuration/);
  }
});

test("suggests the right extension of an imported file", async () => {
  const shop = "export const mounts = [];";
  const config = (end: string): string => `import { mounts } from "./shop${end}"; export default { mounts };`;

  for (const end of [".js", ""]) {
    const { message } = await requireConfigError({ "shop.ts": shop, "latchkey.config.mts": config(end) });
    assert.match(message, /Node runs TypeScript without renaming files: import shop\.ts\.$/);
  }
  assert.doesNotMatch((await requireConfigError({ "latchkey.config.mts": config(".js") })).message, /shop\.ts/);
});

test("explains the fix for an import from the wrong module of Latchkey, or of a type", async () => {
  const folder = folderWith({});
  mkdirSync(path.join(folder, "node_modules/latchkey"), { recursive: true });
  writeFileSync(path.join(folder, "node_modules/latchkey/index.mjs"), "export const mount = 1;");
  writeFileSync(path.join(folder, "node_modules/latchkey/package.json"), `{ "exports": "./index.mjs" }`);
  const explain = async (name: string): Promise<string> => {
    const at = path.join(folder, name);
    mkdirSync(at);
    writeFileSync(path.join(at, "latchkey.config.mts"), `import { ${name} } from "latchkey"; export default {};`);
    const error: unknown = await loadConfigFile(at).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof ConfigError);
    return error.message;
  };

  assert.match(await explain("outbox"), /It is in another module: import { outbox } from "latchkey\/features"\.$/);
  assert.match(await explain("defineConfig"), /import { defineConfig } from "latchkey\/service"\.$/);
  assert.match(await explain("Feature"), /If it is a type, say so: import { type Feature } from "latchkey"\.$/);
  assert.deepEqual(Object.keys(await import("../../service.ts")).toSorted(), ofService);
});

test("names the line of a syntax error", async () => {
  const { message } = await requireConfigError({ "latchkey.config.ts": "export default {\n  mounts: [\n};\n" });

  assert.match(message, /SyntaxError: .*, in latchkey\.config\.ts, line 3/);
});

test("freezes the configuration in defineConfig", () => {
  const config = defineConfig({ registration: "open" });

  assert.ok(Object.isFrozen(config));
});

test("keeps the types of mounts, features and fields of users in defineConfig", () => {
  const notes = mount(defineResource({ name: "note", fields: { body: text() } }), { permission: anyone });
  const clock = defineFeature({ name: "clock", setUp: () => ({ offer: { now: 7 } }) });
  const users = defineUsers({ fields: { age: integer({ optional: true }) } });
  const config = defineConfig({ settings: { port: 8080 }, mounts: [notes], features: [clock], users });
  const made = defineConfig({ features: ({ accounts }) => [accounts, clock] });
  const plain = defineConfig({ registration: "open" });

  const note: RecordOf<(typeof config.mounts)[0]["resource"]> = { id: 1, body: "Read." };
  const offer: typeof clock = config.features[0];
  const field: keyof NonNullable<typeof config.users.fields> = "age";
  // @ts-expect-error -- there is no such field
  const wrong: RecordOf<(typeof config.mounts)[0]["resource"]> = { id: 1, bdy: "Read." };
  // @ts-expect-error -- a part that is not given may be missing
  const none = (): unknown => plain.mounts[0];

  assert.deepEqual([note.body, offer, field, typeof made.features], ["Read.", clock, "age", "function"]);
  assert.ok(wrong !== undefined && typeof none === "function");
});
