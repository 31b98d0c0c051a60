import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

const root = path.join(import.meta.dirname, "..");
const files = globSync(["*", ".*", ".{ci,changeset}/*", "{src,tests,tools,bench,examples,docs,deploy}/**/*"], {
  cwd: root,
  exclude: [".git", "tests/.documentation", "tools/*/{node_modules,generated}", "*.{db,db-shm,db-wal,secret,tgz}"],
}).filter((file) => statSync(path.join(root, file), { throwIfNoEntry: false })?.isFile());
const typescript = files.filter((file) => file.endsWith(".ts"));

function read(file: string): string {
  return readFileSync(path.join(root, file), "utf8");
}

function linesThat(match: RegExp, among: readonly string[]): string[] {
  return among.flatMap((file) =>
    read(file)
      .split("\n")
      .flatMap((line, at) => (match.test(line) ? [`${file}:${at + 1}: ${line.trim().slice(0, 120)}`] : [])),
  );
}

test("no file names a place on somebody's machine or a package registry", () => {
  const machine = /(?<![\w.:/-])\/(?:work|root|home\/\w+|Users\/\w+)\//;
  const registry = /registry\.(?:npmjs|yarnpkg|npmmirror)\.|"resolved": "\w/;

  assert.deepEqual([...linesThat(machine, files), ...linesThat(registry, files)], []);
});

test("no type is silenced", () => {
  assert.deepEqual(linesThat(/\bas any\b|@ts-(?:ignore|nocheck)\b/, typescript.filter(isNotThisFile)), []);
});

test("no test stands aside without saying why", () => {
  const tests = typescript.filter((file) => file.endsWith(".test.ts") && isNotThisFile(file));

  assert.deepEqual(
    linesThat(/\b(?:test|it|describe|suite)\.(?:only|skip|todo)\(|\b(?:only|skip|todo): true/, tests),
    [],
  );
});

test("no source file passes 300 lines", () => {
  const long = typescript
    .filter((file) => file.startsWith("src/") && !file.endsWith(".test.ts"))
    .filter((file) => read(file).split("\n").length > 301);

  assert.deepEqual(long, []);
});

test("docs/settings.md explains each setting", () => {
  const settings = globSync("src/service/settings*.ts", { cwd: root })
    .filter((file) => !file.endsWith(".test.ts"))
    .flatMap((file) => read(file).match(/\bLATCHKEY_[A-Z_]+[A-Z]\b/g) ?? []);
  const page = existsSync(path.join(root, "docs/settings.md")) ? read("docs/settings.md") : "";

  assert.deepEqual(
    [...new Set(settings)].filter((name) => !page.includes(`\`${name}\``)),
    [],
  );
});

function isNotThisFile(file: string): boolean {
  return file !== "tests/habits.test.ts";
}
