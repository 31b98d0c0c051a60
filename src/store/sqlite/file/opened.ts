import { isOpenAs, keepOpen, mayKeepOpen, openedAs } from "./kept-open.ts";
import { logState } from "./log-index.ts";
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

/** Opens the files of a database, once a process; null where this thread may keep none open. */
export function descriptorsOf(path: string): Descriptors | null {
  if (!mayKeepOpen) return null;
  const [file, log, index] = [keepOpen(path), keepOpen(`${path}-wal`), keepOpen(`${path}-shm`)];
  return { file: file.descriptor, log: log.descriptor, index: index.descriptor };
}

/** What a thread makes of what it was started with. In Deno each thread has descriptors of its own: there who opened the files looks into the log alone, twice a second. */
export function sharedBy(opened: Opened): Opened {
  const { files, descriptors } = opened;
  return descriptors !== null && isOpenAs(descriptors.log, files["-wal"]) && isOpenAs(descriptors.index, files["-shm"])
    ? opened
    : { ...opened, descriptors: null };
}

/**
 * Throws unless the files that were opened still stand in their places, and the log is what SQLite has written into it. Whoever writes asks before,
 * and once more before anything is acknowledged: what is written behind the hole of a log that was cut off is lost at the next start, and moved into
 * the file such a log makes it unusable.
 */
export function requireUntouched(opened: Opened): void {
  requireInPlace(opened.path, opened.files);
  const why = overwrittenLog(opened);
  if (why !== null) throw why;
}

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** Where the header has the salts, which the index repeats. */
const salts = { from: 16, to: 24 } as const;

/** That somebody but SQLite has written into the log, or cut it off; null where nobody has. Throws where it cannot be read. */
export function overwrittenLog({ path, descriptors }: Opened): Error | null {
  if (descriptors === null) return null;
  const [index, log] = [openedAs(descriptors.index), openedAs(descriptors.log)];
  const state = logState(index);
  // Of a log that has just begun anew nothing is read, and its header is the one from before until something is written.
  if (state === null || state.pages === 0) return null;
  const least = HEADER_BYTES + state.pages * (FRAME_HEADER_BYTES + state.pageBytes);
  const size = log.size();
  const isOwn = log.read(0, HEADER_BYTES).toString("hex", salts.from, salts.to) === state.salts;
  if (isOwn && size >= least) return null;
  // It may have begun anew meanwhile.
  if (logState(index)?.salts !== state.salts) return null;
  return new Error(
    `${path}-wal was overwritten while it was in use (${isOwn ? `${size} bytes of ${least} are there` : "it has another header"}), and nothing is read or written any more. ` +
      `What it held, and had not been moved into the database, is lost. Stop every process on the database, move ${path}-wal away, look at the database with latchkey db check, ` +
      "put a backup in its place where it is damaged (latchkey db restore), and start again",
  );
}
