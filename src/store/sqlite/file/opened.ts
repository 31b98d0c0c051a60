import type { LogSizes } from "../connection.ts";
import { isOpenAs, keepOpen, mayKeepOpen, openedAs, type KeptOpen } from "./kept-open.ts";
import { logState, type LogState } from "./log-index.ts";
import { requireInPlace, type FilesInUse } from "./place.ts";

/** A database that is in use, as whoever opened it knows it. */
export interface Opened {
  readonly path: string;
  /** Which files it consists of (`filesAt`). */
  readonly files: FilesInUse;
  /** Open until the last thread has ended (`keepOpen`); null where this thread has none of them. */
  readonly descriptors: Descriptors | null;
}

/** The descriptors of the file, of its log and of the index of the log. */
export interface Descriptors {
  readonly file: number;
  readonly log: number;
  readonly index: number;
}

/**
 * Opens the files of a database, once a process; null where this thread may keep none open, and where they are not read as they are. `sizes`: what
 * SQLite says of the log, where it can.
 */
export function descriptorsOf(path: string, sizes: (() => LogSizes) | null): Descriptors | null {
  if (!mayKeepOpen) return null;
  const [file, log, index] = [keepOpen(path), keepOpen(`${path}-wal`), keepOpen(`${path}-shm`)];
  if (!isReadAsItIs(index, sizes)) return null;
  return { file: file.descriptor, log: log.descriptor, index: index.descriptor };
}

/** While others write, the two are asked of different moments. */
const tries = 20;

/** SQLite has the index of the log in memory, and there are file systems (9P) on which a file is read as it was before it was changed there. */
export function isReadAsItIs(index: KeptOpen, sizes: (() => LogSizes) | null): boolean {
  for (let at = 0; at < tries; at++) {
    const state = logState(index);
    const [pages, moved] = sizes?.() ?? [state?.pages, state?.moved];
    if (state !== null && state.pages === pages && state.moved === moved) return true;
  }
  return false;
}

/** What a thread makes of what it was started with. In Deno each thread has descriptors of its own: there who opened the files looks into the log alone, twice a second. */
export function sharedBy(opened: Opened): Opened {
  const { files, descriptors } = opened;
  return descriptors !== null && isOpenAs(descriptors.log, files["-wal"]) && isOpenAs(descriptors.index, files["-shm"])
    ? opened
    : { ...opened, descriptors: null };
}

/**
 * Gives what throws unless the files that were opened still stand in their places, and the log is what SQLite has written into it. Whoever writes asks
 * before, and once more before anything is acknowledged: what is written behind the hole of a log that was cut off is lost at the next start, and moved
 * into the file such a log makes it unusable.
 */
export function untouchedOf(opened: Opened): () => void {
  const overwritten = overwrittenLogOf(opened);
  return () => {
    requireInPlace(opened.path, opened.files);
    const why = overwritten();
    if (why !== null) throw why;
  };
}

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** Where the header of the log has the salts, which the index repeats, and where that of each page does. */
const saltsAt = 16;
const saltsOfPageAt = 8;
const SALTS_BYTES = 8;

/** Gives what finds that somebody but SQLite has written into the log, or cut it off; null where nobody has. Throws where it cannot be read. */
export function overwrittenLogOf({ path, descriptors }: Opened): () => Error | null {
  if (descriptors === null) return () => null;
  const [index, log] = [openedAs(descriptors.index), openedAs(descriptors.log)];
  const saltsFrom = (at: number): string => log.read(at, SALTS_BYTES).toString("hex");
  let seen: Pick<LogState, "salts" | "pages"> = { salts: "", pages: 0 };

  function whyNot({ salts, pages, pageBytes }: LogState): string | null {
    const endOf = (page: number): number => HEADER_BYTES + page * (FRAME_HEADER_BYTES + pageBytes);
    const size = log.size();
    if (saltsFrom(saltsAt) !== salts) return "it has another header";
    if (size < endOf(pages)) return `${size} bytes of ${endOf(pages)} are there`;
    // SQLite writes on where it was, also behind a hole: so the last page of the look before has to be there still.
    const isHole = seen.salts === salts && saltsFrom(endOf(seen.pages - 1) + saltsOfPageAt) !== salts;
    return isHole ? "pages of it are gone" : null;
  }

  return () => {
    const state = logState(index);
    // Of a log that has just begun anew nothing is read, and its header is the one from before until something is written.
    if (state === null || state.pages === 0) return null;
    const why = whyNot(state);
    if (why === null) seen = state;
    // It may have begun anew meanwhile.
    if (why === null || logState(index)?.salts !== state.salts) return null;
    return new Error(
      `${path}-wal was overwritten while it was in use (${why}), and nothing is read or written any more. ` +
        `What it held, and had not been moved into the database, is lost. Stop every process on the database, move ${path}-wal away, look at the database with latchkey db check, ` +
        "put a backup in its place where it is damaged (latchkey db restore), and start again",
    );
  };
}
