import { closeSync, openSync, readSync } from "node:fs";
import type { KeptOpen } from "./kept-open.ts";

/** Where the log is, and how far it was moved into the file. */
export interface LogState {
  /** Differs whenever a checkpoint has moved anything, or the log has begun anew. */
  readonly id: string;
  /** Differs whenever the log has begun anew. */
  readonly salts: string;
  /** How many of its pages are in use. */
  readonly pages: number;
  /** How many of them have been moved into the file. */
  readonly moved: number;
}

/** sqlite.org/walformat.html, 2.1: two copies of the header, then how far checkpoints are. */
const HEADER_BYTES = 48;
const INDEX_BYTES = 136;
const VERSION = 3_007_000;

/** What the index says; null while somebody is changing it, while a checkpoint is under way and after one that was broken off. */
export function logState(index: KeptOpen): LogState | null {
  const bytes = index.read(0, INDEX_BYTES);
  if (bytes.length < INDEX_BYTES) return null;
  const number = (at: number): number => (isLittleEndian ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  if (bytes.compare(bytes, HEADER_BYTES, 2 * HEADER_BYTES, 0, HEADER_BYTES) !== 0) return null;
  const [pages, moved, begun] = [number(16), number(96), number(128)];
  if (number(0) !== VERSION || bytes[12] !== 1 || moved !== begun || moved > pages) return null;
  const salts = bytes.toString("hex", 32, 40);
  return { id: `${salts} ${moved}`, salts, pages, moved };
}

const isLittleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

/** Blocks of 32 KiB: the numbers of so many pages, then what they are found by. The header stands in the place of the first ones. */
const BLOCK_BYTES = 32_768;
const pagesInBlock = 4096;
const pagesInFirst = pagesInBlock - INDEX_BYTES / 4;

/** Where in the log the first page of the file stands: after the first `from` pages of the log, and up to `to`; the first of the log is 1. */
export function placesOfFirstPage(index: KeptOpen, from: number, to: number): readonly number[] {
  const places: number[] = [];
  for (let block = 0, first = 1; first <= to; block++) {
    const count = block === 0 ? pagesInFirst : pagesInBlock;
    const start = block * BLOCK_BYTES + (block === 0 ? INDEX_BYTES : 0);
    if (first + count > from + 1) {
      const bytes = index.read(start, count * 4);
      const numbers = new Uint32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 4));
      for (const [at, page] of numbers.entries())
        if (page === 1 && first + at > from && first + at <= to) places.push(first + at);
    }
    first += count;
  }
  return places;
}

const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** Whether any of these places in the log has the page. The latest is looked at first. */
export function logHas(path: string, places: readonly number[], page: Buffer): boolean {
  // SQLite has no lock on the log itself, so that this descriptor may be closed.
  const log = openSync(path, "r");
  try {
    const found = Buffer.alloc(page.length);
    return places.toReversed().some((place) => {
      const start = LOG_HEADER_BYTES + (place - 1) * (FRAME_HEADER_BYTES + page.length) + FRAME_HEADER_BYTES;
      return readSync(log, found, 0, page.length, start) === page.length && found.equals(page);
    });
  } finally {
    closeSync(log);
  }
}
