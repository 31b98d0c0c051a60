import { isUtf8 } from "node:buffer";

/** A CBOR value (RFC 8949), limited to the types that authenticators send. Map keys are numbers or texts. */
export type CBORValue =
  | number
  | string
  | boolean
  | null
  | Buffer
  | readonly CBORValue[]
  | ReadonlyMap<number | string, CBORValue>;

const MAX_DEPTH = 8;
const MAX_ITEMS = 1000;

/** All bytes, the position of the next value, and the number of items that were read so far. */
interface Rest {
  readonly bytes: Buffer;
  at: number;
  items: number;
}

/**
 * Reads one value in the canonical form of CTAP2 and returns it with the number of bytes that it occupies. Returns null
 * if the bytes are not in that form: CTAP2 allows no indefinite lengths, no tags, no floats and no duplicate keys.
 */
export function readCBOR(bytes: Buffer): { readonly value: CBORValue; readonly length: number } | null {
  const rest: Rest = { bytes, at: 0, items: 0 };
  try {
    return { value: read(rest, 0), length: rest.at };
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function read(rest: Rest, depth: number): CBORValue {
  if (depth > MAX_DEPTH || ++rest.items > MAX_ITEMS) throw new RangeError("too deep or too many items");
  const head = rest.bytes.readUInt8(rest.at++);
  const [major, info] = [head >> 5, head & 31];
  if (major === 7) return readSimple(info);
  const length = readLength(rest, info);
  switch (major) {
    case 0:
      return length;
    case 1:
      return -1 - length;
    case 2:
      return take(rest, length);
    case 3:
      return readText(take(rest, length));
    case 4:
      return Array.from({ length: requireBounded(length) }, () => read(rest, depth + 1));
    case 5:
      return readMap(rest, requireBounded(length), depth);
    default:
      throw new RangeError("a tag");
  }
}

function readText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new RangeError("a text that is not UTF-8");
  return bytes.toString();
}

function readSimple(info: number): boolean | null {
  if (info === 20 || info === 21) return info === 21;
  if (info === 22) return null;
  throw new RangeError("a float or an unknown simple value");
}

function readLength(rest: Rest, info: number): number {
  if (info < 24) return info;
  const { bytes, at } = rest;
  const size = { 24: 1, 25: 2, 26: 4 }[info];
  if (size === undefined) throw new RangeError("an indefinite length, or one beyond 32 bits");
  rest.at += size;
  return bytes.readUIntBE(at, size);
}

function readMap(rest: Rest, length: number, depth: number): ReadonlyMap<number | string, CBORValue> {
  const map = new Map<number | string, CBORValue>();
  for (let item = 0; item < length; item++) {
    const key = read(rest, depth + 1);
    if ((typeof key !== "number" && typeof key !== "string") || map.has(key)) throw new RangeError("a bad key");
    map.set(key, read(rest, depth + 1));
  }
  return map;
}

function take(rest: Rest, length: number): Buffer {
  const taken = rest.bytes.subarray(rest.at, rest.at + length);
  if (taken.length < length) throw new RangeError("too short");
  rest.at += length;
  return taken;
}

function requireBounded(length: number): number {
  if (length > MAX_ITEMS) throw new RangeError("too many items");
  return length;
}
