import type { Issue } from "../problem/problem.ts";
import { Flaw } from "./field.ts";
import { shownFields, type Operator, type Resource } from "./resource.ts";

/** The rows, order and shape that a caller asked a list for. */
export interface ListRequest {
  readonly filters: readonly Filter[];
  /** Total: `id` is the last where it was not named. */
  readonly sort: readonly SortField[];
  readonly limit: number;
  /** As it was sent; whoever signed it reads it. */
  readonly cursor: string | null;
  /** The fields to show, in declared order; null: all. */
  readonly fields: readonly string[] | null;
}

export interface Filter {
  readonly field: string;
  readonly operator: Operator;
  readonly value: FilterValue;
}

export type FilterValue = string | number | boolean | readonly (string | number | boolean)[];

export interface SortField {
  readonly field: string;
  readonly descending: boolean;
}

/** They look at a part of a text, which need not be one that could be stored. */
const TEXTUAL = new Set<Operator>(["contains", "starts", "icontains", "istarts"]);
/** How many records a page has unless the caller says it. */
export const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;
const MAX_FILTERS = 20;
const MAX_VALUES = 1000;

/** Reads the query of a list. Gives every issue at once; its pointers are `?name`. */
export function readListRequest(
  resource: Resource,
  parameters: readonly (readonly [name: string, value: string])[],
): ListRequest | readonly Issue[] {
  const issues: Issue[] = [];
  const say = (name: string, code: string, detail: string): number =>
    issues.push({ pointer: `?${name}`, code, detail });
  const filters: Filter[] = [];
  const once = new Map<string, string>();
  for (const [name, value] of parameters) {
    if (name === "limit" || name === "cursor" || name === "sort" || name === "fields") {
      if (once.has(name)) say(name, "repeated", "The parameter must be given once.");
      once.set(name, value);
      continue;
    }
    const filter = readFilter(resource, name, value);
    if (filter instanceof Flaw) say(name, filter.code, filter.detail);
    else filters.push(filter);
  }
  if (filters.length > MAX_FILTERS)
    say(filters[MAX_FILTERS]!.field, "too_many", `At most ${MAX_FILTERS} filters are allowed.`);
  const limit = readLimit(once.get("limit"));
  if (limit instanceof Flaw) say("limit", limit.code, limit.detail);
  const sort = readSort(resource, once.get("sort"));
  if (sort instanceof Flaw) say("sort", sort.code, sort.detail);
  const fields = readFields(resource, once.get("fields"));
  if (fields instanceof Flaw) say("fields", fields.code, fields.detail);
  if (issues.length > 0 || limit instanceof Flaw || sort instanceof Flaw || fields instanceof Flaw) return issues;
  return { filters, sort, limit, cursor: once.get("cursor") ?? null, fields };
}

/** Reads `?limit=` and `?cursor=` alone, for a list that can be asked for nothing else. */
export function readPageRequest(
  parameters: readonly (readonly [name: string, value: string])[],
): Pick<ListRequest, "limit" | "cursor"> | { readonly issues: readonly Issue[] } {
  const issues: Issue[] = [];
  const once = new Map<string, string>();
  for (const [name, value] of parameters) {
    const isKnown = name === "limit" || name === "cursor";
    if (!isKnown)
      issues.push({ pointer: `?${name}`, code: "unknown_parameter", detail: "There is no such parameter." });
    else if (once.has(name))
      issues.push({ pointer: `?${name}`, code: "repeated", detail: "The parameter must be given once." });
    once.set(name, value);
  }
  const limit = readLimit(once.get("limit"));
  if (limit instanceof Flaw) issues.push({ pointer: "?limit", code: limit.code, detail: limit.detail });
  if (issues.length > 0 || limit instanceof Flaw) return { issues };
  return { limit, cursor: once.get("cursor") ?? null };
}

/** Reads `?fields=` alone, for a single record. */
export function readFieldsRequest(
  resource: Resource,
  parameters: readonly (readonly [name: string, value: string])[],
): readonly string[] | null | readonly Issue[] {
  const issues: Issue[] = [];
  let fields: readonly string[] | null = null;
  for (const [at, [name, value]] of parameters.entries()) {
    const read =
      name === "fields" && at === 0
        ? readFields(resource, value)
        : new Flaw(
            name === "fields" ? "repeated" : "unknown_parameter",
            name === "fields" ? "The parameter must be given once." : "There is no such parameter.",
          );
    if (read instanceof Flaw) issues.push({ pointer: `?${name}`, code: read.code, detail: read.detail });
    else fields = read;
  }
  return issues.length > 0 ? issues : fields;
}

function readFilter(resource: Resource, name: string, text: string): Filter | Flaw {
  const match = /^([a-z][a-z0-9_]*)(?:\[([a-z]+)\])?$/.exec(name);
  const field = match?.[1];
  const allowed = field === undefined ? undefined : resource.filters.get(field);
  if (field === undefined || allowed === undefined) return new Flaw("unknown_parameter", "There is no such parameter.");
  const operator = (match![2] ?? "eq") as Operator;
  if (!allowed.includes(operator))
    return new Flaw("unknown_parameter", `The field can be filtered by ${allowed.join(", ")}.`);
  const value = readFilterValue(resource, field, operator, text);
  return value instanceof Flaw ? value : { field, operator, value };
}

function readFilterValue(resource: Resource, field: string, operator: Operator, text: string): FilterValue | Flaw {
  if (operator === "null")
    return text === "true" ? true : text === "false" ? false : new Flaw("invalid", "true or false is required.");
  if (operator !== "in") return readOne(resource, field, operator, text);
  const parts = text.split(",");
  if (parts.length > MAX_VALUES) return new Flaw("too_many", `At most ${MAX_VALUES} values are allowed.`);
  const values: (string | number | boolean)[] = [];
  for (const part of parts) {
    const value = readOne(resource, field, operator, part);
    if (value instanceof Flaw) return value;
    values.push(value);
  }
  return values;
}

/** A filter asks whether a value occurs; it need not be one that could be stored, only of the right type. */
function readOne(
  resource: Resource,
  field: string,
  operator: Operator,
  text: string,
): string | number | boolean | Flaw {
  const kind = field === "id" ? null : resource.fields[field]!.kind;
  if (kind === null || kind.column.type === "integer") {
    const number = /^-?(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
    return Number.isSafeInteger(number) ? number : new Flaw("invalid", "A whole number is required.");
  }
  if (kind.column.type === "decimal") {
    const [, digits = "", fraction = ""] = /^-?(0|[1-9]\d*)(?:\.(\d+))?$/.exec(text) ?? [];
    const scale = kind.column.scale ?? 0;
    // What a store keeps has sixteen digits at most; two more do no harm.
    return digits !== "" && digits.length + scale <= 18 && fraction.length <= scale
      ? text
      : new Flaw("invalid", "A decimal number is required.");
  }
  if (kind.column.type === "text" && (kind.name !== "enumeration" || TEXTUAL.has(operator))) {
    // NUL cannot be stored by every engine, and no stored text has one.
    return text.includes("\0") ? new Flaw("invalid", "Control characters are not allowed.") : text;
  }
  return kind.parseText(text) as string | boolean | Flaw;
}

function readLimit(text: string | undefined): number | Flaw {
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : 0;
  return limit >= 1 && limit <= MAX_LIMIT
    ? limit
    : new Flaw("invalid", `A whole number from 1 to ${MAX_LIMIT} is required.`);
}

function readSort(resource: Resource, text: string | undefined): readonly SortField[] | Flaw {
  const sort: SortField[] = [];
  for (const part of text === undefined ? [] : text.split(",")) {
    const descending = part.startsWith("-");
    const field = descending ? part.slice(1) : part;
    if (!resource.sorts.includes(field))
      return new Flaw("invalid", `The list can be sorted by ${resource.sorts.join(", ")}.`);
    if (sort.some((each) => each.field === field)) return new Flaw("invalid", `${field} is named twice.`);
    sort.push({ field, descending });
  }
  return sort.some((each) => each.field === "id") ? sort : [...sort, { field: "id", descending: false }];
}

function readFields(resource: Resource, text: string | undefined): readonly string[] | null | Flaw {
  if (text === undefined) return null;
  const shown = shownFields(resource);
  const asked = new Set<string>();
  for (const field of text.split(",")) {
    if (!shown.includes(field)) return new Flaw("invalid", `The fields are ${shown.join(", ")}.`);
    // The links of a page repeat the query, and a header block has its limits.
    if (asked.has(field)) return new Flaw("invalid", `${field} is named twice.`);
    asked.add(field);
  }
  return shown.filter((field) => asked.has(field));
}
