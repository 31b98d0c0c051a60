/** Which of the known names was probably meant: the one with the fewest letters to add, drop or replace. Null where there is none. */
export function nearest(name: string, known: readonly string[]): string | null {
  const wanted = folded(name);
  const distances = known.map((each) => distance(wanted, folded(each)));
  return known[distances.indexOf(Math.min(...distances))] ?? null;
}

/** The end of a message about a name that is not there: `; did you mean title?`, or what there is where nothing is like it. */
export function suggestion(name: string, known: readonly string[]): string {
  const found = nearest(name, known);
  if (found === null) return "; there is none at all";
  if (isLike(folded(name), folded(found))) return `; did you mean ${found}?`;
  const longer = known.find((each) => isBeginning(folded(name), folded(each)));
  return longer === undefined ? `; there are ${listed(known)}` : `; did you mean ${longer}?`;
}

/** The end of a sentence to a caller: ` Did you mean title?` if a known name is like this one, otherwise nothing. */
export function meantName(name: string, known: readonly string[]): string {
  const end = name.length > 64 ? "" : suggestion(name, known);
  return end.startsWith("; did") ? ` D${end.slice(3)}` : "";
}

/** As somebody sees it: a name may come from outside, and be long or hold anything. */
export function shownName(name: string): string {
  const short = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  return /^[\w-]+$/.test(short) ? short : JSON.stringify(short);
}

/** A slip of a finger or two; of a short name a third of its letters. */
function isLike(name: string, found: string): boolean {
  return distance(name, found) <= Math.max(1, Math.floor(found.length / 3));
}

/** `max` for `maxLength`: what another library calls it, or what it was called. */
function isBeginning(name: string, found: string): boolean {
  return name.length > 2 && (found.startsWith(name) || name.startsWith(found));
}

const MAX_LISTED = 30;

function listed(known: readonly string[]): string {
  return known.length > MAX_LISTED ? `${known.slice(0, MAX_LISTED).join(", ")}, …` : known.join(", ");
}

function folded(name: string): string {
  return name.slice(0, 64).toLowerCase();
}

/** How many letters have to be added, dropped, replaced or swapped with the next to make one of the other (Damerau-Levenshtein). */
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
