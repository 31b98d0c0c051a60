import type { Condition } from "./conditions.ts";

/** A change with the number that switches it on. */
export interface Numbered extends Condition {
  readonly id: number;
}

/**
 * Returns a source with all of these changes, each of which the global function `__isOn` switches on by its number. So
 * one process can try all changes, without loading the sources again.
 */
export function withSwitches(source: string, changes: readonly Numbered[]): string {
  const ordered = changes.toSorted((one, other) => one.start - other.start || other.end - one.end);
  return switched(source, ordered, 0, source.length);
}

/** Returns a part of the source. `changes` lie within it, and each comes before those within it. */
function switched(source: string, changes: readonly Numbered[], from: number, to: number): string {
  let text = "";
  let at = from;
  for (let next = 0; next < changes.length;) {
    const { start, end } = changes[next]!;
    const within = changes.slice(next).filter((each) => each.start < end);
    const same = within.filter((each) => each.start === start && each.end === end);
    text += source.slice(at, start);
    text += wrap(same, switched(source, within.slice(same.length), start, end));
    at = end;
    next += within.length;
  }
  return text + source.slice(at, to);
}

function wrap(changes: readonly Numbered[], original: string): string {
  const isOn = ({ id }: Numbered): string => `globalThis.__isOn?.(${id})`;
  if (changes[0]!.instead === null) return `{ if (!${isOn(changes[0]!)}) ${original} }`;
  return `(${changes.map((each) => `${isOn(each)} ? (${each.instead!}) : `).join("")}(${original}))`;
}
