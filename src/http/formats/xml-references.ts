import type { Problem } from "../../core/problem/problem.ts";
import { quoted } from "./text.ts";

const DIGITS = /^(?:#[0-9]{1,8}|#x[0-9A-Fa-f]{1,8})$/;
// The longest accepted reference is `&#x0010FFFF;`.
const LONGEST_REFERENCE = 12;
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);

/**
 * Returns a text with its references replaced (XML 1.0 §4.1). Throws the error that `wrong` returns for the first
 * invalid reference.
 */
export function unescapeXML(text: string, wrong: (at: number, what: string) => Problem): string {
  // Joined at the end. A string that grows with each reference is slow for the garbage collector.
  const read: string[] = [];
  let from = 0;
  for (let at = text.indexOf("&"); at !== -1; at = text.indexOf("&", from)) {
    const end = text.indexOf(";", at);
    const isNear = end !== -1 && end - at <= LONGEST_REFERENCE;
    const character = isNear ? findCharacter(text.slice(at + 1, end)) : undefined;
    if (character === undefined) {
      const shown = quoted(isNear ? text.slice(at, end + 1) : "&");
      throw wrong(at, `${shown} is no reference to a character; a plain '&' is written '&amp;'`);
    }
    if (at > from) read.push(text.slice(from, at));
    read.push(character);
    from = end + 1;
  }
  return from === 0 ? text : read.join("") + text.slice(from);
}

/** Returns the character of a reference, given the text between `&` and `;`. */
function findCharacter(reference: string): string | undefined {
  if (!reference.startsWith("#")) return ENTITIES.get(reference);
  if (!DIGITS.test(reference)) return undefined;
  const code = reference.startsWith("#x") ? Number.parseInt(reference.slice(2), 16) : Number(reference.slice(1));
  if (code > 0x10ffff) return undefined;
  return isXML(code) ? String.fromCodePoint(code) : undefined;
}

/** Returns true if XML allows the character (XML 1.0 §2.2). */
function isXML(code: number): boolean {
  if (code < 0x20) return code === 0x09 || code === 0x0a || code === 0x0d;
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || code >= 0x10000;
}
