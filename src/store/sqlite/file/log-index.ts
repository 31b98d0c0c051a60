import type { KeptOpen } from "./kept-open.ts";

/** Where the log is, and how far it was moved into the file. */
export interface LogState {
  /** Differs whenever a checkpoint has begun or ended, or the log has begun anew. */
  readonly id: string;
  /** Differs whenever the log has begun anew. */
  readonly salts: string;
  readonly pageBytes: number;
  /** How many of its pages are in use. */
  readonly pages: number;
  /** How many of them have been moved into the file. */
  readonly moved: number;
  /** How many pages the file has with all that is in the log. */
  readonly filePages: number;
  /** Whether no checkpoint is under way, and none was broken off. */
  readonly isQuiet: boolean;
}

/** sqlite.org/walformat.html, 2.1: two copies of the header, then how far checkpoints are. */
const HEADER_BYTES = 48;
const INDEX_BYTES = 136;
const VERSION = 3_007_000;

/** What the index says; null while somebody is changing it. */
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

/** Blocks of 32 KiB: the numbers of so many pages, then what they are found by. The header stands in the place of the first ones. */
const BLOCK_BYTES = 32_768;
const pagesInBlock = 4096;
const pagesInFirst = pagesInBlock - INDEX_BYTES / 4;

/** Of which page of the file each page of the log is, up to `to`. */
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

/** The log beside the file. Its places are counted from 1. */
export interface Log {
  has(place: number, page: Buffer): boolean;
  /** How many pages the file had after the commit that ends there; 0 where none does. */
  sizeAfter(place: number): number;
}

/** What stands in the log, in pages of so many bytes. */
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
