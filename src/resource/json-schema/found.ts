import { MAX_ISSUES } from "../../core/problem/problem.ts";

/** One mistake in a value, with its location in the value. */
export interface LocatedMistake {
  readonly path: readonly (string | number)[];
  /** For programs: `required`, `invalid`, `too_long`, … */
  readonly code: string;
  /** For people. */
  readonly message: string;
}

/** Returns the mistakes in a value. */
export type Checker = (value: unknown) => readonly LocatedMistake[];

/** The empty list of mistakes. All checks share it, so that a valid value needs no memory. */
export const NONE: readonly LocatedMistake[] = [];

export function found(code: string, message: string): readonly LocatedMistake[] {
  return [{ path: [], code, message }];
}

/** Adds the mistakes in one part of a value. Puts the part in front of their paths. */
export function addFound(all: LocatedMistake[], part: string | number, more: readonly LocatedMistake[]): void {
  for (const each of more) if (all.length < MAX_ISSUES) all.push({ ...each, path: [part, ...each.path] });
}

/** Combines several checks. Stops when there are `MAX_ISSUES` mistakes. */
export function combineCheckers(checkers: readonly Checker[]): Checker {
  if (checkers.length === 1) return checkers[0]!;
  return (value) => {
    let all: readonly LocatedMistake[] = NONE;
    for (const check of checkers) {
      const more = check(value);
      if (more.length > 0) all = all.length === 0 ? more : [...all, ...more].slice(0, MAX_ISSUES);
      if (all.length >= MAX_ISSUES) break;
    }
    return all;
  };
}
