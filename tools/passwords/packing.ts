import { gapBits, locatePassword, shelves } from "../../src/core/crypto/common-passwords.ts";

/**
 * Returns the set in its stored form: the start of each shelf and the end of the last one (32 bits, little endian),
 * then the shelves.
 */
export function packCommonPasswords(passwords: Iterable<string>): Buffer {
  const numbers = Array.from({ length: shelves }, () => new Set<number>());
  for (const password of passwords) {
    const { shelf, number } = locatePassword(password);
    numbers[shelf]!.add(number);
  }
  const packed = numbers.map((each) => packGaps([...each].toSorted((one, other) => one - other)));
  const starts = Buffer.alloc((shelves + 1) * 4);
  let start = starts.length;
  for (const [at, { length }] of packed.entries()) {
    starts.writeUInt32LE(start, at * 4);
    start += length;
  }
  starts.writeUInt32LE(start, shelves * 4);
  return Buffer.concat([starts, ...packed]);
}

/** Writes the gaps. The last byte is filled with ones, which never end a gap. */
function packGaps(numbers: readonly number[]): Buffer {
  let bits = "";
  for (const [at, number] of numbers.entries()) {
    const gap = number - (numbers[at - 1] ?? 0);
    const low = (gap % 2 ** gapBits).toString(2).padStart(gapBits, "0");
    bits += `${"1".repeat(Math.floor(gap / 2 ** gapBits))}0${low}`;
  }
  const bytes = bits.match(/.{1,8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte.padEnd(8, "1"), 2)));
}
