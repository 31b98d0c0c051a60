/**
 * Returns the known name that was probably meant: the one with the fewest letters to add, drop or replace. Returns null
 * if there is none.
 */
export function nearest(name: string, knownNames: readonly string[]): string | null {
  const wanted = folded(name);
  const distances = knownNames.map((each) => distance(wanted, folded(each)));
  return knownNames[distances.indexOf(Math.min(...distances))] ?? null;
}

/**
 * Returns the end of a message about an unknown name: `; did you mean title?`, or the list of names if none is similar.
 */
export function suggestion(name: string, knownNames: readonly string[]): string {
  const found = nearest(name, knownNames);
  if (found === null) return "; there are none";
  if (isSimilar(folded(name), folded(found))) return `; did you mean ${found}?`;
  const longer = knownNames.find((each) => isBeginning(folded(name), folded(each)));
  return longer === undefined ? `; there are ${listed(knownNames)}` : `; did you mean ${longer}?`;
}

/** Returns the end of a sentence for a caller: ` Did you mean title?` if a known name is similar, otherwise nothing. */
export function meantName(name: string, knownNames: readonly string[]): string {
  const end = name.length > 64 ? "" : suggestion(name, knownNames);
  return end.startsWith("; did") ? ` D${end.slice(3)}` : "";
}

/** Returns a name in a form that is safe to show. It may come from outside, be long or contain any character. */
export function shownName(name: string): string {
  const short = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  return /^[\w-]+$/.test(short) ? short : JSON.stringify(short);
}

/** Returns true if one letter differs, or at most a third of the letters of the found name. */
function isSimilar(name: string, found: string): boolean {
  return distance(name, found) <= Math.max(1, Math.floor(found.length / 3));
}

/**
 * Returns true if one name begins with the other: `max` and `maxLength`. A developer may know the other name from
 * another library or an older version.
 */
function isBeginning(name: string, found: string): boolean {
  return name.length > 2 && (found.startsWith(name) || name.startsWith(found));
}

const MAX_LISTED = 30;

function listed(knownNames: readonly string[]): string {
  return knownNames.length > MAX_LISTED ? `${knownNames.slice(0, MAX_LISTED).join(", ")}, …` : knownNames.join(", ");
}

function folded(name: string): string {
  return name.slice(0, 64).toLowerCase();
}

/** Returns the number of letters to add, drop, replace or swap with the next one (Damerau-Levenshtein). */
function distance(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 0; at < one.length; at++) {
    const next = [at + 1];
    for (let to = 1; to < row.length; to++) {
      const replaced = row[to - 1]! + (one[at] === other[to - 1] ? 0 : 1);
      const isSwapped = at > 0 && to > 1 && one[at] === other[to - 2] && one[at - 1] === other[to - 1];
      const swapped = isSwapped ? before[to - 2]! + 1 : Infinity;
      next.push(Math.min(replaced, swapped, row[to]! + 1, next[to - 1]! + 1));
    }
    [before, row] = [row, next];
  }
  return row.at(-1)!;
}
