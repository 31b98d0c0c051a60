import { valueOfJSON } from "../core/exact-numbers.ts";
import type { Idempotency, JSONValue, Recalled, Row, StoredRecord } from "./store.ts";

/** What is kept of the rows that a write has left: of the first ones the columns that its answer needs, and of the others nothing. */
export function keptRows(
  { columns, rows: count = 1 }: Idempotency,
  rows: readonly (Row | null)[],
): readonly (Row | null)[] {
  const first = rows.slice(0, count);
  return first.some((row) => row === null) ? [] : first.map((row) => keptOf(row!, columns));
}

function keptOf(row: Row, columns: readonly string[]): Row {
  const record: Record<string, StoredRecord[string]> = {};
  for (const name of columns) record[name] = row.record[name]!;
  return { revision: row.revision, record };
}

/** The text under which a write is kept: its rows, and with them what its answer says besides. */
export function formatKept({ answer, erasable }: Idempotency, rows: readonly (Row | null)[]): string {
  // Of what goes with its row nothing stays where the write itself has taken that away.
  const isGone = erasable && rows.length === 0;
  return JSON.stringify(answer === undefined || isGone ? rows : { rows, answer });
}

/** Reads it back. */
export function parseKept(text: string): Extract<Recalled, { readonly kind: "replayed" }> {
  const kept = valueOfJSON(text) as
    | readonly (Row | null)[]
    | { readonly rows: (Row | null)[]; readonly answer: JSONValue };
  return "rows" in kept ? { kind: "replayed", ...kept } : { kind: "replayed", rows: kept };
}

/** The key under which stands that a record tells of a row. It expires with that; no caller's key begins like this. */
export function mentionOf(collection: string, id: unknown, key = ""): string {
  return `about ${collection} ${String(id)} ${key}`;
}

/** Every key that begins with a text which ends in a space. */
export function keysFrom(prefix: string): readonly [from: string, to: string] {
  return [prefix, `${prefix.slice(0, -1)}!`];
}

/** What a record holds whose row was erased: the id, so that a repeat is still known as one. */
export function erasedRows(id: unknown): string {
  return JSON.stringify([{ revision: 0, record: { id } }]);
}
