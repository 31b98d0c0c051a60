import { isObject } from "../core/checking/members.ts";
import { isExactNumber } from "../core/exact-numbers.ts";
import { MAX_ISSUES, type Issue } from "../core/problem/problem.ts";
import { Flaw } from "./declaration/field.ts";
import { comparedKind, MAX_VALUES, readFilterValue, type FilterValue } from "./filter-value.ts";
import { getKind } from "./ids.ts";
import { pointerTo } from "./pointer.ts";
import type { Filter } from "./query.ts";
import type { Operator, Resource } from "./resource.ts";

/** A condition for records: filters, and the operators that combine them. */
export type QueryCondition =
  | Filter
  | { readonly all: readonly QueryCondition[] }
  | { readonly any: readonly QueryCondition[] }
  | { readonly not: QueryCondition };

/** Maximum number of filters in one `where`. An empty condition counts as one. */
export const MAX_CONDITIONS = 64;
/** Maximum depth of nested `all`, `any` and `not`. */
export const MAX_DEPTH = 8;
/**
 * Maximum number of values in all `in` operators of one `where`. The database compares each row with them, so they cost
 * time.
 */
const MAX_ALL_VALUES = 5000;
/**
 * Maximum total length of all values in one `where`, in UTF-16 code units. A prepared statement keeps its last values
 * in memory.
 */
const MAX_ALL_LENGTH = 65_536;

/**
 * Reads a condition: fields with operators and values, `all`, `any` and `not`. A record must match all members of a
 * condition. Adds each mistake to `issues`, with a JSON pointer to it. The returned condition is complete only if no
 * issue was added.
 */
export function readCondition(
  resource: Resource,
  input: unknown,
  pointer: string,
  issues: Issue[],
): QueryCondition | null {
  return new ConditionReader(resource, issues).condition(input, pointer, 0);
}

class ConditionReader {
  readonly #resource: Resource;
  readonly #issues: Issue[];
  #left = MAX_CONDITIONS;
  #valuesLeft = MAX_ALL_VALUES;
  #lengthLeft = MAX_ALL_LENGTH;

  constructor(resource: Resource, issues: Issue[]) {
    this.#resource = resource;
    this.#issues = issues;
  }

  condition(input: unknown, pointer: string, depth: number): QueryCondition | null {
    if (!isObject(input))
      return this.#say(pointer, "invalid", 'An object is required, like {"name": {"eq": "Ann"}}; or any, all, not.');
    const members = Object.entries(input);
    if (members.length === 0) this.#count(pointer);
    const parts: QueryCondition[] = [];
    for (const [name, value] of members) {
      if (this.#isOver()) break;
      const part = this.#member(name, value, pointer + pointerTo(name), depth);
      if (part !== null) parts.push(part);
    }
    return parts.length === 1 ? parts[0]! : { all: parts };
  }

  #member(name: string, value: unknown, pointer: string, depth: number): QueryCondition | null {
    if (name === "all" || name === "any" || name === "not") {
      if (depth === MAX_DEPTH)
        return this.#say(pointer, "too_deep", `all, any and not may be nested ${MAX_DEPTH} levels deep at most.`);
      if (name === "not") {
        const turned = this.condition(value, pointer, depth + 1);
        return turned === null ? null : { not: turned };
      }
      const parts = this.#several(value, pointer, depth + 1);
      return parts === null ? null : name === "all" ? { all: parts } : { any: parts };
    }
    const allowed = this.#resource.filters.get(name);
    if (allowed === undefined)
      return this.#say(pointer, "unknown_field", `Lists of ${this.#resource.plural} have no such filter.`);
    return this.#comparisons(name, value, pointer, allowed);
  }

  #several(input: unknown, pointer: string, depth: number): readonly QueryCondition[] | null {
    if (!Array.isArray(input)) return this.#say(pointer, "invalid", "An array of conditions is required.");
    if (input.length === 0) this.#count(pointer);
    const parts: QueryCondition[] = [];
    for (const [at, each] of input.entries()) {
      if (this.#isOver()) break;
      const part = this.condition(each, `${pointer}/${at}`, depth);
      if (part !== null) parts.push(part);
    }
    return parts;
  }

  #comparisons(field: string, input: unknown, pointer: string, allowed: readonly Operator[]): QueryCondition | null {
    if (!isObject(input) || Object.keys(input).length === 0)
      return this.#say(pointer, "invalid", `An object with an operator is required: ${allowed.join(", ")}.`);
    const filters: Filter[] = [];
    for (const [name, value] of Object.entries(input)) {
      const place = pointer + pointerTo(name);
      if (this.#isOver() || !this.#count(place)) break;
      const operator = allowed.find((each) => each === name);
      if (operator === undefined) {
        this.#say(place, "unknown_operator", `The operators of this field are ${allowed.join(", ")}.`);
        continue;
      }
      const read = this.#value(field, operator, value, place);
      if (read !== null) filters.push({ field, operator, value: read });
    }
    return filters.length === 1 ? filters[0]! : { all: filters };
  }

  #value(field: string, operator: Operator, value: unknown, pointer: string): FilterValue | null {
    if (operator === "in" && Array.isArray(value)) return this.#values(field, value, pointer);
    const isText = operator === "in";
    const text =
      operator === "null"
        ? convertToText("boolean", value)
        : convertToText(isText ? "string" : this.#typeOf(field), value);
    const read = this.#read(field, operator, text);
    if (read instanceof Flaw) return this.#say(pointer, read.code, read.detail);
    return !Array.isArray(read) || this.#hasRoom(read.length, pointer) ? read : null;
  }

  /**
   * Reads the array of an `in` one value at a time. In an array, a text may contain commas. In a query string, commas
   * separate the values.
   */
  #values(field: string, input: readonly unknown[], pointer: string): FilterValue | null {
    if (input.length > MAX_VALUES) return this.#say(pointer, "too_many", `At most ${MAX_VALUES} values are allowed.`);
    if (!this.#hasRoom(input.length, pointer)) return null;
    const type = this.#typeOf(field);
    const values: (string | number | boolean)[] = [];
    for (const [at, each] of input.entries()) {
      if (this.#isOver()) break;
      const read = this.#read(field, "eq", convertToText(type, each));
      if (read instanceof Flaw) this.#say(`${pointer}/${at}`, read.code, read.detail);
      else values.push(read as string | number | boolean);
    }
    return values;
  }

  #read(field: string, operator: Operator, text: string | Flaw): FilterValue | Flaw {
    if (text instanceof Flaw) return text;
    this.#lengthLeft -= text.length;
    if (this.#lengthLeft >= 0) return readFilterValue(this.#resource, field, operator, text);
    return new Flaw("too_long", `At most ${MAX_ALL_LENGTH} characters are allowed in all values together.`);
  }

  /** Returns the JSON type of a field's values. */
  #typeOf(field: string): JSONType {
    const { type, number } = comparedKind(getKind(this.#resource, field)).column;
    if (type === "integer" || type === "boolean") return type;
    return type === "double" || number === true ? "number" : "string";
  }

  #hasRoom(values: number, pointer: string): boolean {
    this.#valuesLeft -= values;
    if (this.#valuesLeft >= 0) return true;
    this.#say(pointer, "too_many", `At most ${MAX_ALL_VALUES} values are allowed in all conditions together.`);
    return false;
  }

  #count(pointer: string): boolean {
    if (this.#left-- > 0) return true;
    // Reported only once, because `#isOver` then ends the reading.
    this.#say(pointer, "too_many", `At most ${MAX_CONDITIONS} conditions are allowed.`);
    return false;
  }

  #isOver(): boolean {
    return this.#left < 0 || this.#issues.length >= MAX_ISSUES;
  }

  #say(pointer: string, code: string, detail: string): null {
    this.#issues.push({ pointer, code, detail });
    return null;
  }
}

type JSONType = "integer" | "number" | "boolean" | "string";

const required: Readonly<Record<JSONType, string>> = {
  integer: "A whole number is required.",
  number: "A number is required.",
  boolean: "true or false is required.",
  string: "A text is required.",
};

/** Converts a JSON value to the text of a query parameter, so that the same code parses both. */
function convertToText(type: JSONType, value: unknown): string | Flaw {
  if (type === "number" && isExactNumber(value)) return value.text;
  return typeof value === (type === "integer" ? "number" : type) ? String(value) : new Flaw("invalid", required[type]);
}
