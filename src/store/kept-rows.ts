import { valueOfJSON } from "../core/exact-numbers.ts";
import type { Idempotency, JSONValue, Recalled, Row, StoredRecord } from "./store.ts";

/**
 * Returns the rows of a write as its idempotency record stores them: only the columns that the response needs, and only
 * of the rows in the response.
 */
export function rowsToStore(
  { columns, rows: count = 1 }: Idempotency,
  rows: readonly (Row | null)[],
): readonly (Row | null)[] {
  const first = rows.slice(0, count);
  return first.some((row) => row === null) ? [] : first.map((row) => pickColumns(row!, columns));
}

function pickColumns(row: Row, columns: readonly string[]): Row {
  const record: Record<string, StoredRecord[string]> = {};
  for (const name of columns) record[name] = row.record[name]!;
  return { revision: row.revision, record };
}

/** Formats the result of a write for its idempotency record: its rows and the rest of its response. */
export function formatStored({ answer, erasable }: Idempotency, rows: readonly (Row | null)[]): string {
  // An erasable response must be erased with its row. If the write deleted the row, a later `forget` could not find the
  // response, so it is not stored.
  const isGone = erasable && rows.length === 0;
  return JSON.stringify(answer === undefined || isGone ? rows : { rows, answer });
}

/** Parses the text of {@link formatStored}. */
export function parseStored(text: string): Extract<Recalled, { readonly kind: "replayed" }> {
  const stored = valueOfJSON(text) as
    | readonly (Row | null)[]
    | { readonly rows: (Row | null)[]; readonly answer: JSONValue };
  return "rows" in stored ? { kind: "replayed", ...stored } : { kind: "replayed", rows: stored };
}

/**
 * Returns the key of a note. The note says that the idempotency record with the client's `key` contains this row. The
 * note expires with the record. Without `key`, returns the prefix of all notes about the row. No key that a client
 * chooses starts with this prefix.
 */
export function formatMention(collection: string, id: unknown, key = ""): string {
  return `about ${collection} ${String(id)} ${key}`;
}

/** Returns the range of all keys with this prefix, which must end with a space. The range does not include `to`. */
export function keysFrom(prefix: string): readonly [from: string, to: string] {
  return [prefix, `${prefix.slice(0, -1)}!`];
}

/**
 * Returns what an idempotency record contains after its row was erased: only the id, so that a repeated request is
 * still recognized.
 */
export function erasedRows(id: unknown): string {
  return JSON.stringify([{ revision: 0, record: { id } }]);
}
