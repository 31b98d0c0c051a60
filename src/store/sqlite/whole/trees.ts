import type { DatabaseSync } from "node:sqlite";
import { prepare } from "../connection.ts";

/** What a table or an index holds. */
export interface TreeSize {
  readonly entries: number;
  readonly bytes: number;
  /** Judged by the part that could be looked at in time. */
  readonly estimated: boolean;
}

/** A page as `dbstat` tells it: its way from the root (`/`, `/01a/`, `/01a/003/`), what it is, its cells, its bytes. */
type Page = [path: string, type: "internal" | "leaf" | "overflow", cells: number, bytes: number];

/** Of fewer pages nothing is told: a millisecond. */
const fewestPages = 100;

/**
 * Counts the entries and the pages of a tree by looking at its pages, which is ten times as fast as counting rows and tells both. `isByNumber`:
 * a table whose inner pages hold no rows. The pages come in the order of the keys, and each inner page says how many hang below it: so where
 * time is over, the place of the last page tells how large a part of the leaves was seen.
 */
export function sizeOfTree(database: DatabaseSync, name: string, isByNumber: boolean, until: number): TreeSize {
  const pages = prepare(database, "SELECT path, pagetype, ncell, pgsize FROM dbstat WHERE name = ?").iterate(name);
  const children: number[] = [];
  const leaves = { entries: 0, bytes: 0 };
  const inner = { entries: 0, bytes: 0 };
  let looked = 0;
  for (const [path, type, cells, size] of pages as Iterable<Page>) {
    const way = wayOf(path);
    const seen = partBefore(way, children);
    if (seen > 0 && looked++ > fewestPages && performance.now() > until)
      return { entries: Math.round(leaves.entries / seen), bytes: Math.round(leaves.bytes / seen), estimated: true };
    const kind = type === "internal" ? inner : leaves;
    kind.bytes += size;
    kind.entries += cells;
    if (type === "internal") children[way.length] = cells + 1;
  }
  const entries = leaves.entries + (isByNumber ? 0 : inner.entries);
  return { entries, bytes: leaves.bytes + inner.bytes, estimated: false };
}

/** Which child it is on each level. What runs over from a page follows it: `/01a/003+000000`. */
function wayOf(path: string): readonly number[] {
  return path
    .split("/")
    .filter((step) => step !== "")
    .map((step) => Number.parseInt(step, 16));
}

/** How much of a tree lies before a page, from 0 to 1. */
function partBefore(way: readonly number[], children: readonly number[]): number {
  let part = 0;
  let share = 1;
  for (const [level, at] of way.entries()) {
    share /= children[level] ?? 1;
    part += at * share;
  }
  return part;
}
