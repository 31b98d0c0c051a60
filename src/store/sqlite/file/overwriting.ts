import { StoreSetupError } from "../../store.ts";
import { fileAt, keepOpen, letGo, mayKeepOpen, openedAs, type KeptOpen } from "./kept-open.ts";
import { logOf, logState, pagesInLog, type Log, type LogState } from "./log-index.ts";
import { overwrittenLogOf, type Opened } from "./opened.ts";
import { requireInPlace, walBytes } from "./place.ts";
import { sharedIn } from "./shared.ts";

/** Looks whether a file is still the one that was opened, and whether anybody but SQLite has written into it. */
export interface Overwriting {
  /** Throws where it is not in its place, and where nothing in it is to be believed any more: then ever after. */
  look(): void;
  /** That somebody has overwritten it, as this thread or another has found; null where nobody has. */
  readonly found: Error | null;
  /** To be called when this store has closed its connections to the file. */
  close(): void;
}

/** What was seen of the file while no checkpoint was under way. */
interface Seen {
  readonly state: LogState;
  readonly page: Buffer;
  readonly size: number;
}

/**
 * Throws where a log stands beside a file that is none of its own: SQLite would mix the two at the first access, and would remove the log where
 * the file is empty. The file of a log says that it has one, which copies by `latchkey db backup` and `VACUUM INTO` do not.
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

/** The magic text, the size of pages, and that there is a log: nobody can change them while others have the file open. */
const FIXED_BYTES = 24;
const magic = "SQLite format 3\0";
const ofLog = 2;
const EMPTY_LOG_BYTES = 32;

/** How often it is looked while checkpoints come in between. */
const tries = 3;

/** So many new pages of the log are looked at in one go, which takes some ten milliseconds: others may have written any number of them. */
const mostPages = 8192;

/**
 * The file itself is written by checkpoints alone, and each of them says so in the index of the log before it begins (sqlite.org/walformat.html).
 * So whatever changed while none was made, or is not what one has moved, was written by somebody else: `cp`, `truncate`, a redirection.
 */
export function overwritingOf(opened: Opened): Overwriting {
  const { path, files, descriptors } = opened;
  // What is not read past SQLite is only known to be in its place.
  const close = (): void => letGo(path, Object.values(files));
  if (descriptors === null) return { look: () => requireInPlace(path, files), found: null, close };
  const [file, index] = [openedAs(descriptors.file), openedAs(descriptors.index)];
  const fixed = file.read(0, FIXED_BYTES);
  // Of any other file whoever reads it is told.
  const isKnown = fixed.length === FIXED_BYTES && isSQLite(fixed) && fixed[18] === ofLog && fixed[19] === ofLog;
  const pageBytes = !isKnown ? 0 : fixed.readUInt16BE(16) === 1 ? 65_536 : fixed.readUInt16BE(16);
  const log = logOf(openedAs(descriptors.log), pageBytes);
  const shared = sharedIn(opened.shared);
  const overwrittenLog = overwrittenLogOf(opened, mostPages);
  let seen: Seen | null = null;

  /** Gives what is there, why that cannot be, or null where nobody can say: a checkpoint was under way. */
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
    // What is moved now is in the log again: of all else it is known where it stands.
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

  /** What is wrong is looked at twice. */
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
      // Nothing that a log says of the file is worth anything where it was overwritten itself: so that is told first.
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

/** Null where the disk cannot be read: nobody can say then, and it may be read again. */
function whereReadable<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}

/** Whether a checkpoint since may have left the first page like this. */
function mayBeFirst(log: Log, pages: Uint32Array, state: LogState, page: Buffer, before: Seen): boolean {
  const isSameLog = state.salts === before.state.salts;
  if (isSameLog && page.equals(before.page)) return true;
  const places: number[] = [];
  for (let at = isSameLog ? before.state.moved : 0; at < pages.length; at++) if (pages[at] === 1) places.push(at + 1);
  // A new log says nothing of the one before it; and of a page a checkpoint moves the last alone, where it moves that one.
  if (!isSameLog && (places.at(-1) ?? Infinity) > state.moved) return true;
  return places.toReversed().some((place) => log.has(place, page));
}

/** How many of the pages that were moved are looked at. */
const sampled = 32;

/** Whether pages from all over the log that were moved into the file, and are not in the log again, stand in it. */
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
    // What is beyond the end of the file has been cut off.
    if (place > moved || page > filePages || log.has(place, file.read((page - 1) * pageBytes, pageBytes))) continue;
    // What had been cut off the file when it was to be moved was not.
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
