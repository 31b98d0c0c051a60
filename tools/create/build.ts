/**
 * Builds `create/dist`: the package that creates projects has no dependencies, and runs on an older Node than the
 * projects do.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";

const root = path.join(import.meta.dirname, "../..");
const { version, devDependencies } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
  version: string;
  devDependencies: Record<string, string>;
};
const create = path.join(root, "create");
rmSync(path.join(create, "dist"), { recursive: true, force: true });
await build({
  entryPoints: [path.join(create, "src/create.ts")],
  outfile: path.join(create, "dist/create.js"),
  banner: { js: "#!/usr/bin/env node" },
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  logLevel: "warning",
});
const { node, typescript, "@types/node": nodeTypes } = devDependencies;
writeFileSync(
  path.join(create, "dist/versions.json"),
  `${JSON.stringify({ latchkey: version, node, typescript, nodeTypes }, null, 2)}\n`,
);
