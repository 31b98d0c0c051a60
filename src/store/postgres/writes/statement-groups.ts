import { isKeyOf, type Change, type WrittenValues } from "../../store.ts";

/** The minimum and the maximum number of rows of a statement for several rows. */
const FEWEST = 8;
const MOST = 100;

/**
 * The maximum number of rows of a relation in one statement. With its references, a row takes about 20 µs, and on a
 * busy server a hundred times as long. A statement may take four seconds.
 */
const MOST_LINKS = 1000;

/** PostgreSQL accepts 65,535 values per statement, and a column needs up to three. */
const MOST_VALUES = 10_000;

/**
 * Groups the changes by statement and returns their indexes in the order of sending. Returns null if no changes share a
 * statement.
 *
 * An array of records would need one statement for each record and one for each reference, and a statement costs more
 * than its row. So one statement inserts many rows of a table. A change that cannot share a statement is sent after all
 * changes before it, and sees their effects. Rows of relations come last: they refer to other rows, and no change
 * refers to them. A row that is not of a relation shares a statement only if it uses no key of another change.
 */
export function groupByStatement(changes: readonly Change[]): readonly (readonly number[])[] | null {
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
    if (canShareStatement(change, at)) {
      const waiting = change.collection.links === undefined ? records : relations;
      const table = `${change.collection.name} ${change.kind === "link" ? "link" : `${change.key !== undefined} ${listGivenColumns(change.values).join()}`}`;
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
 * Returns true if the change can share a statement: a new row of one of the store's own tables that needs no key of
 * another change, or rows of a relation whose record is made earlier.
 */
function canShareStatement(
  change: Change,
  at: number,
): change is Extract<Change, { readonly kind: "insert" | "link" }> {
  if (change.kind === "link") return !isKeyOf(change.record) || change.record.keyOf < at;
  if (change.kind !== "insert" || change.collection.existing !== undefined || isKeyOf(change.key)) return false;
  return Object.values(change.values).every(
    (value) => !isKeyOf(value) || (change.collection.links !== undefined && value.keyOf < at),
  );
}

/** Returns the columns that have a value. */
function listGivenColumns(values: WrittenValues): readonly string[] {
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
