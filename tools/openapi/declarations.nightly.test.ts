import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { emitDeclarations } from "../../tests/harness/declarations.ts";

// This folder has an older TypeScript. tests/project/package.test.ts makes the same test with the project's TypeScript.
const run = promisify(execFile);
const root = path.join(import.meta.dirname, "../..");

test("lets a file that exports resources, mounts and features emit its declarations with TypeScript 5.9", async (t) => {
  const project = mkdtempSync(path.join(tmpdir(), "latchkey-declarations-"));
  t.after(() => rmSync(project, { recursive: true, force: true }));
  const installed = path.join(project, "node_modules/latchkey");
  mkdirSync(installed, { recursive: true });
  cpSync(path.join(root, "package.json"), path.join(installed, "package.json"));
  symlinkSync(path.join(root, "node_modules/@types"), path.join(project, "node_modules/@types"));
  symlinkSync(path.join(root, "node_modules"), path.join(installed, "node_modules"));
  const build = ["-p", path.join(root, "tsconfig.build.json"), "--outDir", path.join(installed, "dist")];
  await run(path.join(root, "node_modules/.bin/tsc"), build);

  assert.equal(await emitDeclarations(path.join(import.meta.dirname, "node_modules/.bin/tsc"), project), "");
});
