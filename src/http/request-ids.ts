import { randomFillSync } from "node:crypto";

/** The number of random octets in an id. */
const ID_BYTES = 16;
/**
 * The number of ids for which random octets are made together, because each call into OpenSSL takes two microseconds.
 */
const DRAWN_AT_ONCE = 512;

/**
 * Returns a function that makes ids of 22 random characters. Ids from a counter would show how many requests other
 * callers send. `fill` fills a buffer with random octets.
 */
export function requestIds(fill: (bytes: Uint8Array) => unknown = randomFillSync): () => string {
  const chance = Buffer.alloc(ID_BYTES * DRAWN_AT_ONCE);
  let at = chance.length;
  return () => {
    if (at === chance.length) {
      fill(chance);
      at = 0;
    }
    const end = at + ID_BYTES;
    const id = chance.toString("base64url", at, end);
    at = end;
    return id;
  };
}
