import { isExactNumber } from "../../core/exact-numbers.ts";
import { takeTurn } from "../../http/scheduling/slices.ts";

/**
 * The maximum number of characters of one value on a page. People read no more, and writing more would delay other
 * requests.
 */
export const MOST_SHOWN = 16 * 1024;

/** How much of one value is shown. */
export interface Extent {
  readonly characters: number;
  /** The maximum number of ids in a list. */
  readonly ids: number;
}

export const onPage: Extent = { characters: MOST_SHOWN, ids: 100 };

/** For a cell of a table, which has one line. */
export const inCell: Extent = { characters: 500, ids: 3 };

/** The maximum number of characters that can be edited on a page. */
const MOST_EDITED = 64 * 1024;

/** Returns the beginning of a long text, with a mark at the cut. */
export function excerptText(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}

/** Returns true if a value is too long for an input. */
export function isTooLong(value: unknown): boolean {
  const text = typeof value === "string" ? value : isJSON(value) ? textOfJSON(value) : "";
  return text.length > MOST_EDITED;
}

const texts = new WeakMap<object, string>();

/** Returns an object or array as JSON text. Cached for a page, because a MiB takes milliseconds. */
export function textOfJSON(value: object): string {
  let text = texts.get(value);
  if (text === undefined) texts.set(value, (text = JSON.stringify(value)));
  return text;
}

/**
 * Returns the beginning of an object or array as JSON text. Converts only the part of the value that the excerpt needs.
 */
export function excerptOfJSON(value: object, most: number): string {
  return excerptText(JSON.stringify(copyBeginning(value, { room: most })), most);
}

/** Returns a copy of a value. Stops after `left.room` characters of the JSON of the value. */
function copyBeginning(value: unknown, left: { room: number }): unknown {
  if (typeof value === "string") {
    const room = Math.max(0, left.room);
    left.room -= value.length;
    return value.length > room ? value.slice(0, room + 1) : value;
  }
  left.room--;
  if (!isJSON(value) || isExactNumber(value)) return value;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (let at = 0; at < value.length && left.room >= 0; at++) items.push(copyBeginning(value[at], left));
    return items;
  }
  const members: [string, unknown][] = [];
  for (const name of Object.keys(value)) {
    if (left.room < 0) break;
    left.room -= name.length;
    members.push([name, copyBeginning(value[name as keyof typeof value], left)]);
  }
  return Object.fromEntries(members);
}

/** Lets other requests run first if the JSON of the content is long. */
export function giveWayFor(value: unknown): Promise<void> | undefined {
  const left = { room: MOST_EDITED };
  copyBeginning(value, left);
  return left.room < 0 ? takeTurn() : undefined;
}

function isJSON(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
