import * as main from "../../door/index.ts";
import { collectColumnKinds, reservedNames } from "../../door/resources.ts";
import type { FoundExisting, FoundExistingColumn } from "../../door/stores.ts";
import { kindFor, type Declared } from "./kinds.ts";
import { isInOrderOfKey, chooseLists } from "./lists.ts";
import { constantFrom, freeName, inComment, memberName, nameFrom, toPlural, toSingular, textLiteral } from "./names.ts";

/** A table with the names of its declaration. `why` is the reason if it cannot be declared. */
interface NamedTable {
  readonly table: string;
  readonly found: FoundExisting;
  readonly name: string;
  readonly plural: string;
  readonly constant: string;
  readonly fields: ReadonlyMap<string, string>;
  readonly key: string | null;
  readonly id: "integer" | "uuid" | "text";
  readonly why: string | null;
}

/** The plurals and tables that the service already uses. */
const builtIn = [
  "users",
  "orders",
  "keys",
  "sessions",
  "tokens",
  "logins",
  "protected",
  "docs",
  "openapi",
  "problems",
  "health",
  "metrics",
];

const reserved = new Set(
  (
    "break case catch class const continue debugger default delete do else enum export extends false " +
    "finally for function if import in instanceof new null return super switch this throw true try typeof " +
    "var void while with yield let static await implements interface package private protected public " +
    "arguments eval undefined"
  ).split(" "),
);

/**
 * Returns TypeScript that declares the tables of a database: a config file that serves each table to administrators,
 * read-only. `own` has the names of the service's tables.
 */
export function formatDeclarations(tables: ReadonlyMap<string, FoundExisting>, own: readonly string[] = []): string {
  const named = chooseNames(tables);
  const parts = named.map((each) => declare(each, named));
  const text = parts.join("\n");
  const code = text.replaceAll(/^ *\/\/.*$/gm, "");
  const served = named.filter(({ why }) => why === null);
  const used = (names: readonly string[]): readonly string[] =>
    names.filter((name) => new RegExp(`(?<![\\w".])${name}\\(`).test(code));
  const factories = used([...collectColumnKinds().keys(), "reference"]).toSorted();
  const kinds = factories.filter((name) => name in main);
  const more = factories.filter((name) => !(name in main));
  const first = served.length === 0 ? [] : ["administrator", "defineResource", "mount"];
  return [
    "// Made by latchkey db inspect. The tables are not changed, and their rows are only read. `writes` in a declaration allows more.",
    "// Review it before you serve it: who may read what, which fields to hide, and which lists to allow.",
    ...(served.length === 0 ? [] : [`import { ${[...first, ...kinds].toSorted().join(", ")} } from "latchkey";`]),
    ...(more.length === 0 ? [] : [`import { ${more.join(", ")} } from "latchkey/resources";`]),
    'import { defineConfig } from "latchkey/service";',
    "",
    text,
    "// Only administrators, until you allow more.",
    ...(served.length === 0 ? [] : ["const permission = { list: administrator, read: administrator };", ""]),
    ...defaultExport(
      served.map(({ constant }) => `mount(${constant}, { permission })`),
      findFreePrefix([...tables.keys()], own),
    ),
    "",
  ].join("\n");
}

function defaultExport(mounts: readonly string[], prefix: string | null): readonly string[] {
  const all = `mounts: [${mounts.join(", ")}]`;
  if (prefix === null) return [`export default defineConfig({ ${all} });`];
  return [
    "export default defineConfig({",
    "  // Some tables have names of Latchkey's own tables, so those get this prefix.",
    `  settings: { tablePrefix: ${textLiteral(prefix)} },`,
    `  ${all},`,
    "});",
  ];
}

/**
 * Returns a free prefix for the names of the service's tables if other tables already have some of these names. Returns
 * null if all names are free.
 */
function findFreePrefix(tables: readonly string[], own: readonly string[]): string | null {
  const lower = tables.map((table) => table.toLowerCase());
  if (!own.some((name) => lower.includes(name))) return null;
  for (let at = 1; ; at++) {
    const prefix = at === 1 ? "lk_" : `lk${at}_`;
    if (!lower.some((name) => name.startsWith(prefix))) return prefix;
  }
}

function chooseNames(tables: ReadonlyMap<string, FoundExisting>): readonly NamedTable[] {
  const names = new Set(builtIn.map(toSingular));
  const plurals = new Set(builtIn);
  const imported = [
    "administrator",
    "defineConfig",
    "defineResource",
    "mount",
    "reference",
    ...collectColumnKinds().keys(),
  ];
  const constants = new Set([...reserved, ...imported, "permission"]);
  return [...tables].map(([table, found]) => {
    const base = toSingular(nameFrom(table));
    const name = freeName(base, names);
    const plural = freeName(toPlural(base), plurals);
    const constant = freeName(constantFrom(plural), constants);
    const key = findKey(found);
    const id = key === null ? null : findIdKind(key);
    const why =
      found.unserved ??
      (key === null ? whyNoKey(found) : id === null ? `its key ${key.name} is of type ${key.storage}` : null);
    const taken = new Set(["id"]);
    const others = found.columns.filter((column) => column !== key);
    const fields = new Map(others.map((column) => [column.name, freeName(fieldName(column.name), taken)]));
    return { table, found, name, plural, constant, fields, key: key?.name ?? null, id: id ?? "integer", why };
  });
}

function fieldName(raw: string): string {
  const name = nameFrom(raw);
  // Every JavaScript object inherits a member `constructor`, which could be mistaken for a field of this name.
  return name === "id" || name === "constructor" || reservedNames.has(name) ? `own_${name}` : name;
}

/** Returns the single column that identifies the rows. */
function findKey({ key, columns, uniques, isTable }: FoundExisting): FoundExistingColumn | null {
  if (!isTable) return null;
  if (key.length === 1) return columns.find(({ name }) => name === key[0]) ?? null;
  const unique = [...uniques.values()].filter((each) => each.length === 1).map(([name]) => name);
  return columns.find(({ name, nullable }) => unique.includes(name) && !nullable) ?? null;
}

function whyNoKey({ isTable, isForeign, key }: FoundExisting): string {
  if (isForeign === true)
    return 'it is a foreign table, which is only read; declare it with columns: { id: "…" } naming a column that is unique in it';
  if (!isTable) return 'it is a view; declare it with columns: { id: "…" } naming a column that is unique in it';
  if (key.length > 1)
    return `its key has ${key.length} columns (${key.join(", ")}), but a record has one id; serve a view that joins them into one text`;
  return "it has no key";
}

function findIdKind(column: FoundExistingColumn): NamedTable["id"] | null {
  const kind = kindFor({ ...column, words: [], checks: [] });
  return "why" in kind ? null : (kind.id ?? null);
}

function declare(named: NamedTable, all: readonly NamedTable[]): string {
  const { table, found, name, plural, constant, fields, key, id, why } = named;
  if (why !== null) return `// ${inComment(table)} is not declared: ${inComment(why)}.\n`;
  const renamed = [["id", key!], ...[...fields].map(([raw, field]) => [field, raw])].filter(
    ([field, raw]) => field !== raw,
  );
  const lines: string[] = [];
  const shown: FoundExistingColumn[] = [];
  for (const column of found.columns) {
    if (column.name === key) continue;
    const { kind, remarks } = fieldFor(column, named, all);
    const field = fields.get(column.name)!;
    lines.push(...remarks.map((each) => `    // ${field}: ${inComment(each)}`));
    if ("why" in kind) lines.push(`    // ${inComment(column.name)} is not declared: ${inComment(kind.why)}.`);
    else {
      shown.push(column);
      lines.push(`    ${memberName(field)}: ${formatCall(kind)},`);
    }
  }
  const declared = new Set(shown.map((column) => fields.get(column.name)!)).add("id");
  const columns = renamed.filter(([field]) => declared.has(field!));
  return [
    ...(givesIds(found, key!)
      ? []
      : [
          "// The table gives no ids. The caller who creates a record chooses one (PUT), so the mount needs a permission for replace.",
        ]),
    `export const ${constant} = defineResource({`,
    `  name: ${textLiteral(name)},`,
    ...(plural === `${name}s` ? [] : [`  plural: ${textLiteral(plural)},`]),
    `  table: ${textLiteral(table)},`,
    ...(id === "integer" ? [] : [`  id: ${textLiteral(id)},`]),
    ...(columns.length === 0
      ? []
      : [`  columns: { ${columns.map(([field, raw]) => `${field}: ${textLiteral(raw!)}`).join(", ")} },`]),
    "  fields: {",
    ...lines,
    "  },",
    ...uniqueLines(named, shown),
    ...listLines(named, shown),
    "});",
    "",
  ].join("\n");
}

/** Returns the line that declares the unique indexes over several of the shown columns. */
function uniqueLines({ found, fields }: NamedTable, shown: readonly FoundExistingColumn[]): readonly string[] {
  const compared = new Set(shown.filter((column) => isComparable(column)).map(({ name }) => name));
  const sets = [...found.uniques.values()]
    .filter((columns) => columns.length > 1 && columns.every((name) => compared.has(name)))
    .map((columns) => columns.map((name) => fields.get(name)!));
  const written = new Map(sets.map((set) => [set.toSorted().join(), `[${set.map(textLiteral).join(", ")}]`]));
  return written.size === 0 ? [] : [`  unique: [${[...written.values()].join(", ")}],`];
}

function isComparable(column: FoundExistingColumn): boolean {
  const kind = kindFor({ ...column, words: [], checks: [] });
  return !("why" in kind) && kind.type !== "json";
}

function givesIds({ columns, isFilledByTrigger }: FoundExisting, key: string): boolean {
  return isFilledByTrigger || columns.some(({ name, filled, generated }) => name === key && (filled || generated));
}

function formatCall({ factory, first, options }: Extract<Declared, { factory: string }>): string {
  const members = Object.entries(options).map(([name, value]) => `${name}: ${literal(value)}`);
  const parameters = [
    ...(first === undefined ? [] : [typeof first === "string" ? literal(first) : `[${first.map(literal).join(", ")}]`]),
    ...(members.length === 0 ? [] : [`{ ${members.join(", ")} }`]),
  ];
  return `${factory}(${parameters.join(", ")})`;
}

function literal(value: string | number | boolean): string {
  return typeof value === "string" ? textLiteral(value) : String(value);
}

/** Returns a field, and the remarks about it. */
function fieldFor(
  column: FoundExistingColumn,
  named: NamedTable,
  all: readonly NamedTable[],
): { readonly kind: Declared; readonly remarks: readonly string[] } {
  const remarks: string[] = [];
  const reference = referenceFor(column, named, all, remarks);
  const kind = reference ?? kindFor(column);
  if ("why" in kind) return { kind, remarks };
  const isUnique = [...named.found.uniques.values()].some((each) => each.length === 1 && each[0] === column.name);
  const more = {
    ...(column.nullable ? { optional: true } : {}),
    ...(isUnique && kind.type !== "json" ? { unique: true } : {}),
    ...(column.generated ? { readOnly: true } : {}),
    ...(column.filled || column.generated ? { filled: true } : {}),
  };
  return { kind: { ...kind, options: { ...kind.options, ...more } }, remarks };
}

function referenceFor(
  column: FoundExistingColumn,
  { found }: NamedTable,
  all: readonly NamedTable[],
  remarks: string[],
): Declared | null {
  const reference = found.references.find(({ columns }) => columns.length === 1 && columns[0] === column.name);
  if (reference === undefined) return null;
  const to = all.find(({ table }) => table === reference.table);
  if (to === undefined || to.why !== null || to.key !== reference.to[0]) {
    remarks.push(
      `refers to ${reference.table} (${reference.to.join(", ")}), which is not the key of a table that is declared here`,
    );
    return null;
  }
  const kind = kindFor({ ...column, words: [], checks: [] });
  if ("why" in kind || kind.id !== to.id) {
    remarks.push(`refers to ${reference.table}, whose ids are of another type`);
    return null;
  }
  if (reference.onDelete === "null") remarks.push(`the database sets it to null when the referenced record is deleted`);
  const options = {
    ...(to.id === "integer" ? {} : { id: to.id }),
    ...(reference.onDelete === "cascade" ? { onDelete: "cascade" } : {}),
  };
  return { factory: "reference", type: kind.type, first: to.plural, options };
}

/** Returns the lines that declare the filters and sort orders of lists. */
function listLines({ found, fields, key }: NamedTable, shown: readonly FoundExistingColumn[]): readonly string[] {
  const { filters, sorts, unserved } = chooseLists(found, key!, shown);
  const lines = (filtered: readonly string[], sorted: readonly string[]): readonly string[] => {
    const names = filtered.map((name) => fields.get(name)!).filter((field) => !parameters.has(field));
    const orders = sorted.map((name) => textLiteral(fields.get(name)!));
    return [
      ...(names.length === 0 ? [] : [`filters: { ${names.map((each) => `${each}: ["eq"]`).join(", ")} },`]),
      ...(orders.length === 0 ? [] : [`sorts: [${orders.join(", ")}],`]),
    ];
  };
  const others = lines(unserved.filters, unserved.sorts);
  const isInOrder = !found.isTable || isInOrderOfKey(found, key!);
  return [
    ...(isInOrder
      ? []
      : [
          "  // The index of the ids is not ordered by code point, as ids are: lists are long reads.",
          "  scans: true,",
        ]),
    ...lines(filters, sorts).map((line) => `  ${line}`),
    ...(others.length === 0 ? [] : ["  // With these, some lists are long reads, because no index has their order:"]),
    ...others.map((line) => `  // ${line}`),
  ];
}

/** The parameters of every list. */
const parameters = new Set(["limit", "cursor", "sort", "fields", "search", "expand", "count"]);
