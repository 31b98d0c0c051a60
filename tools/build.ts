/**
 * Builds `dist` as modules with shared chunks. Two hundred small files would make the start 60 ms slower and use 10 MB
 * more memory. Shared chunks give all entries the same classes, so the service recognizes the problems that a custom
 * resource throws.
 */
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";

const root = path.join(import.meta.dirname, "..");
// Use another folder to try a build next to the existing one.
const target = path.resolve(process.argv[2] ?? path.join(root, "dist"));
const doors = ["index", "resources", "http", "auth", "features", "stores", "ops"].map((door) => `door/${door}`);
const entries = [...doors, "service/service", "testing/testing", "cli/latchkey"];
const source = (file: string): string => path.join(root, "src", file);

rmSync(target, { recursive: true, force: true });
await build({
  entryPoints: {
    ...Object.fromEntries(entries.map((entry) => [entry, source(`${entry}.ts`)])),
    "chunks/node-version": source("core/node-version.ts"),
    // The code of threads. It is in the folder of the chunks that start these threads.
    "chunks/writer": source("store/sqlite/writes/writer.ts"),
    "chunks/checkpointer": source("store/sqlite/writes/checkpointer.ts"),
    "chunks/long-reader": source("store/sqlite/reads/long-reader.ts"),
  },
  outdir: target,
  chunkNames: "chunks/[name]-[hash]",
  bundle: true,
  splitting: true,
  packages: "external",
  format: "esm",
  platform: "node",
  target: "node24",
  logLevel: "warning",
});
// Chunks do not run in the order of the source, so each entry imports the check of Node's version first. The command
// makes this check itself, with a message of one line.
for (const file of entries.filter((entry) => entry !== "cli/latchkey").map((entry) => path.join(target, `${entry}.js`)))
  writeFileSync(file, readFileSync(file, "utf8").replace(/^(?!#!)/m, 'import "../chunks/node-version.js";\n'));
// Data files. They are in the folder of the chunks that read them.
for (const file of [
  "core/crypto/common-passwords.bin",
  "core/html/console.css",
  "core/html/console.js",
  "core/html/developer.css",
  "core/html/developer.js",
  "core/html/forms.js",
  "core/html/import.js",
  "core/html/passkeys.js",
])
  cpSync(source(file), path.join(target, "chunks", path.basename(file)));
