import type { KeptOpen } from "./kept-open.ts";

/** The state of the log, and how much of it was moved into the file. */
export interface LogState {
  /** Changes when a checkpoint starts or ends, and when the log restarts. */
  readonly id: string;
  /** Changes when the log restarts. */
  readonly salts: string;
  readonly pageBytes: number;
  /** The number of pages in use. */
  readonly pages: number;
  /** The number of pages that were moved into the file. */
  readonly moved: number;
  /** The number of pages in the file, including the content of the log. */
  readonly filePages: number;
  /** True if no checkpoint is running and none was interrupted. */
  readonly isQuiet: boolean;
}

/** sqlite.org/walformat.html, 2.1: two copies of the header, then the progress of checkpoints. */
const HEADER_BYTES = 48;
const INDEX_BYTES = 136;
const VERSION = 3_007_000;

/** Returns the state in the index. Returns null while it is being changed. */
export function logState(index: KeptOpen): LogState | null {
  const bytes = index.read(0, INDEX_BYTES);
  if (bytes.length < INDEX_BYTES) return null;
  const number = (at: number): number => (isLittleEndian ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  if (bytes.compare(bytes, HEADER_BYTES, 2 * HEADER_BYTES, 0, HEADER_BYTES) !== 0) return null;
  const [pages, moved, begun] = [number(16), number(96), number(128)];
  const pageBytes = isLittleEndian ? bytes.readUInt16LE(14) : bytes.readUInt16BE(14);
  if (number(0) !== VERSION || bytes[12] !== 1 || moved > pages) return null;
  const salts = bytes.toString("hex", 32, 40);
  return {
    id: `${salts} ${moved} ${begun}`,
    salts,
    pageBytes: pageBytes === 1 ? 65_536 : pageBytes,
    pages,
    moved,
    filePages: number(20),
    isQuiet: moved === begun,
  };
}

const isLittleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

/**
 * Blocks of 32 KiB: the numbers of pages, then their hash table. In the first block, the header replaces the first
 * numbers.
 */
const BLOCK_BYTES = 32_768;
const pagesInBlock = 4096;
const pagesInFirst = pagesInBlock - INDEX_BYTES / 4;

/** Returns the number of the file's page for each page of the log, up to `to`. */
export function pagesInLog(index: KeptOpen, to: number): Uint32Array {
  const numbers = new Uint32Array(to);
  for (let block = 0, first = 0; first < to; block++) {
    const count = Math.min(block === 0 ? pagesInFirst : pagesInBlock, to - first);
    const bytes = index.read(block * BLOCK_BYTES + (block === 0 ? INDEX_BYTES : 0), count * 4);
    numbers.set(new Uint32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 4)), first);
    first += count;
  }
  return numbers;
}

const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** The log next to the file. Its places start at 1. */
export interface Log {
  has(place: number, page: Buffer): boolean;
  /**
   * Returns the number of pages in the file after the commit that ends at this place. Returns 0 if no commit ends
   * there.
   */
  sizeAfter(place: number): number;
}

/** Reads the log. `pageBytes` is the size of its pages. */
export function logOf(file: KeptOpen, pageBytes: number): Log {
  const start = (place: number): number => LOG_HEADER_BYTES + (place - 1) * (FRAME_HEADER_BYTES + pageBytes);
  return {
    has: (place, wanted) => file.read(start(place) + FRAME_HEADER_BYTES, pageBytes).equals(wanted),
    sizeAfter(place) {
      const header = file.read(start(place), 8);
      return header.length === 8 ? header.readUInt32BE(4) : 0;
    },
  };
}
