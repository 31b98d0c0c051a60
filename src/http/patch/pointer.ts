import { isObject } from "../../core/checking/members.ts";

/** A parsed JSON Pointer (RFC 6901): its names and indexes. Empty for the whole document. */
export type Pointer = readonly string[];

/** Parses a JSON Pointer. Returns null if it is invalid. */
export function parsePointer(text: string): Pointer | null {
  if (text === "") return [];
  if (!text.startsWith("/") || /~(?![01])/.test(text)) return null;
  const tokens = text.slice(1).split("/");
  return text.includes("~") ? tokens.map(unescape) : tokens;
}

// Replaces ~1 before ~0, so that ~01 becomes ~1 and not / (RFC 6901 §4).
function unescape(token: string): string {
  return token.split("~1").join("/").split("~0").join("~");
}

/**
 * Returns the value at a pointer. Returns undefined if there is none. Finds only own members of an object, so a pointer
 * cannot reach a prototype.
 */
export function findValue(document: unknown, pointer: Pointer): unknown {
  let value = document;
  for (const token of pointer) {
    if (Array.isArray(value)) value = value[parseIndex(token, value.length) ?? -1];
    else if (isObject(value) && Object.hasOwn(value, token)) value = value[token];
    else return undefined;
    if (value === undefined) return undefined;
  }
  return value;
}

/**
 * Returns the index below `length` that a token names. Returns null for leading zeros, signs, `-` and larger numbers.
 */
export function parseIndex(token: string, length: number): number | null {
  return /^(?:0|[1-9][0-9]{0,9})$/.test(token) && Number(token) < length ? Number(token) : null;
}
