import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { StoreSetupError } from "../../store.ts";
import type { LogSizes } from "../connection/connection.ts";
import { findCode } from "../connection/errors.ts";
import { readOpenFile } from "./descriptor.ts";
import { requireInPlace, walBytes, type FilesInUse } from "./place.ts";

/**
 * The new pages of the log that a check reads: all of them, about 256 at equal distances (`some`, at most a
 * millisecond), or only the last one and the last page before them (`ours`). `ours` is for pages that this process has
 * just written. If another program cut the log off, the next write leaves a hole after the last valid page. The last
 * page before that write is then missing.
 */
export type NewPages = "every page" | "some" | "ours";

/** Returns the error if another program has written to the log or cut it off. Throws if the log cannot be read. */
export type FindForeignLog = (sizes: (() => LogSizes) | null, newPages?: NewPages) => Error | null;

/** sqlite.org/walformat.html. The last bit of the magic number is the byte order of the checksums. */
const MAGIC = 0x377f0682;
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const SALTS_BYTES = 8;
const saltsAt = 16;
const saltsOfFrameAt = 8;
/** The offset of the salts in the first header of the log's index (`WalIndexHdr.aSalt`). */
const SALTS_OF_INDEX_AT = 32;

/** The maximum number of new pages per check. Reading them takes about three milliseconds. */
const mostPages = 8192;

/**
 * The maximum number of bytes that a check reads at a time. One read for each page would take several times as long.
 */
const portionBytes = 128 * 1024;

/** The number of equal steps in which a check reads the new pages. */
const intervals = { some: 256, ours: 1 };

/**
 * The number of checks that must fail before the log counts as overwritten. A check does not count if the log restarted
 * during it.
 */
const failedChecks = 3;
/** The maximum number of checks. It is reached only if the log restarts during most of them. */
const mostChecks = 10;

/**
 * Creates the check of the log. If another program has cut the log off, SQLite still writes at its last position and
 * leaves a hole. The pages after the hole are lost at the next start, and a checkpoint of such a log damages the file.
 * So the check runs before each write and before its acknowledgment. The connection of `sizes` must not be in a
 * transaction. The check may open and close the log, because SQLite has no lock on it.
 */
export function createLogCheck(path: string): FindForeignLog {
  let seen: { readonly salts: Buffer; readonly pages: number } = { salts: Buffer.alloc(0), pages: 0 };

  function findFault(log: number, header: Buffer, pages: number, newPages: NewPages): string | null {
    if (!isHeader(header)) return "it has another header";
    const salts = header.subarray(saltsAt, saltsAt + SALTS_BYTES);
    const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(8);
    // An older copy of the log is valid in itself. Only the index shows that it is not the current log.
    const own = readOpenFile(`${path}-shm`, SALTS_OF_INDEX_AT, SALTS_BYTES);
    if (own !== null && !own.equals(salts)) return "it is an older copy";
    const [size, end] = [fstatSync(log).size, HEADER_BYTES + pages * frameBytes];
    if (size < end) return `it has ${size} bytes instead of ${end}`;
    const first = seen.salts.equals(salts) ? Math.max(seen.pages, 1) : 1;
    const last = newPages === "every page" ? Math.min(pages, first + mostPages) : pages;
    const step = newPages === "every page" ? 1 : Math.max(1, Math.ceil((last - first) / intervals[newPages]));
    const arePagesThere = (range: PageRange): boolean => hasPages(log, { frameBytes, salts }, range);
    if (!arePagesThere({ first, last, step }) || !arePagesThere({ first: pages, last: pages, step: 1 }))
      return "pages of it are missing";
    seen = { salts, pages: last };
    return null;
  }

  return (sizes, newPages = "every page") => {
    let failed = 0;
    for (let at = 0; at < mostChecks; at++) {
      // If the sizes are unknown, the log certainly has a page only if this process has just written one.
      const pages = sizes?.()[0] ?? (newPages === "ours" ? 1 : 0);
      // SQLite reports no pages after the log has restarted. It then does not read the log, and the old header stays
      // until the next write.
      if (pages <= 0) return null;
      const log = openSync(`${path}-wal`, "r");
      try {
        const header = readAt(log, 0, HEADER_BYTES);
        const why = findFault(log, header, pages, newPages);
        if (why === null) return null;
        // A restart makes the log shorter. The first write after it changes the header.
        const hasRestarted = (sizes?.()[0] ?? pages) < pages || !header.equals(readAt(log, 0, HEADER_BYTES));
        if (!hasRestarted && ++failed === failedChecks) return new Error(overwritten(path, why));
      } finally {
        closeSync(log);
      }
    }
    // The next check follows soon. A log that was overwritten and does not restart fails all of its checks.
    return null;
  };
}

/**
 * The checks of a connection that writes. They throw if an opened file is no longer at its path, or if another program
 * has written to the log.
 */
export interface LogChecks {
  /**
   * The check before a write. It does nothing if the check before the last acknowledgment was at most `freshMs` ago and
   * no process has written since.
   */
  beforeWrite(sizes: (() => LogSizes) | null): void;
  /** The check before the acknowledgment of a write. */
  beforeAcknowledgment(sizes: (() => LogSizes) | null): void;
  /** The check of every new page. */
  everything(sizes: (() => LogSizes) | null): void;
}

/** How long `beforeWrite` relies on the check before the last acknowledgment, in milliseconds. */
const freshMs = 100;

export function createLogChecks(
  path: string,
  files: FilesInUse,
  now: () => number = () => performance.now(),
): LogChecks {
  const findForeignLog = createLogCheck(path);
  let last: { readonly pages: number; readonly at: number } | null = null;

  function require(sizes: (() => LogSizes) | null, newPages: NewPages): void {
    last = null;
    requireInPlace(path, files);
    const why = findForeignLog(sizes, newPages);
    if (why !== null) throw why;
  }

  return {
    beforeWrite(sizes) {
      // If another process has added pages, they must be checked before this process adds pages after them.
      if (sizes !== null && last !== null && now() - last.at < freshMs && sizes()[0] === last.pages) return;
      require(sizes, "every page");
    },
    beforeAcknowledgment(sizes) {
      require(sizes, "ours");
      if (sizes !== null) last = { pages: sizes()[0], at: now() };
    },
    everything: (sizes) => require(sizes, "every page"),
  };
}

/** Each `step`-th page of the log from `first` to `last`. The first page has the number 1. */
interface PageRange {
  readonly first: number;
  readonly last: number;
  readonly step: number;
}

/** Returns true if each page of the range has these salts. */
function hasPages(
  log: number,
  { frameBytes, salts }: { readonly frameBytes: number; readonly salts: Buffer },
  { first, last, step }: PageRange,
): boolean {
  const perRead = step === 1 ? Math.max(1, Math.floor(portionBytes / frameBytes)) : 1;
  for (let page = first; page <= last; page += step * perRead) {
    const count = Math.min(perRead, last - page + 1);
    const start = HEADER_BYTES + (page - 1) * frameBytes + saltsOfFrameAt;
    const portion = readAt(log, start, (count - 1) * frameBytes + SALTS_BYTES);
    for (let at = 0; at < count; at++)
      if (!portion.subarray(at * frameBytes, at * frameBytes + SALTS_BYTES).equals(salts)) return false;
  }
  return true;
}

function isHeader(header: Buffer): boolean {
  return header.length === HEADER_BYTES && (header.readUInt32BE(0) & ~1) === MAGIC;
}

/** Reads bytes of a file. Returns fewer bytes at the end of the file. */
function readAt(descriptor: number, from: number, bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(bytes);
  return buffer.subarray(0, readSync(descriptor, buffer, 0, bytes, from));
}

/** SQLITE_IOERR_SHORT_READ: SQLite could not read a whole page. This happens only in the log. */
const shortRead = 522;

/** SQLITE_IOERR, SQLITE_CORRUPT and SQLITE_NOTADB. */
const unreadable: ReadonlySet<number> = new Set([10, 11, 26]);

/**
 * Returns the cause of a failed start: an error about the log if it was overwritten while other processes use it, and
 * otherwise the error itself. SQLite reports such a log as a disk error, as damage, or as a file that is not a
 * database.
 */
export function causeOfStart(error: unknown, path: string): unknown {
  const code = findCode(error) ?? 0;
  if (code !== shortRead && !(unreadable.has(code & 0xff) && hasAnotherHeader(path))) return error;
  return new StoreSetupError([overwritten(path, "it cannot be read at the start")], { cause: error });
}

function hasAnotherHeader(path: string): boolean {
  if (walBytes(path) === 0) return false;
  try {
    const log = openSync(`${path}-wal`, "r");
    try {
      return !isHeader(readAt(log, 0, HEADER_BYTES));
    } finally {
      closeSync(log);
    }
  } catch {
    return false;
  }
}

function overwritten(path: string, why: string): string {
  return (
    `${path}-wal was overwritten while it was in use (${why}). All reads and writes are refused. ` +
    `Changes that were only in this log are lost. Stop every process on the database, move ${path}-wal away, check the database with latchkey db check, ` +
    "put a backup in its place if it is damaged (latchkey db restore), and start again"
  );
}
