import { StoreSetupError } from "../../store.ts";
import type { LogSizes } from "../connection.ts";
import { codeOf } from "../errors.ts";
import { isOpenAs, keepOpen, mayKeepOpen, openedAs, type KeptOpen } from "./kept-open.ts";
import { logState, type LogState } from "./log-index.ts";
import { requireInPlace, type FilesInUse } from "./place.ts";
import { makeShared, sharedIn } from "./shared.ts";

/** A database that is in use, as whoever opened it knows it. */
export interface Opened {
  readonly path: string;
  /** Which files it consists of (`filesAt`). */
  readonly files: FilesInUse;
  /** Open until the last thread has ended (`keepOpen`); null where this thread has none of them. */
  readonly descriptors: Descriptors | null;
  /** What its threads tell each other (`sharedIn`). */
  readonly shared: SharedArrayBuffer;
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

/** Throws unless the files that were opened still stand in their places, and the log is what SQLite has written into it. */
export type RequireUntouched = (newPages?: NewPages) => void;

/** What is new in the log. A hole that was there ends where somebody wrote on: so of pages that are all its own, whoever wrote them looks at the ends alone. */
export type NewPages = "every page" | "ours";

/**
 * Whoever writes asks before, and once more before anything is acknowledged: what is written behind the hole of a log that was cut off is lost at the
 * next start, and moved into the file such a log makes it unusable.
 */
export function untouchedOf(opened: Opened): RequireUntouched {
  const shared = sharedIn(opened.shared);
  const overwritten = overwrittenLogOf(opened, Infinity);
  return (newPages) => {
    if (shared.overwritten !== null) throw shared.overwritten;
    requireInPlace(opened.path, opened.files);
    const why = overwritten(newPages);
    if (why === null) return;
    shared.tell(why);
    throw why;
  };
}

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** Where the header of the log has the salts, which the index repeats, and where that of each page does. */
const saltsAt = 16;
const saltsOfPageAt = 8;
const SALTS_BYTES = 8;

/**
 * Gives what finds that somebody but SQLite has written into the log, or cut it off; null where nobody has. Throws where it cannot be read. `mostPages`: of
 * how many that are new it looks at a time.
 */
export function overwrittenLogOf(
  { path, descriptors, shared: memory }: Pick<Opened, "path" | "descriptors" | "shared">,
  mostPages: number,
): (newPages?: NewPages) => Error | null {
  if (descriptors === null) return () => null;
  const [index, log] = [openedAs(descriptors.index), openedAs(descriptors.log)];
  const shared = sharedIn(memory);
  const found = Buffer.alloc(SALTS_BYTES);

  function whyNot({ salts, pages, pageBytes }: LogState, newPages: NewPages): string | null {
    const wanted = Buffer.from(salts, "hex");
    const endOf = (page: number): number => HEADER_BYTES + page * (FRAME_HEADER_BYTES + pageBytes);
    const hasSalts = (at: number): boolean => log.readInto(found, at) === SALTS_BYTES && found.equals(wanted);
    const isThere = (page: number): boolean => hasSalts(endOf(page - 1) + saltsOfPageAt);
    const size = log.size();
    if (!hasSalts(saltsAt)) return "it has another header";
    if (size < endOf(pages)) return `${size} bytes of ${endOf(pages)} are there`;
    // SQLite writes on where it was, also behind a hole. One that has come since begins before the last page that was seen, or behind it.
    const seen = shared.pagesSeen(salts);
    const last = Math.min(pages, seen + mostPages);
    const step = newPages === "ours" ? Math.max(1, last - seen) : 1;
    for (let page = Math.max(seen, 1); page <= last; page += step) if (!isThere(page)) return "pages of it are gone";
    if (last > seen) shared.havingSeen(salts, last);
    return null;
  }

  return (newPages = "every page") => {
    const state = logState(index);
    // Of a log that has just begun anew nothing is read, and its header is the one from before until something is written.
    if (state === null || state.pages === 0) return null;
    const why = whyNot(state, newPages);
    // It may have begun anew meanwhile.
    if (why === null || logState(index)?.salts !== state.salts) return null;
    return new Error(
      `${path}-wal was overwritten while it was in use (${why}), and nothing is read or written any more. ` +
        `What it held, and had not been moved into the database, is lost. Stop every process on the database, move ${path}-wal away, look at the database with latchkey db check, ` +
        "put a backup in its place where it is damaged (latchkey db restore), and start again",
    );
  };
}

/** SQLITE_IOERR, SQLITE_CORRUPT and SQLITE_NOTADB. */
const unreadable: ReadonlySet<number> = new Set([10, 11, 26]);

/** What a start fails of: SQLite cannot tell a log that was overwritten while others have it open from a disk that fails. */
export function causeOfStart(error: unknown, path: string): unknown {
  if (!unreadable.has((codeOf(error) ?? 0) & 0xff)) return error;
  try {
    const why = overwrittenLogOf({ path, descriptors: descriptorsOf(path, null), shared: makeShared() }, Infinity)();
    return why === null ? error : new StoreSetupError([why.message], { cause: error });
  } catch {
    return error;
  }
}
