import { Chaskey, type Words } from "../../core/crypto/chaskey.ts";
import { hmac } from "../../core/crypto/secret.ts";
import type { Collection, Key, Row } from "../../store/store.ts";

/** The part of a mount that its ETags depend on. */
export interface Tagged {
  readonly collection: Collection;
}

/** Returns the ETag of a row of a mount. */
export type StateTag = (mount: Tagged, row: Row) => string;

/**
 * Creates the function for ETags of rows. An ETag is a keyed digest of the table, the id and the revision. The revision
 * counts the writes to all tables, so the plain number would reveal how often other users write.
 */
export function stateTags(key: Uint8Array): StateTag {
  const macs = new WeakMap<Tagged, Chaskey>();
  return (mount, { record, revision }) => {
    let mac = macs.get(mount);
    if (mac === undefined) macs.set(mount, (mac = new Chaskey(readWords(hmac(key, mount.collection.name)))));
    return buildTag(mac, record["id"] as Key, revision);
  };
}

function readWords(bytes: Buffer): Words {
  return [bytes.readInt32LE(0), bytes.readInt32LE(4), bytes.readInt32LE(8), bytes.readInt32LE(12)];
}

function buildTag(mac: Chaskey, id: Key, revision: number): string {
  mac.begin();
  const words =
    typeof id === "number"
      ? mac.end(id, upper(id), revision, upper(revision))
      : mac.end(addText(mac, id), NO_NUMBER, revision, upper(revision));
  return formatBase64(words[0]!, words[1]!, words[2]!);
}

/** Returns the upper half of a whole number. Bitwise operators use only the lower half. */
function upper(number: number): number {
  return Math.floor(number / 2 ** 32);
}

/**
 * Marks an id that is a text. No exact whole number has this upper half, so a text and a number never produce the same
 * input.
 */
const NO_NUMBER = 0x7fffffff;

/**
 * Adds a text, eight code units per block, and returns its length in code units. The last block is padded with zeros,
 * which the length does not include.
 */
function addText(mac: Chaskey, text: string): number {
  for (let at = 0; at < text.length; at += 8)
    mac.add(pairAt(text, at), pairAt(text, at + 2), pairAt(text, at + 4), pairAt(text, at + 6));
  return text.length;
}

/**
 * Returns two code units as one number. After the end of the text, `charCodeAt` returns NaN, which the bitwise
 * operators convert to zero.
 */
function pairAt(text: string, at: number): number {
  return text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16);
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const pairs = Array.from({ length: 4096 }, (_, at) => `${ALPHABET[at >>> 6]!}${ALPHABET[at & 63]!}`);

/**
 * Returns the first 72 bits of three words as 12 characters of base64url. The table of character pairs needs a tenth of
 * the time of a `Buffer`.
 */
function formatBase64(a: number, b: number, c: number): string {
  return (
    pairs[a >>> 20]! +
    pairs[(a >>> 8) & 0xfff]! +
    pairs[((a & 0xff) << 4) | (b >>> 28)]! +
    pairs[(b >>> 16) & 0xfff]! +
    pairs[(b >>> 4) & 0xfff]! +
    pairs[((b & 0xf) << 8) | (c >>> 24)]!
  );
}
