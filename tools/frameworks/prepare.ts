// Prepares the files that the tests need: the installed package, the NestJS app with compiled decorators, and the build
// of Next.js.
import { execFileSync } from "node:child_process";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";

const here = import.meta.dirname;

const installed = path.join(here, "node_modules/latchkey");
rmSync(installed, { recursive: true, force: true });
symlinkSync(path.join(here, "../.."), installed, "junction");

await build({
  entryPoints: [path.join(here, "nest.ts")],
  outfile: path.join(here, "generated/nest.js"),
  bundle: true,
  format: "esm",
  packages: "external",
  tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
});

// Next.js adds the options that it needs.
writeFileSync(path.join(here, "generated/tsconfig.json"), '{ "extends": "../tsconfig.json" }');

execFileSync(process.execPath, [path.join(here, "node_modules/next/dist/bin/next"), "build"], {
  cwd: path.join(here, "next"),
  env: { ...process.env, NEXT_TELEMETRY_DISABLED: "1" },
  stdio: "inherit",
});
