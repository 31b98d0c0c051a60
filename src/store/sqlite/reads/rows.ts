import type { Cell } from "../../sql/dialect.ts";
import type { Statement } from "../connection.ts";

/** What SQLite gives of a row; undefined where there is none. */
type Cells = readonly Cell[] | undefined;

/** How many rows of one statement are remembered, and how long each may be, in characters. */
const mostRows = 1000;
const longestRow = 2048;

/** Reads a row by one value. `version` changes whenever anyone has committed. */
export type ReadRow = (value: Cell, version: number) => Cells;

/**
 * Remembers each row for as long as nobody has committed anything: then it is the same row. A caller's own account is read with each
 * request, and to ask SQLite for a row costs ten times as much as to look here.
 */
export function rememberedRows(statement: Statement): ReadRow {
  const rows = new Map<Cell, Cells>();
  let readAt: number | null = null;

  return (value, version) => {
    if (readAt !== version) {
      rows.clear();
      readAt = version;
    }
    const known = rows.get(value);
    if (known !== undefined) return known;
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
