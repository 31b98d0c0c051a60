import { StoreSetupError } from "../../store.ts";
import { fileAt, keepOpen, letGo, mayKeepOpen, openedAs, type KeptOpen } from "./kept-open.ts";
import { logOf, logState, pagesInLog, type Log, type LogState } from "./log-index.ts";
import { overwrittenLogOf, type Opened } from "./opened.ts";
import { requireInPlace, walBytes } from "./place.ts";
import { sharedIn } from "./shared.ts";

/** Checks that a file is still the opened one, and that only SQLite has written to it. */
export interface Overwriting {
  /** Throws if the file is not in its place. Also throws if its content cannot be trusted, and then always. */
  look(): void;
  /** The error if this thread or another has found that the file was overwritten. Null otherwise. */
  readonly found: Error | null;
  /** To be called after this store has closed its connections to the file. */
  close(): void;
}

/** The state of the file while no checkpoint was running. */
interface Seen {
  readonly state: LogState;
  readonly page: Buffer;
  readonly size: number;
}

/**
 * Throws if the log next to a file does not belong to it. SQLite would mix the two at the first access, or delete the
 * log if the file is empty. The header of a file shows whether it has a log. Copies by `latchkey db backup` and `VACUUM
 * INTO` have none.
 */
export function requireOwnLog(path: string): void {
  if (!mayKeepOpen || walBytes(path) <= EMPTY_LOG_BYTES || fileAt(path) === null) return;
  const file = keepOpen(path);
  const fixed = file.read(0, FIXED_BYTES);
  if (fixed.length > 0 && (!isSQLite(fixed) || fixed[18] === ofLog)) return;
  throw new StoreSetupError([
    `${path} was overwritten, and ${path}-wal holds what was written into the file before it: SQLite would mix both. ` +
      `Put a backup in its place with latchkey db restore, or move ${path}-wal away where the file itself is to be used.`,
  ]);
}

/** The magic text, the page size, and the flag for a log. They cannot change while others have the file open. */
const FIXED_BYTES = 24;
const magic = "SQLite format 3\0";
const ofLog = 2;
const EMPTY_LOG_BYTES = 32;

/** The number of attempts if checkpoints come in between. */
const tries = 3;

/**
 * The maximum number of new log pages per check. This takes some ten milliseconds. Others may have written any number
 * of pages.
 */
const mostPages = 8192;

/**
 * Only checkpoints write the file itself, and each of them first announces it in the index of the log
 * (sqlite.org/walformat.html). So a change without a checkpoint, or with other content than the log, comes from another
 * program: `cp`, `truncate`, a redirection.
 */
export function overwritingOf(opened: Opened): Overwriting {
  const { path, files, descriptors } = opened;
  // Without descriptors, only the place of the files can be checked.
  const close = (): void => letGo(path, Object.values(files));
  if (descriptors === null) return { look: () => requireInPlace(path, files), found: null, close };
  const [file, index] = [openedAs(descriptors.file), openedAs(descriptors.index)];
  const fixed = file.read(0, FIXED_BYTES);
  // A file of another kind is reported when it is read.
  const isKnown = fixed.length === FIXED_BYTES && isSQLite(fixed) && fixed[18] === ofLog && fixed[19] === ofLog;
  const pageBytes = !isKnown ? 0 : fixed.readUInt16BE(16) === 1 ? 65_536 : fixed.readUInt16BE(16);
  const log = logOf(openedAs(descriptors.log), pageBytes);
  const shared = sharedIn(opened.shared);
  const overwrittenLog = overwrittenLogOf(opened, mostPages);
  let seen: Seen | null = null;

  /**
   * Returns the state of the file, or what is wrong with it. Returns null if a checkpoint was running, so that the
   * answer is unknown.
   */
  function lookOnce(): Seen | string | null {
    const state = logState(index);
    const page = file.read(0, pageBytes);
    const size = file.size();
    if (!page.subarray(0, FIXED_BYTES).equals(fixed)) return "it begins with other bytes";
    const why = state === null || seen === null ? null : whyImpossible({ state, page, size }, seen);
    if (state === null || logState(index)?.id !== state.id) return null;
    return why ?? (state.isQuiet ? { state, page, size } : null);
  }

  function whyImpossible({ state, page, size }: Seen, before: Seen): string | null {
    // Pages that the checkpoint is moving now are still in the log. The place of all others is known.
    if (!state.isQuiet) return whyNotMoved(state);
    if (state.id === before.state.id)
      return page.equals(before.page) && size === before.size ? null : "it changed while SQLite wrote nothing into it";
    if (!mayBeFirst(log, pagesInLog(index, state.pages), state, page, before))
      return "its first page is none that was in the log";
    return whyNotMoved(state);
  }

  function whyNotMoved(state: LogState): string | null {
    const pages = pagesInLog(index, state.pages);
    return areMoved(log, pages, state, file, pageBytes) ? null : "pages that were moved into it are not there";
  }

  /** Checks again before it reports a mistake. */
  function lookAgain(): string | null {
    let why: string | null = null;
    for (let at = 0; at < tries; at++) {
      const now = whereReadable(lookOnce);
      if (now === null) continue;
      if (typeof now !== "string") {
        seen = now;
        return null;
      }
      if (why !== null) return now;
      why = now;
    }
    return null;
  }

  return {
    look() {
      if (shared.overwritten !== null) throw shared.overwritten;
      requireInPlace(path, files);
      const why = isKnown ? lookAgain() : null;
      // An overwritten log says nothing about the file, so it is reported first.
      const found = whereReadable(overwrittenLog) ?? (why === null ? null : new Error(overwritten(path, why)));
      if (found === null) return;
      shared.tell(found);
      throw found;
    },
    get found() {
      return shared.overwritten;
    },
    close,
  };
}

/** Returns null if the disk cannot be read. The answer is unknown then, and a later read may succeed. */
function whereReadable<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}

/** Returns true if a checkpoint since then may have written this first page. */
function mayBeFirst(log: Log, pages: Uint32Array, state: LogState, page: Buffer, before: Seen): boolean {
  const isSameLog = state.salts === before.state.salts;
  if (isSameLog && page.equals(before.page)) return true;
  const places: number[] = [];
  for (let at = isSameLog ? before.state.moved : 0; at < pages.length; at++) if (pages[at] === 1) places.push(at + 1);
  // A new log does not show the content of the old one. And a checkpoint writes only the last version of a page, if it
  // is among the moved ones.
  if (!isSameLog && (places.at(-1) ?? Infinity) > state.moved) return true;
  return places.toReversed().some((place) => log.has(place, page));
}

/** The number of moved pages that are checked. */
const sampled = 32;

/** Returns true if moved pages from all parts of the log, which are not in the log again, are in the file. */
function areMoved(
  log: Log,
  pages: Uint32Array,
  { moved, filePages }: LogState,
  file: KeptOpen,
  pageBytes: number,
): boolean {
  const last = new Map<number, number>();
  const step = Math.max(1, Math.floor(moved / sampled));
  for (let place = moved; place > 0; place -= step) last.set(pages[place - 1]!, place);
  for (const [at, page] of pages.entries()) if (last.has(page)) last.set(page, at + 1);
  for (const [page, place] of last) {
    // Pages beyond the end of the file have been cut off.
    if (place > moved || page > filePages || log.has(place, file.read((page - 1) * pageBytes, pageBytes))) continue;
    // A page that was already cut off when it should be moved was not moved.
    let size = Infinity;
    for (let at = place; at <= pages.length; at++) size = Math.min(size, log.sizeAfter(at) || Infinity);
    if (page <= size) return false;
  }
  return true;
}

function isSQLite(fixed: Buffer): boolean {
  return fixed.toString("latin1", 0, magic.length) === magic;
}

function overwritten(path: string, why: string): string {
  return (
    `${path} was overwritten while it was in use (${why}), and nothing is read or written any more. ` +
    "Stop every process on it, put a backup in its place with latchkey db restore, which a plain copy is none of, and start again"
  );
}
