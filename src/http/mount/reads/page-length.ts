import { longestJSON, type Field } from "../../../resource/declaration/field.ts";
import type { Resource } from "../../../resource/resource.ts";
import type { ListQuery } from "../../../store/store.ts";

/**
 * The maximum length of a page. A page ends after the record that reaches this number of octets, because other requests
 * wait while the page is read, hashed and written.
 */
export const MOST_OCTETS = 1024 * 1024;

/** If the declaration allows no page longer than this, the page is read without a length limit, which is faster. */
const LONG_CHARACTERS = 4 * MOST_OCTETS;

/** The maximum length of values of other kinds than text and JSON: numbers, times, words. */
const SHORT_CHARACTERS = 40;

const longest = new WeakMap<Resource, number>();

/** Returns the length limit for a page with `limit` records. Returns no limit if the records are small. */
export function withinLength(resource: Resource, limit: number): Pick<ListQuery, "maxLength"> {
  return limit * measureLongest(resource) > LONG_CHARACTERS ? { maxLength: MOST_OCTETS } : {};
}

/** Returns the largest number of records, up to `limit`, whose page needs no length limit. At least one. */
export function limitWithin(resource: Resource, limit: number): number {
  return Math.max(1, Math.min(limit, Math.floor(LONG_CHARACTERS / measureLongest(resource))));
}

/** Returns the maximum number of JSON characters of a record, according to its declaration. */
export function measureLongest(resource: Resource): number {
  let found = longest.get(resource);
  if (found === undefined) {
    found = Object.entries(resource.fields).reduce((sum, [name, field]) => sum + name.length + longestValue(field), 0);
    longest.set(resource, found);
  }
  return found;
}

/** Returns the maximum number of JSON characters of these columns of a record, according to their declaration. */
export function longestOfColumns({ fields }: Resource, columns: readonly string[]): number {
  return columns.reduce((sum, name) => {
    const field = Object.hasOwn(fields, name) ? fields[name]! : null;
    return sum + name.length + (field === null ? SHORT_CHARACTERS : longestValue(field));
  }, 0);
}

function longestValue({ kind }: Field): number {
  const { column, schema } = kind;
  if (column.type === "json") return longestJSON(kind);
  if (column.type !== "text") return SHORT_CHARACTERS;
  if (typeof schema["maxLength"] === "number") return schema["maxLength"];
  return schema["enum"] === undefined && schema["format"] === undefined ? longestJSON(kind) : SHORT_CHARACTERS;
}
