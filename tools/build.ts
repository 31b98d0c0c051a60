/**
 * Builds `dist`: one set of modules with shared chunks. Two hundred small files would take the process at its start 60 ms and
 * 10 MB more; with chunks every entry still gets the same classes, so an own resource and the service know each other's problems.
 */
import { cpSync, rmSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";

const root = path.join(import.meta.dirname, "..");
const source = (file: string): string => path.join(root, "src", file);

rmSync(path.join(root, "dist"), { recursive: true, force: true });
await build({
  entryPoints: {
    index: source("index.ts"),
    "service/service": source("service/service.ts"),
    "testing/testing": source("testing/testing.ts"),
    "cli/latchkey": source("cli/latchkey.ts"),
    // Beside the chunk that starts it as a thread.
    "chunks/writer": source("store/sqlite/writer.ts"),
    "chunks/long-reader": source("store/sqlite/long-reader.ts"),
  },
  outdir: path.join(root, "dist"),
  chunkNames: "chunks/[name]-[hash]",
  bundle: true,
  splitting: true,
  packages: "external",
  format: "esm",
  platform: "node",
  target: "node24",
  logLevel: "warning",
});
// Beside the chunk that reads it.
cpSync(source("crypto/common-passwords.bin"), path.join(root, "dist/chunks/common-passwords.bin"));
