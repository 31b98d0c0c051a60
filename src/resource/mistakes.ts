import {
  aBoolean,
  aFunction,
  isObject,
  isSnakeCase,
  isText,
  membersMistakes,
  namedMembers,
  buildChoiceCheck,
  optional,
  shown,
  buildListCheck,
  text,
  texts,
  joinMistakes,
  type ValueCheck,
  type Checks,
  type Members,
} from "../core/checking/members.ts";
import { suggestion } from "../core/checking/nearest.ts";
import { otherCopyMistake } from "../core/copy.ts";
import { aDeprecation } from "../core/deprecation.ts";
import type { Operator } from "../core/operators.ts";
import type { Fields, ResourceDeclaration } from "./declaration/declaration.ts";
import type { Field } from "./declaration/field.ts";
import { aResourceLabel } from "./declaration/label.ts";
import { defaultSortMistakes } from "./default-sort.ts";
import { idField } from "./ids.ts";
import { ownValueMistakes, shapeMistakes } from "./kinds/field-mistakes.ts";
import { labelFieldMistakes } from "./label-field.ts";
import { filterMistakes, sortMistakes } from "./list-mistakes.ts";
import { pageSizeMistake } from "./page-size.ts";
import { reservedMistakes, reservedNames } from "./reserved.ts";
import { fieldRuleMistakes } from "./rule-mistakes.ts";
import { searchMistakes } from "./search.ts";
import { tableMistakes } from "./tables/existing-table.ts";
import { aListOfSets, uniqueMistakes } from "./unique-sets.ts";

const PATH_SEGMENT = /^[a-z][a-z0-9]*([_-][a-z0-9]+)*$/;

/** Returns every mistake in a declaration: its location, its reason and its fix. */
export function collectMistakes(declaration: unknown): readonly string[] {
  if (!isObject(declaration)) return [`resource: it is ${shown(declaration)}; write defineResource({ name, fields })`];
  const place = `resource ${isText(declaration["name"]) && declaration["name"] !== "" ? declaration["name"] : "(no name)"}`;
  const malformed = membersMistakes(declaration, declarationMembers);
  const found = [...malformed, ...(canSayMore(declaration) ? mistakesWithin(filterSound(declaration)) : [])];
  return found.map((mistake) => `${place}: ${mistake}`);
}

export const aResource: ValueCheck = (value) =>
  otherCopyMistake(value) ??
  (isObject(value) && isText(value["path"]) ? null : "it has to be a resource; declare it with defineResource");

/** The members that other members refer to. */
const namedParts = ["name", "plural", "within", "id", "fields", "table", "columns", "computed"] as const;

function canSayMore(declaration: Members): boolean {
  return namedParts.every((member) => declarationMembers[member](declaration[member]) === null);
}

/** Removes malformed or misspelled members, because their content cannot be checked. */
function filterSound(declaration: Members): ResourceDeclaration<Fields> {
  const sound = Object.entries(declarationMembers).filter(([member, check]) => check(declaration[member]) === null);
  return Object.fromEntries(
    sound.map(([member]) => [member, declaration[member]]),
  ) as unknown as ResourceDeclaration<Fields>;
}

const declarationMembers: Readonly<Record<keyof ResourceDeclaration<Fields>, Checks[string]>> = {
  name: (value) => (isText(value) ? null : "it has to be a text, like order_line"),
  plural: optional((value) => (isText(value) ? null : "it has to be a text, like order-lines")),
  within: optional(aResource),
  id: optional(buildChoiceCheck("integer", "uuid", "text")),
  fields: namedMembers,
  table: optional(text),
  columns: optional(namedMembers),
  writes: optional(buildListCheck("create", "update", "delete")),
  revision: optional((value) =>
    value === "digest" || (isObject(value) && isText(value["field"]))
      ? null
      : 'it has to be "digest", or { field: "lock_version" }',
  ),
  computed: optional(namedMembers),
  filters: optional(namedMembers),
  sorts: optional(texts),
  defaultSort: optional((value) => (isText(value) ? null : 'it has to be a text, like "-created_at"')),
  unique: optional(aListOfSets),
  search: optional(texts),
  removed: optional(namedMembers),
  pageSize: optional((value) =>
    isObject(value) ? pageSizeMistake(value) : "it has to be an object, like { default: 20, maximum: 100 }",
  ),
  scans: optional(aBoolean),
  check: optional(aFunction),
  label: optional(aResourceLabel),
  labelField: optional(text),
  description: optional((value) => (isText(value) ? null : "it has to be a text")),
};

function mistakesWithin(declaration: ResourceDeclaration<Fields>): readonly string[] {
  const {
    name,
    plural,
    fields,
    computed = {},
    filters = {},
    sorts = [],
    search = [],
    removed = {},
    within,
    id = "integer",
  } = declaration;
  const mistakes: string[] = [
    ...tableMistakes(declaration),
    ...defaultSortMistakes(declaration),
    ...uniqueMistakes(declaration),
    ...labelFieldMistakes(declaration),
  ];
  const at = (place: string, found: readonly string[]): number =>
    mistakes.push(...found.map((each) => `${place}: ${each}`));
  if (!isSnakeCase(name))
    mistakes.push(`the name "${name}" must be lower-case words joined by underscores, like order_line`);
  if (plural !== undefined && !PATH_SEGMENT.test(plural))
    mistakes.push(`the plural "${plural}" must be lower-case words joined by hyphens or underscores`);
  for (const [field, declared] of Object.entries(fields)) {
    if (within !== undefined && field === `${within.name}_id`)
      at(`field ${field}`, [
        `the path contains it already, because the resource is within ${within.plural}; leave it out`,
      ]);
    const malformed = shapeMistakes(declared);
    at(`field ${field}`, malformed.length > 0 ? malformed : fieldMistakes(field, declared));
  }
  for (const [field, declared] of Object.entries<unknown>(computed))
    at(
      `computed ${field}`,
      Object.hasOwn(fields, field) ? ["there is a field of this name"] : computedMistakes(field, declared),
    );
  const sound = Object.fromEntries(Object.entries(fields).filter(([, field]) => shapeMistakes(field).length === 0));
  const searched = (field: string, find: (field: Field) => readonly string[]): readonly string[] => {
    if (Object.hasOwn(sound, field)) return find(sound[field]!);
    if (Object.hasOwn(computed, field))
      return ["it is computed from each record, so no index contains it; leave it out"];
    // If the field exists, its own mistakes are reported with the field.
    return Object.hasOwn(fields, field) ? [] : [`there is no such field${suggestion(field, Object.keys(fields))}`];
  };
  for (const [field, declared = []] of Object.entries(filters)) {
    const operators: unknown = isObject(declared) ? declared["operators"] : declared;
    if (isObject(declared)) at(`filter ${field}`, membersMistakes(declared, filterMembers));
    const find = (declared: Field): readonly string[] =>
      texts(operators) === null
        ? filterMistakes(field, declared, operators as readonly Operator[])
        : ['the operators have to be a list, like ["eq"]'];
    at(`filter ${field}`, field === "id" ? find(idField({ id })) : searched(field, find));
  }
  for (const field of sorts)
    at(
      `sort ${field}`,
      field === "id"
        ? ["every list can be sorted by id already; leave it out"]
        : searched(field, (declared) => sortMistakes(declared)),
    );
  for (const field of search) at(`search ${field}`, searched(field, searchMistakes));
  for (const [field, until] of Object.entries(removed)) at(`removed ${field}`, removedMistakes(field, until, fields));
  const once = Object.entries(sound).filter(([, { kind }]) => kind.once !== undefined);
  for (const [field, { kind }] of once)
    if (Object.hasOwn(fields, kind.once!.column))
      at(`field ${field}`, [
        `its digest is in the column ${kind.once!.column}, which is a field too; name another column`,
      ]);
  if (once.length > 1) mistakes.push("a record has one field of shownOnce(), whose beginning is its id; keep one");
  for (const [field, { options }] of Object.entries(sound))
    at(`field ${field}`, renamedMistakes(options.renamedFrom, fields, removed));
  if (search.length > 0 && Object.hasOwn(filters, "search"))
    at("filter search", ["the list has a parameter of this name; rename the field or leave the filter out"]);
  return mistakes;
}

const filterMembers: Checks = { operators: () => null, deprecated: optional(aDeprecation) };

const computedMembers: Checks = {
  as: (value) => joinMistakes(shapeMistakes(value)),
  from: optional(aFunction),
  sql: optional((value) => {
    const expressions = isText(value) ? { sqlite: value, postgres: value } : value;
    if (!isObject(expressions) || Object.keys(expressions).length === 0)
      return `it is ${shown(value)}; it has to be an expression, like '"count" * "price"', or one for each database`;
    return joinMistakes(
      membersMistakes(expressions, { sqlite: optional(anExpression), postgres: optional(anExpression) }),
    );
  }),
};

function anExpression(value: unknown): string | null {
  return isText(value) && value.trim() !== "" ? null : `it is ${shown(value)}, not an expression`;
}

/** The options that a computed field cannot have, because it is not stored. */
const OF_COLUMNS = [
  "readOnly",
  "writeOnly",
  "transient",
  "confidential",
  "unique",
  "default",
  "generated",
  "regenerated",
  "renamedFrom",
  "convert",
  "backfill",
  "write",
] as const;

function computedMistakes(name: string, declared: unknown): string[] {
  if (!isSnakeCase(name) || name === "id")
    return ["the name must be lower-case words joined by underscores, and not id"];
  if (reservedNames.has(name)) return [...reservedMistakes(name)];
  if (!isObject(declared)) return [`it is ${shown(declared)}; it has to be like { as: text(), from: (record) => … }`];
  const mistakes = membersMistakes(declared, computedMembers);
  if (mistakes.length > 0) return mistakes;
  const [from, sql] = [declared["from"], declared["sql"]];
  if (from === undefined && sql === undefined) return ["from is missing; or write sql, if the database computes it"];
  if (from !== undefined && sql !== undefined)
    return ["it is made by a function (from) or by the database (sql); write one of the two"];
  const { options } = declared["as"] as Field;
  return OF_COLUMNS.filter((option) => options[option] !== undefined).map(
    (option) => `${option} applies to stored fields, and this field is computed; leave it out`,
  );
}

function renamedMistakes(from: string | undefined, fields: Fields, removed: object): string[] {
  if (from === undefined) return [];
  if (Object.hasOwn(fields, from)) return [`field ${from} still exists; remove it, or leave renamedFrom out`];
  return Object.hasOwn(removed, from)
    ? [
        `${from} is in removed, and a removed column cannot become this field; leave renamedFrom out, or take ${from} out of removed`,
      ]
    : [];
}

function removedMistakes(name: string, until: unknown, fields: Fields): string[] {
  if (Object.hasOwn(fields, name)) return ["there is a field of this name; leave one of the two out"];
  return isText(until) && /^\d{4}-(0[1-9]|1[0-2])$/.test(until)
    ? []
    : [`it is ${shown(until)}; it has to be the month until which its values stay, like "2027-01"`];
}

function fieldMistakes(name: string, { kind, options }: Field): string[] {
  const mistakes: string[] = [];
  if (!isSnakeCase(name)) mistakes.push("the name must be lower-case words joined by underscores, like unit_price");
  if (name === "id") mistakes.push("every record has an id already; leave it out of the fields");
  mistakes.push(...reservedMistakes(name));
  if (kind.once !== undefined) return mistakes;
  if (options.readOnly === true && options.writeOnly === true)
    mistakes.push("readOnly and writeOnly exclude each other; keep one");
  if (options.transient === true && options.writeOnly !== true)
    mistakes.push("transient fields are not stored, so they cannot be shown; add writeOnly");
  if (options.confidential === true && options.writeOnly !== true)
    mistakes.push("confidential fields are never shown; add writeOnly");
  if (options.generated !== undefined && options.default !== undefined)
    mistakes.push("generated and default exclude each other; keep one");
  if (options.regenerated === true && options.generated === undefined)
    mistakes.push("regenerated says when generated is called again; add generated too");
  mistakes.push(...originMistakes(name, { kind, options }));
  mistakes.push(...fieldRuleMistakes({ kind, options }));
  if (kind.column.type === "json" && options.unique !== undefined && options.unique !== false)
    mistakes.push("a JSON value cannot be unique; leave unique out");
  if (typeof options.default !== "function")
    mistakes.push(...ownValueMistakes("default", { kind, options }, options.default));
  if (options.example !== null) mistakes.push(...ownValueMistakes("example", { kind, options }, options.example));
  return mistakes;
}

function originMistakes(name: string, { kind, options }: Field): string[] {
  const { renamedFrom, convert, backfill, transient } = options;
  const mistakes: string[] = [];
  if (transient === true && (renamedFrom ?? convert ?? backfill) !== undefined)
    mistakes.push("a transient field has no stored values; leave renamedFrom, convert and backfill out");
  if (renamedFrom === name) mistakes.push("renamedFrom is its own name; leave it out");
  if (typeof backfill !== "function") mistakes.push(...ownValueMistakes("backfill", { kind, options }, backfill));
  return mistakes;
}
