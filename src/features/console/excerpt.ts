import { takeTurn } from "../../http/body/turns.ts";

/** The most characters of one value that a page shows: nobody reads more of it there, and writing it keeps others waiting. */
export const MOST_SHOWN = 16 * 1024;

/** How much of one value stands at a place. */
export interface Extent {
  readonly characters: number;
  /** Of a list of ids. */
  readonly ids: number;
}

export const onPage: Extent = { characters: MOST_SHOWN, ids: 100 };

/** In a cell of a table, which shows one line. */
export const inCell: Extent = { characters: 500, ids: 3 };

/** The most characters that can be changed on a page. */
const MOST_EDITED = 64 * 1024;

/** The beginning of a text that is long, with a mark where it was cut. */
export function excerptOf(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}

/** Whether a value is too long for an input. */
export function isTooLong(value: unknown): boolean {
  const text = typeof value === "string" ? value : isJSON(value) ? textOfJSON(value) : "";
  return text.length > MOST_EDITED;
}

const texts = new WeakMap<object, string>();

/** An object or array as JSON text, which is written once for a page: a MiB takes milliseconds. */
export function textOfJSON(value: object): string {
  let text = texts.get(value);
  if (text === undefined) texts.set(value, (text = JSON.stringify(value)));
  return text;
}

/** Gives way to others where a page is of much: it is drawn in one go. */
export function giveWayFor(value: unknown): Promise<void> | undefined {
  return isJSON(value) && textOfJSON(value).length > MOST_EDITED ? takeTurn() : undefined;
}

function isJSON(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
