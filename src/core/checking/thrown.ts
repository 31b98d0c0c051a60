import { shown } from "./members.ts";

/** Returns a thrown value as text, with its stack if it has one. */
export function stackOfThrown(thrown: unknown): string {
  return findText(() => (thrown instanceof Error ? (thrown.stack ?? thrown.message) : null)) ?? lineOfThrown(thrown);
}

/** Returns only the message of an error. */
export function messageOfThrown(thrown: unknown): string {
  return findText(() => (thrown instanceof Error ? thrown.message : null)) ?? lineOfThrown(thrown);
}

/** Returns a thrown value in one line: `Error: it is gone`. */
export function lineOfThrown(thrown: unknown): string {
  return findText(() => String(thrown)) ?? `The thrown value cannot be read (${typeof thrown}).`;
}

/** Describes a thrown value that is not an error: `'no line'`, `an object`. */
export function shownThrown(thrown: unknown): string {
  return findText(() => shown(thrown)) ?? "an object that cannot be read";
}

/** Returns true if a thrown value is an instance of this class. */
export function isThrown<T>(thrown: unknown, kind: abstract new (...parameters: never[]) => T): thrown is T {
  try {
    return thrown instanceof kind;
  } catch {
    return false;
  }
}

/**
 * Reads a text of a thrown value. Returns null if reading throws or returns no text. Other code may throw any value.
 */
function findText(text: () => unknown): string | null {
  try {
    const found = text();
    return typeof found === "string" ? found : null;
  } catch {
    return null;
  }
}
