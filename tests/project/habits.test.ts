import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { parseSync, Visitor } from "oxc-parser";
import { exportedNames, namesPage } from "../../tools/names.ts";
import { seesBothDatabases } from "../../tools/test-files.ts";

const root = path.join(import.meta.dirname, "../..");
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

test("names no path on a developer's machine and no package registry in any file", () => {
  const machine = /(?<![\w.:/-])\/(?:work|root|home\/\w+|Users\/\w+)\//;
  const registry = /registry\.(?:npmjs|yarnpkg|npmmirror)\.|"resolved": "\w/;

  assert.deepEqual([...linesThat(machine, files), ...linesThat(registry, files)], []);
});

test("contains neither `as any` nor @ts-ignore nor @ts-nocheck", () => {
  assert.deepEqual(linesThat(/\bas any\b|@ts-(?:ignore|nocheck)\b/, typescript.filter(isNotThisFile)), []);
});

test("skips no test without a reason", () => {
  const tests = typescript.filter((file) => file.endsWith(".test.ts") && isNotThisFile(file));

  assert.deepEqual(
    linesThat(/\b(?:test|it|describe|suite)\.(?:only|skip|todo)\(|\b(?:only|skip|todo): true/, tests),
    [],
  );
});

test("reads stored JSON with valueOfJSON, which rounds no number", () => {
  const stored = typescript.filter((file) => /^src\/(?:store|http\/(?:mount|answer))\/.*(?<!\.test)\.ts$/.test(file));

  assert.deepEqual(linesThat(/\bJSON\.parse\b|\bstructuredClone\b/, stored), []);
});

test("parses JSON of clients and other servers with parseJSON, because JSON.parse misreads escaped names", () => {
  const folders = /^src\/(?:resource|access|http(?!\/formats\/json)|feature|features(?!\/openapi\/page)|composition)\//;
  const readers = typescript.filter((file) => folders.test(file) && !file.endsWith(".test.ts"));

  assert.deepEqual(linesThat(/\bJSON\.parse\b/, readers), []);
});

test("reads the columns of a row with storedOf, which knows their types", () => {
  const features = typescript.filter((file) => /^src\/features\/(?!console\/).*(?<!\.test)\.ts$/.test(file));
  // A column by its name, a cast of a column or of the whole record, and a record that is taken apart.
  const untyped = /\brecord\["|\brecord\b[\w[\].]*!?\)? as (?!const\b)|= \w+!?\.record;|storedOf\([^)]*\)[.\w]*\)? as /;

  assert.deepEqual(linesThat(untyped, features), []);
});

test("requires a reason in each test file that runs only on SQLite", () => {
  const tests = globSync("tests/{auth,console,lists,resources,toolkit}/*.test.ts", { cwd: root });
  const opensAStore = /\b(?:connect|createLatchkey|createService|ownService|serve|sqliteStore)\(/;

  const onSQLite = tests.filter((file) => {
    const source = read(file);
    return opensAStore.test(source) && !seesBothDatabases(source) && !source.includes("On SQLite alone: ");
  });

  assert.deepEqual(
    onSQLite,
    [],
    'Take the store from tests/harness/test-store.ts, or say why not in a comment: "On SQLite alone: …".',
  );
});

test("keeps source files within 300 lines, without comments", () => {
  const long = typescript
    .filter((file) => file.startsWith("src/") && !file.endsWith(".test.ts"))
    .filter((file) => withoutComments(file).split("\n").length > 301);

  assert.deepEqual(long, []);
});

test("keeps functions within 80 lines without comments, including the functions inside them", () => {
  const code = typescript.filter((file) => file.startsWith("src/") && !file.endsWith(".test.ts"));

  assert.deepEqual(code.flatMap(longFunctions), []);
});

/** Returns the text of a file without the lines that only have a comment. */
function withoutComments(file: string): string {
  const text = read(file);
  const isComment = new Set<number>();
  const lineAt = (offset: number): number => text.slice(0, offset).split("\n").length - 1;
  for (const { start, end } of parseSync(file, text).comments)
    for (let line = lineAt(start); line <= lineAt(end); line++) isComment.add(line);
  const isEmpty = (line: string): boolean => /^\s*(?:\/[/*]|\*|$)/.test(line);
  return text
    .split("\n")
    .filter((line, at) => !(isComment.has(at) && isEmpty(line)))
    .join("\n");
}

function longFunctions(file: string): readonly string[] {
  const text = withoutComments(file);
  const lineAt = (offset: number): number => text.slice(0, offset).split("\n").length;
  const found: string[] = [];
  const look = ({ body, start, end }: { body: unknown; start: number; end: number }): void => {
    const lines = body === null ? 0 : lineAt(end) - lineAt(start) + 1;
    if (lines > 80) found.push(`${file}:${lineAt(start)}: ${lines} lines`);
  };
  const visitor = new Visitor({
    FunctionDeclaration: look,
    FunctionExpression: look,
    ArrowFunctionExpression: look,
  });
  visitor.visit(parseSync(file, text).program);
  return found;
}

test("asks a kind of field for facts, and compares its name only in its own file", () => {
  const others = typescript.filter(
    // The logins have kinds of factors, which also have names.
    (file) => file.startsWith("src/") && !/^src\/(?:resource\/kinds|features\/auth)\/|\.test\.ts$/.test(file),
  );

  assert.deepEqual(
    others.flatMap((file) => comparedKinds(file)),
    [],
    "Give `Kind` a member that says what the code needs to know, and set it in the file of the kind.",
  );
  assert.equal(comparedKinds("x.ts", 'if (field.kind.name === "text") a();').length, 1);
  assert.equal(comparedKinds("x.ts", "if (!checked.has(kind.name)) a(kind.name);").length, 1);
  assert.equal(comparedKinds("x.ts", "const help = byKind[kind.name];").length, 1);
  assert.equal(comparedKinds("x.ts", "switch (of.kind.name) {}").length, 1);
  assert.equal(comparedKinds("x.ts", "function rule({ kind: { name, column } }: Field) {}").length, 1);
  assert.equal(comparedKinds("x.ts", "function isSpelled({ name }: Kind<unknown>) {}").length, 1);
  assert.equal(comparedKinds("x.ts", "const facts = { kind: kind.name, text: `${kind.name}: …` };").length, 0);
});

/** Returns the places that decide something by the name of a kind of field. */
function comparedKinds(file: string, text = read(file)): readonly string[] {
  const name = String.raw`\b[kK]ind\??\.name\b`;
  const decides = new RegExp(
    [
      `[!=]==? *[\\w.]*${name}|${name} *[!=]==?`,
      `\\.(?:has|get|includes|indexOf|test)\\([\\w.]*${name}\\)|\\[[\\w.]*${name}\\]`,
      `switch \\([\\w.]*${name}`,
      String.raw`\bkind: \{[^{}]*\bname\b|\{[^{}]*\bname\b[^{}]*\}(?:: Kind\b| = (?:\w+\.)*kind;)`,
    ].join("|"),
  );
  return text.split("\n").flatMap((line, at) => (decides.test(line) ? [`${file}:${at + 1}: ${line.trim()}`] : []));
}

test("describes the bodies of responses with fields, and not with JSON Schemas by hand", () => {
  const source = typescript.filter((file) =>
    /^src\/(?!http\/declarations\/documentation\.ts).*(?<!\.test)\.ts$/.test(file),
  );
  // The public keys (RFC 7517), and the text format of Prometheus.
  const known = ["src/features/auth/tokens/endpoints.ts", "src/features/ops/prometheus.ts"];

  assert.deepEqual(linesThat(/\bobjectSchema\(/, source), []);
  assert.deepEqual(
    source.filter((file) => /\b[1-5]\d\d: \{\s*description: [^,]*,\s*schema: \{/.test(read(file))).toSorted(),
    known,
  );
});

test("asks with `in` only for members that a type declares, because a wrong name would compile", () => {
  const source = typescript.filter((file) => /^src\/.*(?<!\.test)\.ts$/.test(file));
  const members = source.map((file) => ({ file, ...collectMembers(file) }));
  const declared = new Set(members.flatMap((each) => each.declared));
  // Members of Node, of the drivers and of bodies.
  const foreign = new Set(["bun", "deno", "recovery_codes", "setSecureContext", "severity", "syscall"]);
  const isUnknown = (name: string): boolean => !declared.has(name) && !foreign.has(name);

  assert.deepEqual(
    members.flatMap(({ file, asked }) => asked.filter(isUnknown).map((name) => `${file}: ${name}`)),
    [],
  );
  assert.deepEqual(collectMembers("x.ts", 'interface A { b: 1 } if ("c" in a) d();'), {
    declared: ["b"],
    asked: ["c"],
  });
});

/** Returns the members that the types of a file declare, and the names that its code looks for with `in`. */
function collectMembers(file: string, text = read(file)): { readonly declared: string[]; readonly asked: string[] } {
  const declared: string[] = [];
  const asked: string[] = [];
  const declare = ({ key }: { readonly key: { readonly type: string; readonly name?: unknown } }): void => {
    if (key.type === "Identifier") declared.push(String(key.name));
  };
  new Visitor({
    TSPropertySignature: declare,
    TSMethodSignature: declare,
    PropertyDefinition: declare,
    BinaryExpression({ operator, left }) {
      if (operator === "in" && left.type === "Literal") asked.push(String(left.value));
    },
  }).visit(parseSync(file, text).program);
  return { declared, asked };
}

test("checks the types of every folder of tools", () => {
  const { include } = JSON.parse(read("tsconfig.json")) as { readonly include: readonly string[] };
  const folders = new Set(
    files.filter((file) => /^tools\/[^/]+\/.*\.ts$/.test(file)).map((file) => file.split("/")[1]),
  );

  assert.deepEqual(
    [...folders].filter(
      (folder) => !include.includes(`tools/${folder}`) && !existsSync(path.join(root, `tools/${folder}/tsconfig.json`)),
    ),
    [],
  );
});

test("explains each setting in docs/settings.md", () => {
  const settings = globSync("src/service/settings/*.ts", { cwd: root })
    .filter((file) => !file.endsWith(".test.ts"))
    .flatMap((file) => read(file).match(/\bLATCHKEY_[A-Z_]+[A-Z]\b/g) ?? []);
  const page = existsSync(path.join(root, "docs/settings.md")) ? read("docs/settings.md") : "";

  assert.deepEqual(
    [...new Set(settings)].filter((name) => !page.includes(`\`${name}\``)),
    [],
  );
});

test("documents every exported name, in a docstring and in the docs", () => {
  const silent = [...exportedNames()].flatMap(([door, names]) =>
    names.filter(({ text }) => text === "").map(({ name }) => `${name} of ${door}`),
  );

  assert.deepEqual(silent, []);
  assert.equal(read("docs/names.md"), namesPage(), "docs/names.md is not what the docstrings say: npm run names");
});

test("shows an example for each declaring function", () => {
  const doors = exportedNames();
  const named = [
    ...doors.get("latchkey")!,
    ...["outbox", "health", "metrics", "consolePages", "rateLimits", "documentation"].map((name) =>
      doors.get("latchkey/features")!.find((each) => each.name === name)!,
    ),
  ];

  assert.deepEqual(
    named.filter(({ kind, text }) => kind === "function" && !text.includes("@example")).map(({ name }) => name),
    [],
  );
});

function isNotThisFile(file: string): boolean {
  return file !== "tests/project/habits.test.ts";
}
