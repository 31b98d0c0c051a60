import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { build } from "esbuild";

const run = promisify(execFile);
const core = path.join(import.meta.dirname, "../../src/door/index.ts");
const folder = mkdtempSync(path.join(tmpdir(), "latchkey-core-"));
const bundle = path.join(folder, "core.mjs");
/** Modules that only some runtimes have, and that a service without a database does not need. */
const heavy = /^(?:node:)?(?:sqlite|worker_threads|cluster|child_process)$|^pg\b|^@node-rs\//;
/** The external modules that the bundle imports, with the kind of import. */
const importedModules: { readonly path: string; readonly kind: string }[] = [];

/** Returns a script that loads a module, and prints its exports and all modules that were imported. */
const report = (module: string): string => `
  import { registerHooks } from "node:module";
  const asked = [];
  registerHooks({ resolve: (specifier, context, next) => (asked.push(specifier), next(specifier, context)) });
  const names = Object.keys(await import(${JSON.stringify(module)}));
  console.log(JSON.stringify({ names, asked, native: process.moduleLoadList }));
`;

before(async () => {
  const { metafile, outputFiles } = await build({
    entryPoints: [core],
    bundle: true,
    write: false,
    metafile: true,
    platform: "neutral",
    format: "esm",
    mainFields: ["module", "main"],
    external: ["node:*", "@node-rs/*"],
    // The bundle needs `require`, because find-my-way is CommonJS and requires node:assert.
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
  const inputs = Object.values(metafile.inputs).flatMap(({ imports }) => imports);
  importedModules.push(
    ...inputs.filter(({ external }) => external === true).map(({ path: name, kind }) => ({ path: name, kind })),
  );
  writeFileSync(bundle, outputFiles[0]!.contents);
});

after(() => rmSync(folder, { recursive: true }));

for (const [what, module] of Object.entries({ "from source": core, "in a bundle": bundle }))
  test(`loads no database, no thread and no native code for the core ${what}`, async () => {
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", report(module)], { cwd: folder });
    const { names, asked: loaded, native } = JSON.parse(stdout) as Record<"names" | "asked" | "native", string[]>;

    assert.ok(names.includes("createService"));
    assert.deepEqual(
      loaded.filter((specifier) => heavy.test(specifier)),
      [],
    );
    // Threads are not checked here, because node:http itself loads them.
    assert.deepEqual(
      native.filter((name) => /\bsqlite\b/.test(name)),
      [],
    );
  });

test("bundles the core for any platform: its only static imports are `node:` modules, without a database or threads", () => {
  const fixed = importedModules.filter(({ kind }) => kind !== "dynamic-import").map((each) => each.path);

  assert.deepEqual(
    fixed.filter((name) => !name.startsWith("node:") || heavy.test(name)),
    [],
  );
});
