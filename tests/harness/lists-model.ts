// A naive implementation of lists over an array. Tests compare the service with it.

/** A record as callers see it. */
export type Seen = Readonly<Record<string, unknown>>;
/** The kind of each column, by which the model reads its values. */
export type Kinds = Readonly<Record<string, Kind>>;
type Kind = "number" | "text" | "folded" | "decimal" | "boolean" | "date" | "date-time" | "ids" | "json";
/** A condition as in the body of a `QUERY`. */
export type Condition = Readonly<Record<string, unknown>>;
type Key = string | number | boolean;

/** True if a record satisfies a condition. */
export function holds(kinds: Kinds, condition: Condition, seen: Seen): boolean {
  return Object.entries(condition).every(([name, value]) => {
    if (name === "all") return (value as Condition[]).every((each) => holds(kinds, each, seen));
    if (name === "any") return (value as Condition[]).some((each) => holds(kinds, each, seen));
    if (name === "not") return !holds(kinds, value as Condition, seen);
    return Object.entries(value as object).every(([operator, wanted]) =>
      compares(kinds[name]!, operator, seen[name], wanted),
    );
  });
}

function compares(kind: Kind, operator: string, actual: unknown, wanted: unknown): boolean {
  if (operator === "null") return (actual === null) === wanted;
  if (actual === null) return false;
  if (kind === "ids") return [wanted].flat().some((each) => (actual as unknown[]).includes(toKey("number", each)));
  const same = (each: unknown): boolean =>
    kind === "folded" ? folded(each) === folded(actual) : toKey(kind, each) === toKey(kind, actual);
  const way = (): number => order(toKey(kind, actual), toKey(kind, wanted));
  switch (operator) {
    case "eq":
      return same(wanted);
    case "ne":
      return !same(wanted);
    case "in":
      return (wanted as unknown[]).some(same);
    case "lt":
      return way() < 0;
    case "lte":
      return way() <= 0;
    case "gt":
      return way() > 0;
    case "gte":
      return way() >= 0;
    case "contains":
      return String(actual).includes(String(wanted));
    case "starts":
      return String(actual).startsWith(String(wanted));
    case "icontains":
      return searched(kind, actual).includes(searched(kind, wanted));
    case "istarts":
      return searched(kind, actual).startsWith(searched(kind, wanted));
  }
  throw new Error(operator);
}

/** Sorts records in an order like `-name,id`: nulls are last in both directions, and the id decides ties. */
export function sorted(kinds: Kinds, found: readonly Seen[], sort: string): readonly Seen[] {
  const parts = [...sort.split(",").filter((part) => part !== ""), "id"];
  return found.toSorted((one, other) => {
    for (const part of parts) {
      const field = part.replace("-", "");
      const [a, b] = [one[field], other[field]];
      if (a === null || b === null) {
        if (a === b) continue;
        return a === null ? 1 : -1;
      }
      const way = order(toKey(kinds[field]!, a), toKey(kinds[field]!, b));
      if (way !== 0) return part.startsWith("-") ? -way : way;
    }
    return 0;
  });
}

/** True if every word of a search is the beginning of a word in one of these fields. */
export function isFound(fields: readonly string[], search: string, seen: Seen): boolean {
  return splitWords(search).every((word) =>
    fields.some((field) => splitWords(String(seen[field] ?? "")).some((own) => own.startsWith(word))),
  );
}

function splitWords(text: string): readonly string[] {
  const bare = text.normalize("NFD").replaceAll(/\p{M}/gu, "");
  return (
    bare
      .toLowerCase()
      .toUpperCase()
      .toLowerCase()
      .replaceAll("ς", "σ")
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

function order(one: Key, other: Key): number {
  return typeof one === "number" && typeof other === "number"
    ? one - other
    : Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other)));
}

function toKey(kind: Kind, value: unknown): Key {
  if (kind === "decimal") return Math.round(Number(value) * 10_000);
  if (kind === "date-time") return padInstant(String(value));
  return value as Key;
}

/** Returns an instant with all digits that a database may have after the second. */
function padInstant(value: string): string {
  const [, start, fraction = ""] = /^(.{19})(?:\.(\d+))?Z$/.exec(value)!;
  return `${start}.${fraction.padEnd(9, "0")}`;
}

function folded(value: unknown): string {
  return String(value).normalize("NFC").toLowerCase();
}

/** Letters that differ only in case from another small letter. */
const otherForms: Readonly<Record<string, string>> = { ſ: "s", ς: "σ", µ: "μ", ϐ: "β", ẛ: "ṡ", ᲀ: "в" };

/** Returns a text as `icontains` and `istarts` compare it. A unique column keeps its stored lower case. */
function searched(kind: Kind, value: unknown): string {
  if (kind === "folded") return folded(value).replaceAll("ς", "σ");
  return folded(value).replaceAll(/[ſςµϐẛᲀ]/gu, (letter) => otherForms[letter]!);
}
