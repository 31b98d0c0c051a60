import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { findOldest, ownTables, type Stats, type TableStats } from "../../sql/stats.ts";
import { playOn, prepare } from "../connection/connection.ts";
import { walBytes } from "../file/place.ts";
import { requirePlace } from "../file/reaching.ts";
import { sqliteSchema } from "../table-changes/migration.ts";
import { reading } from "./alone.ts";
import { rememberedIn } from "./source.ts";
import { sizeOfTree, type TreeSize } from "./trees.ts";

/**
 * The time limit for reading the pages of all tables, in milliseconds. All pages are read in one snapshot, and the log
 * cannot restart in the meantime.
 */
const patienceMs = 700;

/** Measures a file, also while it is in use. */
export function statsOfFile(path: string, withinMs = patienceMs): Promise<Stats> {
  return reading(path, (database) => {
    const [[pages, pageSize, free]] = prepare(
      database,
      "SELECT page_count, page_size, freelist_count FROM pragma_page_count, pragma_page_size, pragma_freelist_count",
    ).all() as [[number, number, number]];
    const tables = tablesIn(database, performance.now() + withinMs);
    const bytes = Math.max(pages * pageSize, statSync(path).size);
    return { bytes, freeBytes: free * pageSize, walBytes: walBytes(requirePlace(path)), tables };
  });
}

interface Tree {
  readonly table: string;
  readonly name: string;
  /** True for a table with rowids, in which only the leaf pages contain rows. */
  readonly isByNumber: boolean;
}

function tablesIn(database: DatabaseSync, until: number): readonly TableStats[] {
  const trees = treesIn(database);
  const names = [...new Set(trees.map(({ table }) => table))];
  const ours = ownTables(sqliteSchema, rememberedIn(database), names);
  const looked = trees.filter(({ table }) => ours.has(table));
  const sizes = new Map<string, TreeSize[]>();
  for (const [at, { table, name, isByNumber }] of looked.entries()) {
    // The time that a small table does not need is left for the next tables.
    const share = (until - performance.now()) / (looked.length - at);
    const size = sizeOfTree(database, name, isByNumber, performance.now() + share);
    sizes.set(table, [...(sizes.get(table) ?? []), size]);
  }
  return [...ours].map(([table, collection]) => {
    const all = sizes.get(table)!;
    return {
      table,
      // The table itself comes before its indexes.
      rows: all[0]!.entries,
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
      estimated: all.some(({ estimated }) => estimated),
      oldest: collection === null ? null : playOn(database, findOldest(collection)),
    };
  });
}

/** Returns every table, each followed by its indexes. */
function treesIn(database: DatabaseSync): readonly Tree[] {
  const found = prepare(
    database,
    `SELECT s.tbl_name, s.name, s.type = 'table' AND NOT l.wr FROM sqlite_schema AS s JOIN pragma_table_list AS l ON l.schema = 'main' AND l.name = s.tbl_name
     WHERE s.type IN ('table', 'index') AND s.rootpage > 0
     ORDER BY s.tbl_name, s.type = 'index', s.name`,
  ).all() as [string, string, number][];
  return found.map(([table, name, isByNumber]) => ({ table, name, isByNumber: isByNumber === 1 }));
}
