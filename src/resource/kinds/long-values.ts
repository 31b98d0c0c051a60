import { isExactNumber } from "../../core/exact-numbers.ts";
import { Flaw, longestJSON, type Field } from "../declaration/field.ts";

/** Returns true if a sent value is longer as JSON than its field allows. */
export function isTooLong({ kind }: Pick<Field, "kind">, sent: unknown): boolean {
  return kind.column.type === "json" && isLongerThan(sent, longestJSON(kind));
}

/** Returns the flaw of a value that is longer as JSON than its field allows. */
export function tooLong({ kind }: Pick<Field, "kind">): Flaw {
  return new Flaw("too_long", `As JSON it is longer than ${longestJSON(kind)} characters.`);
}

/** Returns true if a value has more than this number of characters as JSON. */
function isLongerThan(value: unknown, characters: number): boolean {
  return countRoomLeft(value, characters) < 0 || JSON.stringify(value).length > characters;
}

/**
 * Returns the number of characters left after a value. Counts the shortest possible JSON of the value. Stops when none
 * is left.
 */
function countRoomLeft(value: unknown, room: number): number {
  if (typeof value === "string") return room - value.length - 2;
  if (isExactNumber(value)) return room - value.text.length;
  if (typeof value !== "object" || value === null) return room - 1;
  let left = room - 1;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && left >= 0; at++) left = countRoomLeft(value[at], left - 1);
    return left;
  }
  for (const name in value) {
    if (left < 0) return left;
    left = countRoomLeft((value as Record<string, unknown>)[name], left - name.length - 4);
  }
  return left;
}
