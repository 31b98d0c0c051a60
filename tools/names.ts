/**
 * Writes docs/names.md: every name that the package exports, and the first sentence of its docstring. `npm run names`
 * runs it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseSync, type Program, type Statement } from "oxc-parser";

const root = path.join(import.meta.dirname, "..");
const page = path.join(root, "docs/names.md");

/** One exported name, with its declaration. */
export interface ExportedName {
  readonly name: string;
  readonly kind: "function" | "class" | "value" | "type";
  /** Its docstring, without the stars. Empty if it has none. */
  readonly text: string;
  /** The file of its declaration. */
  readonly file: string;
}

interface Source {
  readonly text: string;
  readonly program: Program;
  readonly docstrings: readonly { readonly value: string; readonly end: number }[];
}

const sources = new Map<string, Source>();

function read(file: string): Source {
  const cachedSource = sources.get(file);
  if (cachedSource !== undefined) return cachedSource;
  const text = readFileSync(file, "utf8");
  const { program, comments } = parseSync(file, text);
  const docstrings = comments.filter(({ type, value }) => type === "Block" && value.startsWith("*"));
  const source = { text, program, docstrings };
  sources.set(file, source);
  return source;
}

/** Returns the entries of the package, by the name under which they are imported, with their exported names. */
export function exportedNames(): ReadonlyMap<string, readonly ExportedName[]> {
  const { name, exports } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
    name: string;
    exports: Record<string, { types?: string }>;
  };
  const entries = Object.entries(exports).flatMap(([entry, { types }]) =>
    types === undefined
      ? []
      : [[path.posix.join(name, entry), types.replace("./dist/", "src/").replace(".d.ts", ".ts")] as const],
  );
  return new Map(entries.map(([entry, file]) => [entry, namesIn(path.join(root, file))]));
}

/** Returns the exports of a file, declared there or elsewhere. */
function namesIn(file: string): readonly ExportedName[] {
  const names = read(file).program.body.flatMap((statement) => collectNames(statement, file));
  return [...new Map(names.map((each) => [each.name, each])).values()];
}

function collectNames(statement: Statement, file: string): readonly ExportedName[] {
  if (statement.type === "ExportAllDeclaration") return namesIn(beside(file, statement.source.value));
  if (statement.type !== "ExportNamedDeclaration") return [];
  const { source, specifiers } = statement;
  if (source !== null) {
    const elsewhere = namesIn(beside(file, source.value));
    return specifiers.flatMap(({ local, exported }) => {
      const found = elsewhere.find(({ name }) => name === requireName(local));
      return found === undefined ? [] : [{ ...found, name: requireName(exported) }];
    });
  }
  return declared(statement, file);
}

function declared(statement: Extract<Statement, { type: "ExportNamedDeclaration" }>, file: string): ExportedName[] {
  const { declaration, start } = statement;
  const text = docstringBefore(start, read(file));
  switch (declaration?.type) {
    case "FunctionDeclaration":
    case "TSDeclareFunction":
      return overload(file, declaration.id!.name, text);
    case "ClassDeclaration":
      return [{ name: declaration.id!.name, kind: "class", text, file }];
    case "VariableDeclaration":
      return declaration.declarations.map(({ id }) => ({ name: requireName(id), kind: "value", text, file }));
    case "TSInterfaceDeclaration":
    case "TSTypeAliasDeclaration":
      return [{ name: declaration.id.name, kind: "type", text, file }];
    default:
      return [];
  }
}

/** Returns a function with its docstring, which is at the first of several signatures. */
function overload(file: string, name: string, text: string): ExportedName[] {
  if (text !== "") return [{ name, kind: "function", text, file }];
  const { text: code, docstrings } = read(file);
  const first = [...code.matchAll(new RegExp(`^export (?:async )?function ${name}\\b`, "gm"))][0];
  const before = docstrings.filter(
    ({ end }) => code.slice(end, first?.index ?? 0).trim() === "" && end <= (first?.index ?? 0),
  );
  return [{ name, kind: "function", text: plain(before.at(-1)?.value ?? ""), file }];
}

function docstringBefore(start: number, { text, docstrings }: Source): string {
  const before = docstrings.filter(({ end }) => end <= start && text.slice(end, start).trim() === "");
  return plain(before.at(-1)?.value ?? "");
}

function plain(docstring: string): string {
  return docstring
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, "").trimEnd())
    .join("\n")
    .trim();
}

function requireName(node: { readonly type: string; readonly name?: unknown }): string {
  if (typeof node.name !== "string") throw new TypeError(`A name was expected, and this is a ${node.type}.`);
  return node.name;
}

function beside(file: string, specifier: string): string {
  return path.join(path.dirname(file), specifier);
}

/** Returns the text of docs/names.md. */
export function namesPage(): string {
  const parts = [...exportedNames()].map(([entry, names]) => {
    const rows = names
      .toSorted((one, other) => (one.name.toLowerCase() < other.name.toLowerCase() ? -1 : 1))
      .map(
        ({ name, kind, text }) =>
          `| \`${name}${kind === "function" ? "()" : ""}\` | ${kind} | ${firstSentence(text)} |`,
      );
    return `## \`${entry}\`\n\n| Name | Kind | What it is |\n|---|---|---|\n${rows.join("\n")}\n`;
  });
  return `# Every name\n\n\`npm run names\` makes this page from the docstrings. \`npm run verify -- reference\` makes the whole API reference of them, with every signature, in\n\`tools/reference/generated\`. [Stability](stability.md) says what is public, and what may change.\n\n${parts.join("\n")}`;
}

function firstSentence(text: string): string {
  const paragraph = text.split(/\n\s*\n|\n@/)[0]!.replaceAll(/\s+/g, " ");
  const end = paragraph.search(/(?<!\be\.g|\bi\.e)\.(?= [A-Z`])/);
  return (end === -1 ? paragraph : paragraph.slice(0, end + 1)).replaceAll("|", "\\|");
}

if (import.meta.main) writeFileSync(page, namesPage());
