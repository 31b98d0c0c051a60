import { isKeyOf, type Change, type WrittenValues } from "../../store.ts";

/** The fewest rows that are worth a shared statement, and the most that one takes. */
const FEWEST = 8;
const MOST = 100;

/**
 * The most rows of a relation in one statement. It may take four seconds; a row with its references takes about 20 µs.
 */
const MOST_LINKS = 10_000;

/** PostgreSQL accepts 65,535 values per statement, and a column needs up to three. */
const MOST_VALUES = 10_000;

/**
 * Groups the changes by statement and returns their places in the order of sending. Returns null if no changes share a
 * statement.
 *
 * An array of records needs one statement per record and one more per reference, and each costs more than its row. So a
 * statement makes many new rows of a table. Any other change is sent after those before it, and sees them. Rows of
 * relations come last: they refer to others, and no change refers to them. The other rows of a group do not use each
 * other's keys.
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

/**
 * True for a new row of the store's own table whose key is known or comes from the database, and for rows of a
 * relation.
 */
function canWait(change: Change, at: number): change is Extract<Change, { readonly kind: "insert" | "link" }> {
  if (change.kind === "link") return !isKeyOf(change.record) || change.record.keyOf < at;
  if (change.kind !== "insert" || change.collection.existing !== undefined || isKeyOf(change.key)) return false;
  return Object.values(change.values).every(
    (value) => !isKeyOf(value) || (change.collection.links !== undefined && value.keyOf < at),
  );
}

/** Returns the columns that have a value. */
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
