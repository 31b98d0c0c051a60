import { isObject, isText } from "../../core/checking/members.ts";
import { shownName, suggestion } from "../../core/checking/nearest.ts";
import type { Fields, ResourceDeclaration } from "../declaration/declaration.ts";
import type { Field } from "../declaration/field.ts";

/**
 * Returns the mistakes in the table options of a resource. Only a resource with an existing table may have such
 * options.
 */
export function tableMistakes(declaration: ResourceDeclaration<Fields>): readonly string[] {
  const { table, id = "integer" } = declaration;
  if (table !== undefined) return mistakesOver(declaration, table);
  const options = (["columns", "writes", "revision"] as const).filter((name) => declaration[name] !== undefined);
  const isIssued = Object.values(declaration.fields).some(isShownOnce);
  const filled = Object.entries(declaration.fields).filter(([, field]) => readOptions(field)["filled"] === true);
  return [
    ...options.map((name) => `${name} is for existing tables; name the table (table: "…"), or leave ${name} out`),
    ...filled.map(([name]) => `field ${name}: filled is for existing tables; use default instead`),
    ...(isIssued && id !== "text"
      ? ['the ids of records with shownOnce() are parts of its values; write id: "text"']
      : []),
    ...(id === "text" && !isIssued
      ? ['only existing tables have ids that are texts; name the table (table: "…"), or use "uuid"']
      : []),
  ];
}

function mistakesOver(declaration: ResourceDeclaration<Fields>, table: string): readonly string[] {
  const { fields, columns = {}, writes = [], revision, search = [], removed = {}, within, filters = {} } = declaration;
  const named = ["id", ...Object.keys(fields), ...(within === undefined ? [] : [`${within.name}_id`])];
  const mistakes: string[] = [];
  for (const [field, column] of Object.entries(columns)) {
    if (!named.includes(field)) mistakes.push(`columns.${field}: there is no such field${suggestion(field, named)}`);
    if (!isText(column) || column === "")
      mistakes.push(`columns.${field}: it has to be the name of a column of ${table}`);
  }
  const columnNames = named.map((name) => (columns as Readonly<Record<string, string>>)[name] ?? name);
  for (const [at, column] of columnNames.entries())
    if (columnNames.indexOf(column) < at)
      mistakes.push(
        `columns.${named[at]!}: the column ${shownName(column)} already belongs to ${named[columnNames.indexOf(column)]!}; name another column`,
      );
  if (search.length > 0)
    mistakes.push(`search needs columns that Latchkey adds, and ${table} is never changed; leave it out`);
  if (Object.keys(removed).length > 0) mistakes.push(`removed: columns of ${table} are never removed; leave it out`);
  for (const [field, declared] of Object.entries(filters))
    if (readOperators(declared).some((operator) => operator === "icontains" || operator === "istarts"))
      mistakes.push(
        `filter ${field}: a case-insensitive comparison needs a column that Latchkey adds, and ${table} is never changed; use contains or starts`,
      );
  for (const [name, field] of Object.entries(fields)) mistakes.push(...fieldMistakes(name, field, writes, table));
  if (isObject(revision)) mistakes.push(...revisionMistakes(String(revision["field"]), fields));
  return mistakes;
}

function fieldMistakes(name: string, field: Field, writes: readonly string[], table: string): readonly string[] {
  const { unique, renamedFrom, convert, backfill } = readOptions(field);
  return [
    ...(unique === "case-insensitive"
      ? [
          `field ${name}: "case-insensitive" needs a column that Latchkey adds, and ${table} is never changed; use unique: true`,
        ]
      : []),
    ...((renamedFrom ?? convert ?? backfill) === undefined
      ? []
      : [`field ${name}: ${table} is never migrated; leave renamedFrom, convert and backfill out`]),
    ...(isObject(field) && isObject(field.kind) && field.kind.column?.number === true
      ? [
          `field ${name}: json: "number" is not for existing tables; leave it out, and the decimals of ${table} are texts`,
        ]
      : []),
    ...(isObject(field) && isObject(field.kind) && field.kind.members !== undefined
      ? [
          `field ${name}: its ids need a column and a table that Latchkey adds, and ${table} is never changed; leave it out`,
        ]
      : []),
    ...(isShownOnce(field) ? [`field ${name}: shownOnce() is not for existing tables; leave it out`] : []),
    ...(writes.length === 0 && readOptions(field)["transient"] === true
      ? [`field ${name}: ${table} is read-only here, so the option has no effect; leave it out`]
      : []),
  ];
}

function revisionMistakes(name: string, fields: Fields): readonly string[] {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (field === undefined) return [`revision: there is no field ${name}${suggestion(name, Object.keys(fields))}`];
  const isCounter = isObject(field) && isObject(field.kind) && field.kind.column?.type === "integer";
  return isCounter && readOptions(field)["readOnly"] === true && readOptions(field)["optional"] !== true
    ? []
    : [`revision: ${name} has to count the changes of a row; declare it integer({ readOnly: true, filled: true })`];
}

/**
 * Returns the operators of a filter. Returns an empty list for any other value, because `collectMistakes` reports that
 * mistake.
 */
function readOperators(declared: unknown): readonly unknown[] {
  const operators: unknown = isObject(declared) ? declared["operators"] : declared;
  return Array.isArray(operators) ? operators : [];
}

/**
 * Returns the options of a field. Returns an empty object for any other value, because `collectMistakes` reports that
 * mistake.
 */
function readOptions(field: unknown): Readonly<Record<string, unknown>> {
  return isObject(field) && isObject(field["options"]) ? field["options"] : {};
}

function isShownOnce(field: unknown): boolean {
  return isObject(field) && isObject(field["kind"]) && field["kind"]["once"] !== undefined;
}
