import type { Eventually } from "../../../core/eventually.ts";
import type { Engine } from "../../sql/store.ts";
import { LongReadNeeded, type Collection, type ListQuery, type ListText, type Row, type Where } from "../../store.ts";
import type { IsLasting } from "../existing/views.ts";
import type { LongReads } from "./long-reads.ts";
import { rememberedPages } from "./pages.ts";
import type { SQLiteReader } from "./reader.ts";

/**
 * Returns the reads of the store. Long reads (`long`) run in separate threads, and all other reads in this thread. The
 * pages and counts of long reads are cached.
 */
export function offloadReads(
  reader: SQLiteReader,
  long: LongReads,
  version: () => number,
  isLasting: IsLasting,
): Pick<Engine, "list" | "listJSON" | "listRelated" | "count"> {
  const pages = rememberedPages(version);
  const counts = rememberedCounts(version, isLasting);

  async function readPage(query: ListQuery): Promise<ListText> {
    // The version is read before the page. If a commit comes in between, the cached page counts as out of date.
    const now = version();
    const page = await long.read("listJSON", query);
    pages.keep(query, page, now);
    return page;
  }

  async function countRows(collection: Collection, where: Where | null): Promise<number> {
    const now = version();
    const count = await long.read("count", { collection, where });
    counts.keep(collection, where, count, now);
    return count;
  }

  const listLong = (query: ListQuery): Promise<readonly Row[]> => long.read("list", query);
  const listJSONLong = (query: ListQuery): Eventually<ListText> => pages.find(query) ?? readPage(query);

  return {
    list: (query) => (query.long === true ? listLong(query) : orLong(query, reader.list, listLong)),
    listJSON: (query) => (query.long === true ? listJSONLong(query) : orLong(query, reader.listJSON, listJSONLong)),
    listRelated: (query) => (query.long === true ? long.read("listRelated", query) : reader.listRelated(query)),
    count: (collection, where, isLong) =>
      isLong === true
        ? (counts.find(collection, where) ?? countRows(collection, where))
        : reader.count(collection, where),
  };
}

/** Reads a list. If that needs a long read and the caller does not expect it, reads the list again as a long read. */
export function orLong<T>(
  query: ListQuery,
  read: (query: ListQuery) => T,
  readLong: (query: ListQuery) => Eventually<T>,
): Eventually<T> {
  try {
    return read(query);
  } catch (error) {
    if (!(error instanceof LongReadNeeded) || query.mayRefuse === true) throw error;
    return readLong({ ...query, long: true });
  }
}

/**
 * The cached counts of rows that match a condition, or of all rows if the condition is null. A condition is identified
 * by its object.
 */
interface RememberedCounts {
  /** Returns null if there is no count, or if a transaction has committed since. */
  find(collection: Collection, where: Where | null): number | null;
  /** Stores a count. `version` is the version from before the count. */
  keep(collection: Collection, where: Where | null, count: number, version: number): void;
}

/** Caches each count until the next commit. A client that reads page after page asks for the same count each time. */
function rememberedCounts(version: () => number, isLasting: IsLasting): RememberedCounts {
  const remembered = new WeakMap<Collection, WeakMap<object, { readonly version: number; readonly count: number }>>();
  return {
    find(collection, where) {
      const entry = remembered.get(collection)?.get(where ?? collection);
      return entry !== undefined && entry.version === version() ? entry.count : null;
    },
    keep(collection, where, count, now) {
      if (!isLasting(collection)) return;
      let counts = remembered.get(collection);
      if (counts === undefined) remembered.set(collection, (counts = new WeakMap()));
      counts.set(where ?? collection, { version: now, count });
    },
  };
}
