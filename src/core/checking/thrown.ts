import { shown } from "./members.ts";

/** With its stack, where it has one. */
export function stackOfThrown(thrown: unknown): string {
  return read(() => (thrown instanceof Error ? (thrown.stack ?? thrown.message) : null)) ?? lineOfThrown(thrown);
}

/** The message alone, of an error. */
export function messageOfThrown(thrown: unknown): string {
  return read(() => (thrown instanceof Error ? thrown.message : null)) ?? lineOfThrown(thrown);
}

/** `Error: it is gone`. */
export function lineOfThrown(thrown: unknown): string {
  return read(() => String(thrown)) ?? `What was thrown cannot be read (${typeof thrown}).`;
}

/** Describes a thrown value that is no error: `'no line'`, `an object`. */
export function shownThrown(thrown: unknown): string {
  return read(() => shown(thrown)) ?? "an object that cannot be read";
}

/** Whether it is one of these. */
export function isThrown<T>(thrown: unknown, kind: abstract new (...given: never[]) => T): thrown is T {
  try {
    return thrown instanceof kind;
  } catch {
    return false;
  }
}

/** Code of others throws whatever it likes: reading that may throw again, and give anything. */
function read(text: () => unknown): string | null {
  try {
    const found = text();
    return typeof found === "string" ? found : null;
  } catch {
    return null;
  }
}
