import { meantName } from "../core/checking/nearest.ts";
import type { Issue } from "../core/problem/problem.ts";
import type { PageSize, SortField } from "./declaration/declaration.ts";
import { Flaw } from "./declaration/field.ts";
import { breakTies, readSortNames } from "./default-sort.ts";
import { comparedKind, readFilterValue, type FilterValue } from "./filter-value.ts";
import { getKind } from "./ids.ts";
import { DEFAULT_LIMIT, MAX_LIMIT } from "./page-size.ts";
import { shownFields, type Operator, type Resource } from "./resource.ts";
import { readSearch } from "./search.ts";

/** The rows, order and shape of a requested list. */
export interface ListRequest {
  readonly filters: readonly Filter[];
  /** The prefixes to search for. For each one, a record must have a word that begins with it. */
  readonly search: readonly string[];
  /**
   * A total order: `id` is added at the end if it is not named. If the caller asked for no order, it is the
   * `defaultSort` of the resource itself.
   */
  readonly sort: readonly SortField[];
  readonly limit: number;
  /** The cursor as it was sent. It is not verified here. */
  readonly cursor: string | null;
  /** The fields to show, in declared order. Null to show all. */
  readonly fields: readonly string[] | null;
  /** The related records to embed in each record, in declared order. */
  readonly expand: readonly string[];
}

export interface Filter {
  readonly field: string;
  readonly operator: Operator;
  readonly value: FilterValue;
}

const MAX_FILTERS = 20;

/**
 * The parts of a list request that occur at most once: as parameters in a URL, or as members of the body of a `QUERY`.
 */
export type AskedOnce = Omit<ListRequest, "filters">;

/** Reports a flaw in the parameter of this name, or in the member of this name in the body of a `QUERY`. */
type Say = (name: string, flaw: Flaw) => void;

type QueryParameters = readonly (readonly [name: string, value: string])[];

/** Reads the parameters with these names. Reports parameters with other names, and parameters that are given twice. */
function readParameters(parameters: QueryParameters, names: readonly string[]) {
  const issues: Issue[] = [];
  const say: Say = (name, { code, detail }) => void issues.push({ pointer: `?${name}`, code, detail });
  const once = new Map<string, string>();
  for (const [name, value] of parameters) {
    if (!names.includes(name)) say(name, new Flaw("unknown_parameter", "There is no such parameter."));
    else if (once.has(name)) say(name, new Flaw("repeated", "The parameter must be given once."));
    once.set(name, value);
  }
  return { once, issues, say };
}

const ONCE = new Set(["limit", "cursor", "sort", "fields"]);

/** Reads the query of a list. Reports all issues together. Their pointers are `?name`. */
export function readListRequest(
  resource: Resource,
  parameters: QueryParameters,
  expandable: readonly string[] = [],
): ListRequest | readonly Issue[] {
  const issues: Issue[] = [];
  const say: Say = (name, { code, detail }) => void issues.push({ pointer: `?${name}`, code, detail });
  const filters: Filter[] = [];
  const once = new Map<string, string>();
  for (const [name, value] of parameters) {
    if (isOnce(resource, name) || (name === "expand" && expandable.length > 0)) {
      if (once.has(name)) say(name, new Flaw("repeated", "The parameter must be given once."));
      once.set(name, value);
      continue;
    }
    const filter = readFilter(resource, name, value);
    if (filter instanceof Flaw) say(name, filter);
    else filters.push(filter);
  }
  if (filters.length > MAX_FILTERS)
    say(filters[MAX_FILTERS]!.field, new Flaw("too_many", `At most ${MAX_FILTERS} filters are allowed.`));
  const request = readOnce(resource, once, expandable, say);
  return issues.length > 0 || request === null ? issues : { filters, ...request };
}

/** Reads the parts that occur at most once. Reports each mistake with `say`. Returns null if there is any. */
export function readOnce(
  resource: Resource,
  once: ReadonlyMap<string, string>,
  expandable: readonly string[],
  say: Say,
): AskedOnce | null {
  const read = <T>(name: string, parse: (text: string | undefined) => T | Flaw): T | null => {
    const value = parse(once.get(name));
    if (!(value instanceof Flaw)) return value;
    say(name, value);
    isSound = false;
    return null;
  };
  let isSound = true;
  const limit = read("limit", (text) => readLimit(resource.pageSize, text));
  const sort = read("sort", (text) => readSort(resource, text));
  const fields = read("fields", (text) => readFields(resource, text));
  const search = read("search", (text) => readSearch(resource, text));
  const expand = read("expand", (text) => readExpand(expandable, text));
  if (!isSound || limit === null || sort === null || search === null || expand === null) return null;
  return { limit, sort, fields, search, expand, cursor: once.get("cursor") ?? null };
}

/**
 * Returns true if the parameter occurs at most once. In a resource without a search, `search` may be the name of a
 * filter.
 */
export function isOnce({ search }: Resource, name: string): boolean {
  return ONCE.has(name) || (name === "search" && search.length > 0);
}

/** Reads only `?limit=` and `?cursor=`, for a list without other parameters. */
export function readPageRequest(parameters: QueryParameters): Pick<ListRequest, "limit" | "cursor"> | readonly Issue[] {
  const { once, issues, say } = readParameters(parameters, ["limit", "cursor"]);
  const limit = readLimit({ default: DEFAULT_LIMIT, maximum: MAX_LIMIT }, once.get("limit"));
  if (limit instanceof Flaw) say("limit", limit);
  if (issues.length > 0 || limit instanceof Flaw) return issues;
  return { limit, cursor: once.get("cursor") ?? null };
}

/** Reads `?fields=` and `?expand=` of a single record. */
export function readRecordRequest(
  resource: Resource,
  parameters: QueryParameters,
  expandable: readonly string[],
): Pick<ListRequest, "fields" | "expand"> | readonly Issue[] {
  const { once, issues, say } = readParameters(parameters, ["fields", "expand"]);
  const fields = readFields(resource, once.get("fields"));
  if (fields instanceof Flaw) say("fields", fields);
  const expand = readExpand(expandable, once.get("expand"));
  if (expand instanceof Flaw) say("expand", expand);
  if (issues.length > 0 || fields instanceof Flaw || expand instanceof Flaw) return issues;
  return { fields, expand };
}

/**
 * Reads the names of related records to embed: `user,items`, and `items.product` for records to embed in each of the
 * items.
 */
export function readExpand(expandable: readonly string[], text: string | undefined): readonly string[] | Flaw {
  if (text === undefined) return [];
  const requestedNames = new Set<string>();
  for (const name of text.split(",")) {
    if (!expandable.includes(name))
      return new Flaw(
        "invalid",
        expandable.length === 0
          ? "Nothing can be expanded here."
          : `The names for expand are ${expandable.join(", ")}.`,
      );
    if (requestedNames.has(name)) return new Flaw("invalid", `${name} is named twice.`);
    requestedNames.add(name);
  }
  return expandable.filter((name) => requestedNames.has(name));
}

function readFilter(resource: Resource, name: string, text: string): Filter | Flaw {
  const named = filtersNamedBy(resource).get(name);
  if (named === undefined) return noFilter(resource, name);
  const { field, operator } = named;
  const value = readFilterValue(resource, field, operator, text);
  if (!(value instanceof Flaw)) return { field, operator, value };
  const lostPlus = comparedKind(getKind(resource, field)).column.type === "date-time" && LOST_PLUS.test(text);
  return lostPlus ? new Flaw(value.code, `${value.detail} In an address, + is a blank: write it as %2B.`) : value;
}

/** The offset of a time zone whose plus was decoded as a space. */
const LOST_PLUS = /\d \d\d:\d\d(?:,|$)/;

type NamedFilter = Pick<Filter, "field" | "operator">;

const cache = new WeakMap<Resource, ReadonlyMap<string, NamedFilter>>();

/** Returns the filters of a resource by the names of their parameters: `price[lt]`, and `price` for `price[eq]`. */
function filtersNamedBy(resource: Resource): ReadonlyMap<string, NamedFilter> {
  let named = cache.get(resource);
  if (named === undefined) cache.set(resource, (named = new Map(collectFilterNames(resource))));
  return named;
}

function collectFilterNames({ filters }: Resource): readonly (readonly [string, NamedFilter])[] {
  return [...filters].flatMap(([field, operators]) =>
    operators.flatMap((operator): (readonly [string, NamedFilter])[] => {
      const named = { field, operator };
      const full = [`${field}[${operator}]`, named] as const;
      return operator === "eq" ? [[field, named], full] : [full];
    }),
  );
}

/** Names that other APIs use for the page of a list. */
const ofPages = new Set(["page", "offset", "skip", "start", "from", "after"]);

function noFilter(resource: Resource, name: string): Flaw {
  const { filters } = resource;
  const field = /^([a-z][a-z0-9_]*)(?:\[[a-z]+\])?$/.exec(name)?.[1];
  const allowed = field === undefined ? undefined : filters.get(field);
  return new Flaw(
    "unknown_parameter",
    allowed === undefined ? noParameter(resource, name) : `The field can be filtered by ${allowed.join(", ")}.`,
  );
}

function noParameter(resource: Resource, name: string): string {
  const none = "There is no such parameter.";
  if (ofPages.has(name)) return `${none} For the next page, follow the link rel="next" of the Link header.`;
  const filters = filtersNamedBy(resource).keys();
  return none + meantName(name, [...ONCE, ...(resource.search.length > 0 ? ["search"] : []), ...filters]);
}

function readLimit({ default: usual, maximum }: PageSize, text: string | undefined): number | Flaw {
  if (text === undefined) return usual;
  const limit = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : 0;
  return limit >= 1 && limit <= maximum
    ? limit
    : new Flaw("invalid", `A whole number from 1 to ${maximum} is required.`);
}

function readSort(resource: Resource, text: string | undefined): readonly SortField[] | Flaw {
  if (text === undefined) return resource.defaultSort;
  const sort = readSortNames(text);
  for (const [at, { field }] of sort.entries()) {
    if (!resource.sorts.includes(field))
      return new Flaw("invalid", `The list can be sorted by ${resource.sorts.join(", ")}.`);
    if (sort.findIndex((each) => each.field === field) < at) return new Flaw("invalid", `${field} is named twice.`);
  }
  return breakTies(sort);
}

function readFields(resource: Resource, text: string | undefined): readonly string[] | null | Flaw {
  if (text === undefined) return null;
  const shown = shownFields(resource);
  const requestedNames = new Set<string>();
  for (const field of text.split(",")) {
    if (!shown.includes(field)) return new Flaw("invalid", `The fields are ${shown.join(", ")}.`);
    // Refuses a repeated name, because the links of a page contain the query, and header fields have a size limit.
    if (requestedNames.has(field)) return new Flaw("invalid", `${field} is named twice.`);
    requestedNames.add(field);
  }
  return shown.filter((field) => requestedNames.has(field));
}
