import { StoreSetupError } from "../../store.ts";
import type { LogSizes } from "../connection.ts";
import { codeOf } from "../errors.ts";
import { isOpenAs, keepOpen, mayKeepOpen, openedAs, type KeptOpen } from "./kept-open.ts";
import { logState, type LogState } from "./log-index.ts";
import { requireInPlace, type FilesInUse } from "./place.ts";
import { makeShared, sharedIn } from "./shared.ts";

/** An open database, as the code that opened it knows it. */
export interface Opened {
  readonly path: string;
  /** The files of the database (`filesAt`). */
  readonly files: FilesInUse;
  /** Open until the last thread stops (`keepOpen`). Null if this thread has none. */
  readonly descriptors: Descriptors | null;
  /** The memory that its threads share (`sharedIn`). */
  readonly shared: SharedArrayBuffer;
}

/** The descriptors of the file, of its log and of the index of the log. */
export interface Descriptors {
  readonly file: number;
  readonly log: number;
  readonly index: number;
}

/**
 * Opens the files of a database, once per process. Returns null if this thread must not keep files open, or if they
 * cannot be read correctly. `sizes` returns the sizes of the log from SQLite, if it supports that.
 */
export function descriptorsOf(path: string, sizes: (() => LogSizes) | null): Descriptors | null {
  if (!mayKeepOpen) return null;
  const [file, log, index] = [keepOpen(path), keepOpen(`${path}-wal`), keepOpen(`${path}-shm`)];
  if (!isReadAsItIs(index, sizes)) return null;
  return { file: file.descriptor, log: log.descriptor, index: index.descriptor };
}

/** The number of attempts, because other writes can change the state between the two reads. */
const tries = 20;

/**
 * Returns true if the file of the index shows its current state. SQLite maps it into memory, and some file systems (9P)
 * return an older state of the file.
 */
export function isReadAsItIs(index: KeptOpen, sizes: (() => LogSizes) | null): boolean {
  for (let at = 0; at < tries; at++) {
    const state = logState(index);
    const [pages, moved] = sizes?.() ?? [state?.pages, state?.moved];
    if (state !== null && state.pages === pages && state.moved === moved) return true;
  }
  return false;
}

/**
 * Returns the database for a new thread. In Deno, each thread has its own descriptors. There, only the thread that
 * opened the files checks the log, twice a second.
 */
export function sharedBy(opened: Opened): Opened {
  const { files, descriptors } = opened;
  return descriptors !== null && isOpenAs(descriptors.log, files["-wal"]) && isOpenAs(descriptors.index, files["-shm"])
    ? opened
    : { ...opened, descriptors: null };
}

/** Throws unless the opened files are still in place, and only SQLite has written to the log. */
export type RequireUntouched = (newPages?: NewPages) => void;

/**
 * The new pages of the log to check. A hole ends at the next write, so a process checks only the first and the last of
 * its own new pages.
 */
export type NewPages = "every page" | "ours";

/**
 * Returns the check for a writer. It runs before a write, and again before the acknowledgment. A write after the hole
 * of a truncated log is lost at the next start, and a checkpoint of such a log damages the file.
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

/** The position of the salts in the header of the log, which the index repeats, and in the header of each page. */
const saltsAt = 16;
const saltsOfPageAt = 8;
const SALTS_BYTES = 8;

/**
 * Returns a function that detects changes of the log by another program, or its truncation. It returns null if there
 * are none, and throws if the log cannot be read. `mostPages` limits the new pages of one check.
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
    // SQLite continues at its last place, even after a hole. A hole that has appeared since then starts before the last
    // checked page, or after it.
    const seen = shared.pagesSeen(salts);
    const last = Math.min(pages, seen + mostPages);
    const step = newPages === "ours" ? Math.max(1, last - seen) : 1;
    for (let page = Math.max(seen, 1); page <= last; page += step) if (!isThere(page)) return "pages of it are gone";
    if (last > seen) shared.havingSeen(salts, last);
    return null;
  }

  return (newPages = "every page") => {
    const state = logState(index);
    // After a restart, the log is not read, and its header stays the old one until the next write.
    if (state === null || state.pages === 0) return null;
    const why = whyNot(state, newPages);
    // The log may have restarted in the meantime.
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

/**
 * Returns the cause of a failed start. SQLite cannot distinguish a disk error from a log that was overwritten while
 * other processes use it.
 */
export function causeOfStart(error: unknown, path: string): unknown {
  if (!unreadable.has((codeOf(error) ?? 0) & 0xff)) return error;
  try {
    const why = overwrittenLogOf({ path, descriptors: descriptorsOf(path, null), shared: makeShared() }, Infinity)();
    return why === null ? error : new StoreSetupError([why.message], { cause: error });
  } catch {
    return error;
  }
}
