import type { Cell } from "../../sql/language/dialect.ts";
import type { PreparedStatement } from "../connection/connection.ts";

/** The cells of a row. Undefined if there is no such row. */
type FoundCells = readonly Cell[] | undefined;

/** A statement caches at most `mostRows` rows of at most `longestRow` characters. */
const mostRows = 1000;
const longestRow = 2048;

/** Reads a row by one value. `version` changes after every commit. */
export type ReadRow = (value: Cell, version: number) => FoundCells;

/**
 * Caches each row until the next commit. Every request reads the caller's account, and reading a row from SQLite costs
 * ten times as much as a lookup in this cache.
 */
export function rememberedRows(statement: PreparedStatement): ReadRow {
  const rows = new Map<Cell, FoundCells>();
  let readAt: number | null = null;

  return (value, version) => {
    if (readAt !== version) {
      rows.clear();
      readAt = version;
    }
    const cachedRow = rows.get(value);
    if (cachedRow !== undefined) return cachedRow;
    const cells = statement.get(value);
    if (cells !== undefined && isShort(cells)) {
      if (rows.size >= mostRows) rows.clear();
      rows.set(value, cells);
    }
    return cells;
  };
}

function isShort(cells: readonly Cell[]): boolean {
  let length = 0;
  for (const cell of cells) if (typeof cell === "string") length += cell.length;
  return length <= longestRow;
}
