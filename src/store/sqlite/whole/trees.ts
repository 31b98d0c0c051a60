import type { DatabaseSync } from "node:sqlite";
import { prepare } from "../connection/connection.ts";

/** The size of a table or an index. SQLite stores each as a tree of pages. */
export interface TreeSize {
  readonly entries: number;
  readonly bytes: number;
  /** True if the numbers are an estimate from the part that was read in time. */
  readonly estimated: boolean;
}

/** A page in the form of `dbstat`: its path from the root (`/`, `/01a/`, `/01a/003/`), type, cells and bytes. */
type Page = [path: string, type: "internal" | "leaf" | "overflow", cells: number, bytes: number];

/** The minimum number of pages for an estimate. Reading them takes about a millisecond. */
const fewestPages = 100;

/**
 * Counts the entries and the bytes of a tree by reading its pages, which is ten times as fast as counting rows.
 * `isByNumber` is true for a table whose inner pages have no rows. The pages come in the order of the keys, and each
 * inner page has the number of its children. So if the time limit ends the reading, the position of the last page shows
 * which part of the leaves was read.
 */
export function sizeOfTree(database: DatabaseSync, name: string, isByNumber: boolean, until: number): TreeSize {
  const pages = prepare(database, "SELECT path, pagetype, ncell, pgsize FROM dbstat WHERE name = ?").iterate(name);
  const children: number[] = [];
  const leaves = { entries: 0, bytes: 0 };
  const inner = { entries: 0, bytes: 0 };
  let looked = 0;
  for (const [path, type, cells, size] of pages as Iterable<Page>) {
    const indexes = splitTreePath(path);
    const seen = partBefore(indexes, children);
    if (seen > 0 && looked++ > fewestPages && performance.now() > until)
      return { entries: Math.round(leaves.entries / seen), bytes: Math.round(leaves.bytes / seen), estimated: true };
    const kind = type === "internal" ? inner : leaves;
    kind.bytes += size;
    kind.entries += cells;
    if (type === "internal") children[indexes.length] = cells + 1;
  }
  const entries = leaves.entries + (isByNumber ? 0 : inner.entries);
  return { entries, bytes: leaves.bytes + inner.bytes, estimated: false };
}

/** Returns the index of the child on each level. Overflow pages follow their page: `/01a/003+000000`. */
function splitTreePath(path: string): readonly number[] {
  return path
    .split("/")
    .filter((step) => step !== "")
    .map((step) => Number.parseInt(step, 16));
}

/** Returns the part of a tree before a page, from 0 to 1. */
function partBefore(indexes: readonly number[], children: readonly number[]): number {
  let part = 0;
  let share = 1;
  for (const [level, at] of indexes.entries()) {
    share /= children[level] ?? 1;
    part += at * share;
  }
  return part;
}
