import { composed } from "./composed.ts";
import { closeSync, openSync, readSync } from "node:fs";
import { digest } from "./secret.ts";

/**
 * The number of parts (shelves) of the set. The first bits of a digest select one shelf, and a check reads only that
 * shelf.
 */
export const shelves = 2 ** 10;
/**
 * The range of the numbers in a shelf. It decides how many other passwords count as common by mistake: about 600 of a
 * hundred million.
 */
const range = 2 ** 24;
/**
 * The number of lower bits of a gap that are written unchanged. The upper bits are written as a unary number: that many
 * ones and a zero.
 */
export const gapBits = 17;

const file = new URL("./common-passwords.bin", import.meta.url);

/**
 * Returns true if a password is among the most common passwords, ignoring case: at least the 100,000 most common ones
 * of eight or more characters. They are stored as a Golomb-coded set (Golomb, "Run-length encodings", 1966): the gaps
 * between sorted digests, in 19 bits each. Each check reads only one shelf of the file. The set is not kept in memory,
 * because users rarely set passwords.
 */
export function isCommonPassword(password: string): boolean {
  const { shelf, number } = locatePassword(password);
  let last = 0;
  for (const gap of readGaps(readShelf(shelf))) {
    last += gap;
    if (last >= number) return last === number;
  }
  return false;
}

function* readGaps(bytes: Buffer): Generator<number> {
  const end = bytes.length * 8;
  let at = 0;
  const next = (): number => (bytes[at >> 3]! >> (7 - (at++ & 7))) & 1;
  while (at < end) {
    let high = 0;
    while (at < end && next() === 1) high++;
    if (at + gapBits > end) return;
    let low = 0;
    for (let bit = 0; bit < gapBits; bit++) low = low * 2 + next();
    yield high * 2 ** gapBits + low;
  }
}

/** Returns the shelf of a password, and its number there. */
export function locatePassword(password: string): { readonly shelf: number; readonly number: number } {
  const bytes = digest(composed(password).toLowerCase());
  return { shelf: bytes.readUInt16BE(0) % shelves, number: bytes.readUInt32BE(2) % range };
}

function readShelf(shelf: number): Buffer {
  const handle = openSync(file, "r");
  try {
    const ends = read(handle, shelf * 4, 8);
    const start = ends.readUInt32LE(0);
    return read(handle, start, ends.readUInt32LE(4) - start);
  } finally {
    closeSync(handle);
  }
}

/**
 * Reads a part of the file. Throws if the file is shorter, because a password that cannot be checked must not be
 * accepted.
 */
function read(handle: number, start: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  if (readSync(handle, bytes, 0, length, start) !== length) throw new Error("The list of common passwords is truncated.");
  return bytes;
}
