import { isKeyOf, type Change, type WrittenValues } from "../../store.ts";

/** As many rows as are worth a statement of their own, and as many as one takes. */
const FEWEST = 8;
const MOST = 100;

/** As many rows of a relation as one statement makes: it may take four seconds, and a row with its references takes some 20 µs. */
const MOST_LINKS = 10_000;

/** PostgreSQL takes 65,535 values with a statement, and of one column up to three are kept. */
const MOST_VALUES = 10_000;

/**
 * The changes in the order in which they are sent, those of one statement together; each by its place. Null where none are.
 *
 * An array of records is as many statements as records, and as many more as they name others, and each costs more than its row. So new rows of a
 * table are made many at a time. Whatever is no such row is sent behind those before it, and sees them. Rows of relations come last: they speak of
 * others, and nothing of them. All others speak of no key that is made with them.
 */
export function putTogether(changes: readonly Change[]): readonly (readonly number[])[] | null {
  if (changes.length < FEWEST) return null;
  const sent: (readonly number[])[] = [];
  const records = new Map<string, number[]>();
  const relations = new Map<string, number[]>();
  const flush = (): void => {
    for (const waiting of [records, relations]) {
      for (const places of waiting.values()) sent.push(...inStatements(places, changes));
      waiting.clear();
    }
  };
  for (const [at, change] of changes.entries()) {
    if (canWait(change, at)) {
      const waiting = change.collection.links === undefined ? records : relations;
      const table = `${change.collection.name} ${change.kind === "link" ? "link" : `${change.key !== undefined} ${givenIn(change.values).join()}`}`;
      const places = waiting.get(table);
      if (places === undefined) waiting.set(table, [at]);
      else places.push(at);
      continue;
    }
    flush();
    sent.push([at]);
  }
  flush();
  return sent.length === changes.length ? null : sent;
}

/** A new row of ours, whose key is known or given by the database, or rows of a relation. */
function canWait(change: Change, at: number): change is Extract<Change, { readonly kind: "insert" | "link" }> {
  if (change.kind === "link") return !isKeyOf(change.record) || change.record.keyOf < at;
  if (change.kind !== "insert" || change.collection.existing !== undefined || isKeyOf(change.key)) return false;
  return Object.values(change.values).every(
    (value) => !isKeyOf(value) || (change.collection.links !== undefined && value.keyOf < at),
  );
}

/** The columns that are given a value. */
function givenIn(values: WrittenValues): readonly string[] {
  return Object.keys(values).filter((name) => values[name] !== undefined);
}

function inStatements(places: readonly number[], changes: readonly Change[]): readonly (readonly number[])[] {
  if (changes[places[0]!]!.kind === "link") return linksInStatements(places, changes);
  if (places.length < FEWEST) return places.map((at) => [at]);
  const most = Math.min(MOST, Math.ceil(MOST_VALUES / (3 * changes[places[0]!]!.collection.columns.length)));
  return Array.from({ length: Math.ceil(places.length / most) }, (_, part) =>
    places.slice(part * most, (part + 1) * most),
  );
}

function linksInStatements(places: readonly number[], changes: readonly Change[]): readonly (readonly number[])[] {
  const statements: number[][] = [];
  let rows = Infinity;
  for (const at of places) {
    const { ids } = changes[at] as Extract<Change, { readonly kind: "link" }>;
    if (rows + ids.length > MOST_LINKS) {
      statements.push([]);
      rows = 0;
    }
    rows += ids.length;
    statements.at(-1)!.push(at);
  }
  return statements;
}
