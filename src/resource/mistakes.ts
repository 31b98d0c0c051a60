import type { Fields, Operator, ResourceDeclaration } from "./declaration.ts";
import { Flaw, isShown, type Field } from "./field.ts";
import { integer } from "./fields.ts";

const NAME = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
const PATH_SEGMENT = /^[a-z][a-z0-9]*([_-][a-z0-9]+)*$/;
const ORDERED = new Set<Operator>(["lt", "lte", "gt", "gte"]);
const TEXTUAL = new Set<Operator>(["contains", "starts"]);
const OPERATORS = new Set<Operator>(["eq", "ne", "lt", "lte", "gt", "gte", "in", "contains", "starts", "null"]);
const LIST_PARAMETERS = new Set(["limit", "cursor", "sort", "fields"]);
const MAX_SORTED_LENGTH = 1000;
/** What every record has, as if it were declared. */
const ID = integer({ readOnly: true, min: 1 });

/** Everything that is wrong with a declaration: where it stands, why, and the cure. */
export function mistakesOf(declaration: ResourceDeclaration<Fields>, parentColumn: string | null): readonly string[] {
  const { name, plural, fields, filters = {}, sorts = [], within } = declaration;
  const mistakes: string[] = [];
  const at = (place: string, found: readonly string[]): number =>
    mistakes.push(...found.map((each) => `${place}: ${each}`));
  if (!NAME.test(name))
    mistakes.push(`the name "${name}" must be lower-case words joined by underscores, like order_line`);
  if (plural !== undefined && !PATH_SEGMENT.test(plural))
    mistakes.push(`the plural "${plural}" must be lower-case words joined by hyphens or underscores`);
  for (const [field, declared] of Object.entries(fields)) {
    if (field === parentColumn)
      at(`field ${field}`, [
        `the path gives it already, because the resource stands within ${within!.plural}; leave it out`,
      ]);
    at(`field ${field}`, fieldMistakes(field, declared));
  }
  for (const [field, operators] of Object.entries(filters))
    at(`filter ${field}`, filterMistakes(field, field === "id" ? ID : own(fields, field), operators ?? []));
  for (const field of sorts) at(`sort ${field}`, sortMistakes(field, own(fields, field)));
  return mistakes;
}

function own(fields: Fields, name: string): Field | null {
  return Object.hasOwn(fields, name) ? fields[name]! : null;
}

function fieldMistakes(name: string, { kind, options }: Field): string[] {
  const mistakes: string[] = [];
  if (!NAME.test(name)) mistakes.push("the name must be lower-case words joined by underscores, like unit_price");
  if (name === "id") mistakes.push("every record has an id already; leave it out of the fields");
  if (options.readOnly === true && options.writeOnly === true)
    mistakes.push("readOnly and writeOnly exclude each other; keep one");
  if (options.transient === true && options.writeOnly !== true)
    mistakes.push("transient fields are not kept, so nothing could be shown; add writeOnly");
  if (options.generated !== undefined && options.default !== undefined)
    mistakes.push("generated and default exclude each other; keep one");
  if (kind.column.type === "json" && options.unique !== undefined && options.unique !== false)
    mistakes.push("a JSON value cannot be unique; leave unique out");
  if (options.default !== undefined && typeof options.default !== "function") {
    const read = kind.parse(options.default);
    if (read instanceof Flaw) mistakes.push(`its own default is not valid: ${read.detail}`);
  }
  return mistakes;
}

function filterMistakes(name: string, field: Field | null, operators: readonly Operator[]): string[] {
  if (field === null) return ["there is no such field; declare it or leave the filter out"];
  const mistakes: string[] = [];
  const { type } = field.kind.column;
  if (LIST_PARAMETERS.has(name))
    mistakes.push("every list has a parameter of this name; rename the field or leave the filter out");
  if (!isShown(field))
    mistakes.push("a field that is never shown must not be searched, for that would show it; leave the filter out");
  if (type === "json") mistakes.push("a JSON value cannot be filtered by; leave the filter out");
  if (operators.length === 0) mistakes.push('no operator is named; name some, like ["eq"], or leave the filter out');
  for (const operator of operators) {
    if (!OPERATORS.has(operator))
      mistakes.push(`there is no operator ${String(operator)}; take some of ${[...OPERATORS].join(", ")}`);
    if (TEXTUAL.has(operator) && type !== "text") mistakes.push(`${operator} needs a text; leave the operator out`);
    if (ORDERED.has(operator) && type === "boolean")
      mistakes.push(`${operator} has no meaning for true and false; leave the operator out`);
    if (operator === "null" && field.options.optional !== true)
      mistakes.push("null needs an optional field; make it one or leave the operator out");
  }
  return mistakes;
}

function sortMistakes(name: string, field: Field | null): string[] {
  if (name === "id") return ["every list can be sorted by id already; leave it out"];
  if (field === null) return ["there is no such field; declare it or leave the sort out"];
  const { kind, options } = field;
  if (!isShown(field))
    return ["a field that is never shown must not be sorted by, for that would show it; leave the sort out"];
  if (kind.column.type === "json") return ["a JSON value cannot be sorted by; leave the sort out"];
  if (options.optional === true && options.default === undefined)
    return ["null has no place in an order; give the field a default or leave the sort out"];
  // Followed links must stay within the request line, which is 8 KiB.
  if (Number(kind.schema["maxLength"] ?? 0) > MAX_SORTED_LENGTH)
    return [
      `the value goes into addresses, which are not long enough for it; give it a max of ${MAX_SORTED_LENGTH} or less`,
    ];
  return [];
}
