import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { before, test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { build } from "esbuild";

// Tests the installed package in Node, Bun and Deno. The binaries of Bun and Deno come from npm.

const here = import.meta.dirname;
const root = path.join(here, "../..");
const run = promisify(execFile);

/** Returns the path of the binary that npm chose for this machine. The binary works without an install script. */
function resolveBinary(scope: string, name: string): string {
  const folder = path.join(here, "node_modules", scope);
  const [platform] = readdirSync(folder);
  return path.join(folder, platform!, name);
}

const runtimes: Readonly<Record<string, readonly [command: string, ...args: string[]]>> = {
  Node: [process.execPath],
  Bun: [resolveBinary("@oven", "bin/bun")],
  Deno: [resolveBinary("@deno", "deno"), "run", "--allow-all", "--no-lock"],
};

before(() => {
  const generated = path.join(here, "generated");
  rmSync(generated, { recursive: true, force: true });
  mkdirSync(generated);
  const packed = execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", generated], {
    cwd: root,
    encoding: "utf8",
  });
  execFileSync("tar", ["-xzf", packed.trim().split("\n").at(-1)!], { cwd: generated });
  const installed = path.join(here, "node_modules/latchkey");
  rmSync(installed, { recursive: true, force: true });
  symlinkSync(path.join(generated, "package"), installed, "junction");
});

for (const [name, command] of Object.entries(runtimes)) {
  test(`serves a database in memory through fetch, and logs users in with a token: ${name}`, async () => {
    assert.deepEqual(await printedBy(command, "memory.mjs"), {
      statuses: [201, 200, 401, 201, 200, 400],
      listed: ["Ünï 1"],
      wrong: ["/title", "/titel"],
    });
  });

  test(`serves a database file over a socket while other stores are open in the process, and exits: ${name}`, async (t) => {
    const DATABASE = path.join(createFolder(t), "notes.db");
    assert.deepEqual(await printedBy(command, "file.mjs", { DATABASE }), {
      statuses: [201, 201, 201, 201, 201, 201],
      found: ["two"],
      count: "1",
    });
  });

  test(`loads the core from a bundle that esbuild made for no specific platform: ${name}`, async (t) => {
    const folder = createFolder(t);
    await bundleInto(folder);
    const names = Object.keys(await import("latchkey"));
    assert.deepEqual(await printedBy(command, path.join(folder, "prints.mjs")), names.toSorted());
  });
}

/**
 * Bundles the core, and asserts that the bundle imports no database. The `@node-rs` packages stay outside, because they
 * are loaded only when a password is hashed. The banner defines `require` for packages in CommonJS.
 */
async function bundleInto(folder: string): Promise<void> {
  const { metafile } = await build({
    stdin: { contents: `export * from "latchkey";`, resolveDir: here },
    outfile: path.join(folder, "latchkey.mjs"),
    bundle: true,
    metafile: true,
    platform: "neutral",
    mainFields: ["module", "main"],
    format: "esm",
    external: ["node:*", "@node-rs/*"],
    banner: { js: `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);` },
    logLevel: "error",
  });
  const [output] = Object.values(metafile.outputs);
  const importPaths = output!.imports.map((each) => each.path);
  assert.deepEqual(
    importPaths.filter((each) => /sqlite|worker_threads|^pg$/.test(each)),
    [],
  );
  const prints = `import * as core from "./latchkey.mjs";\nconsole.log(JSON.stringify(Object.keys(core).toSorted()));\n`;
  writeFileSync(path.join(folder, "prints.mjs"), prints);
}

async function printedBy(
  [command, ...args]: readonly [string, ...string[]],
  file: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const env = { ...process.env, ...environment };
  const { stdout, stderr } = await run(command, [...args, file], { cwd: here, env, timeout: 30_000 });
  assert.doesNotMatch(stderr, /error/i);
  return JSON.parse(stdout);
}

function createFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}
