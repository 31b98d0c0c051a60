import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { parseSync, Visitor, type Program } from "oxc-parser";
import { composed } from "../../src/core/crypto/composed.ts";
import { formatLink } from "../../src/core/headers/link.ts";
import { parseTraceContext } from "../../src/core/headers/traceparent.ts";
import { Problem } from "../../src/core/problem/problem.ts";
import { normalizeCode } from "../../src/features/auth/requests/codes.ts";
import { json } from "../../src/http/formats/json.ts";
import { negotiate, negotiateProblem } from "../../src/http/formats/negotiate.ts";
import { xml } from "../../src/http/formats/xml.ts";
import {
  boolean,
  dateTime,
  decimal,
  email,
  enumeration,
  integer,
  json as anyJSON,
  reference,
  text,
} from "../../src/resource/kinds/fields.ts";
import { parseDecimal } from "../../src/store/decimal.ts";
import { hostileTexts, isSlow, usePattern } from "../harness/hostile-text.ts";

const root = path.join(import.meta.dirname, "../..");

/**
 * Files and functions that read only text of the operator or of the API's author. Everything else in `src` may read
 * text of a caller.
 */
const neverACaller: readonly (readonly [place: RegExp, reason: string])[] = [
  [/^src\/cli\//, "the command reads arguments and files of the operator"],
  [/^src\/testing\//, "the contract suites run in a plug-in author's tests"],
  [/^src\/service\/settings/, "settings are the operator's"],
  [/^src\/store\/sqlite\/existing\//, "the SQL of an existing table is the operator's"],
  [/^src\/store\/sqlite\/table-changes\/own-objects\.ts$/, "the SQL of an index is the operator's"],
  [/^src\/composition\/start-reports\.ts$/, "the names of fields and the source of hooks are the author's"],
  [/^src\/proof\//, "`prove` reads answers of a service in memory"],
  [/^src\/features\/console\/look\/accent\.ts$/, "the accent is a setting, and the style is ours"],
  [/^src\/core\/html\/look\.ts$/, "the scripts and styles are ours"],
  [/^src\/service\/inspecting\//, "`db inspect` reads the operator's database"],
  [/^src\/features\/auth\/tokens\/signing-keys\.ts$/, "signing keys are the operator's"],
  [/^src\/resource\/json-schema\/keywords\.ts$/, "the pattern of a schema is the author's"],
  [/: parseTrustedProxies$/, "the proxies are a setting"],
  [/: parseStored$/, "the store itself has written the text"],
];

interface Pattern {
  readonly place: string;
  readonly regex: RegExp;
}

test("reads 64 KiB of any text within 5 ms with every pattern that a caller can reach", async () => {
  const patterns = await patternsOfSource();
  const texts = hostileTexts();

  const slow = patterns.filter(({ regex }) =>
    texts.some((text) => isSlow((length) => usePattern(regex, text(length)))),
  );

  assert.ok(patterns.length > 50, `${patterns.length} patterns were found`);
  assert.deepEqual(
    slow.map(({ place, regex }) => `${place}: ${regex}`),
    [],
  );
});

test("reads 64 KiB of any text within 5 ms with every exported reader of a text", async () => {
  const readers = [...(await readersOfSource()), ...otherReaders];
  const texts = hostileTexts();

  const slow = readers.filter(({ read }) => texts.some((text) => isSlow((length) => attempt(read, text(length)))));

  assert.ok(readers.length > 30, `${readers.length} readers were found`);
  assert.deepEqual(
    slow.map(({ place }) => place),
    [],
  );
});

test("calls normalize() for callers' text only in three modules, which many marks on one letter cannot slow down", () => {
  const files = sourceFiles().filter(
    (file) => meetsCallers(file) && /\.normalize\(/.test(readFileSync(path.join(root, file), "utf8")),
  );

  // `composed.ts` splits long runs of marks, `words.ts` removes marks, and `codes.ts` calls `composed`, before the text
  // is normalized.
  assert.deepEqual(files.toSorted(), [
    "src/core/crypto/composed.ts",
    "src/core/words/words.ts",
    "src/features/auth/requests/codes.ts",
  ]);
});

interface Reader {
  readonly place: string;
  readonly read: (text: string) => unknown;
}

const formats = [json, xml];

/** Readers that `readersOfSource` does not find, because they have more parameters or another name, or are methods. */
const otherReaders: readonly Reader[] = [
  { place: "parseTraceContext", read: (text) => parseTraceContext(goodTrace, text) },
  { place: "composed", read: composed },
  { place: "normalizeCode", read: normalizeCode },
  { place: "parseDecimal", read: (text) => parseDecimal(text, 2) },
  { place: "negotiate", read: (text) => negotiate(text, formats) },
  { place: "negotiateProblem", read: (text) => negotiateProblem(text, formats) },
  { place: "formatLink", read: (text) => formatLink(text, "next") },
  ...Object.entries({
    text: text(),
    pattern: text({ maxLength: 100_000, pattern: { matches: /^[^:]*$/, detail: "" } }),
    integer: integer(),
    decimal: decimal({ scale: 2, maximum: "99.99" }),
    boolean: boolean(),
    dateTime: dateTime(),
    enumeration: enumeration(["a"]),
    email: email(),
    reference: reference("users"),
    json: anyJSON(),
  }).flatMap(([name, { kind }]) => [
    { place: `${name} of JSON`, read: (value: string) => kind.parse(value) },
    { place: `${name} of text`, read: (value: string) => kind.parseText(value) },
  ]),
];

const goodTrace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

function attempt(read: Reader["read"], text: string): void {
  try {
    read(text);
  } catch (error) {
    if (!(error instanceof Problem || error instanceof SyntaxError)) throw error;
  }
}

/** Returns all exported functions that take one text and whose name starts with a verb for reading, such as `parse`. */
async function readersOfSource(): Promise<Reader[]> {
  const readers: Reader[] = [];
  for (const file of sourceFiles()) {
    const names = readerNames(file).filter((name) => meetsCallers(`${file}: ${name}`));
    if (names.length === 0) continue;
    const module = (await import(pathToFileURL(path.join(root, file)).href)) as Record<string, Reader["read"]>;
    readers.push(...names.map((name) => ({ place: `${file}: ${name}`, read: module[name]! })));
  }
  return readers;
}

function readerNames(file: string): string[] {
  const names: string[] = [];
  new Visitor({
    ExportNamedDeclaration({ declaration }) {
      if (declaration?.type !== "FunctionDeclaration" || declaration.params.length !== 1) return;
      const [parameter] = declaration.params;
      const name = declaration.id?.name ?? "";
      const isText =
        parameter?.type === "Identifier" && parameter.typeAnnotation?.typeAnnotation.type === "TSStringKeyword";
      if (isText && /^(?:parse|read|is|trim|find|fold)/.test(name)) names.push(name);
    },
  }).visit(parsed(file));
  return names;
}

function sourceFiles(): string[] {
  return globSync("src/**/*.ts", { cwd: root, exclude: ["src/**/*.test.ts"] }).filter(meetsCallers);
}

function meetsCallers(place: string): boolean {
  return !neverACaller.some(([pattern]) => pattern.test(place));
}

function parsed(file: string): Program {
  return parseSync(file, readFileSync(path.join(root, file), "utf8")).program;
}

/** Returns the patterns of `src`: all literals, and the patterns that `new RegExp` makes when a module is loaded. */
async function patternsOfSource(): Promise<Pattern[]> {
  const patterns: Pattern[] = [];
  for (const file of sourceFiles()) {
    const { literals, made, inFunction } = collectRegexes(file);
    assert.deepEqual(
      inFunction,
      [],
      "these files make a pattern in a function; make it when the module is loaded, so that this test can examine it",
    );
    patterns.push(...literals.map((regex) => ({ place: file, regex })));
    if (made === 0) continue;
    const loaded = await madeWhileLoading(file);
    assert.ok(loaded.length >= made, `${file} makes ${made} patterns, and ${loaded.length} were seen`);
    patterns.push(...loaded.map((regex) => ({ place: file, regex })));
  }
  return patterns;
}

function collectRegexes(file: string): { literals: RegExp[]; made: number; inFunction: string[] } {
  const literals: RegExp[] = [];
  const inFunction: string[] = [];
  let made = 0;
  let depth = 0;
  const enter = (): void => void depth++;
  const leave = (): void => void depth--;
  new Visitor({
    FunctionDeclaration: enter,
    "FunctionDeclaration:exit": leave,
    FunctionExpression: enter,
    "FunctionExpression:exit": leave,
    ArrowFunctionExpression: enter,
    "ArrowFunctionExpression:exit": leave,
    Literal(node) {
      if ("regex" in node) literals.push(new RegExp(node.regex.pattern, node.regex.flags));
    },
    NewExpression({ callee }) {
      if (callee.type !== "Identifier" || callee.name !== "RegExp") return;
      made++;
      if (depth > 0) inFunction.push(file);
    },
  }).visit(parsed(file));
  return { literals, made, inFunction };
}

/** Loads a second copy of the module, which makes its patterns again. Returns these patterns. */
async function madeWhileLoading(file: string): Promise<RegExp[]> {
  const made: RegExp[] = [];
  const Original = RegExp;
  globalThis.RegExp = new Proxy(Original, {
    construct(target, parameters: ConstructorParameters<RegExpConstructor>) {
      const regex = new target(...parameters);
      made.push(regex);
      return regex;
    },
  });
  try {
    await import(`${pathToFileURL(path.join(root, file)).href}?patterns`);
  } finally {
    globalThis.RegExp = Original;
  }
  return made;
}
