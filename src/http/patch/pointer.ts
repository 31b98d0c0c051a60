import { isObject } from "../../core/checking/members.ts";
import { MAX_LEVELS } from "../formats/text.ts";

/** A JSON Pointer taken apart (RFC 6901): the names and indexes on the way; none for the whole document. */
export type Pointer = readonly string[];

/** Reads a JSON Pointer; null where it is none. */
export function parsePointer(text: string): Pointer | null {
  if (text === "") return [];
  if (!text.startsWith("/") || /~(?![01])/.test(text)) return null;
  // Nothing is so deep: what is beyond it decides nothing.
  const tokens = text.slice(1).split("/", MAX_LEVELS + 1);
  return text.includes("~") ? tokens.map(unescape) : tokens;
}

// In this order, so that ~01 becomes ~1 and not / (RFC 6901 §4).
function unescape(token: string): string {
  return token.split("~1").join("/").split("~0").join("~");
}

/** The value that a pointer names; undefined where nothing is there. Only own members count, so no name reaches a prototype. */
export function findValue(document: unknown, pointer: Pointer): unknown {
  let value = document;
  for (const token of pointer) {
    if (Array.isArray(value)) value = value[indexOf(token, value.length) ?? -1];
    else if (isObject(value) && Object.hasOwn(value, token)) value = value[token];
    else return undefined;
    if (value === undefined) return undefined;
  }
  return value;
}

/** The index below `length` that a token names; null for leading zeros, signs, `-` and what is out of range. */
export function indexOf(token: string, length: number): number | null {
  return /^(?:0|[1-9][0-9]{0,9})$/.test(token) && Number(token) < length ? Number(token) : null;
}
