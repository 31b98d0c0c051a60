import { randomFillSync } from "node:crypto";

/** Octets of chance in an id. */
const ID_BYTES = 16;
/** Ids for which chance is drawn at once: a call into OpenSSL for each would take two microseconds. */
const DRAWN_AT_ONCE = 512;

/** Makes ids of 22 random characters. An id with a count in it would show how many requests others send. `fill` draws the chance. */
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
