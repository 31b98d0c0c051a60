import { hmac, sameBytes } from "../../crypto/secret.ts";
import { problem } from "../../problem/problem.ts";
import type { Value } from "../../store/store.ts";

/** A place in a list: behind or before a row with these values of the sorted columns. */
export interface Cursor {
  readonly direction: "after" | "before";
  readonly values: readonly Value[];
}

/** Writes and reads places in lists, signed so that nobody else can make one. */
export interface Cursors {
  /** A cursor that only this query, on services that share the key, will take. */
  format(cursor: Cursor, query: string): string;
  /** Reads a cursor back. Ends the request where it was not written for this query; `pointer` is where it stood. */
  require(text: string, query: string, pointer?: string): Cursor;
}

const SIGNATURE_BYTES = 16;

/** The same page is asked for over and over, and a signature costs more than anything else about its links. */
const REMEMBERED = 1000;
/** Of places that are longer, in characters, they are not: callers choose what they ask for, and could fill the memory with it. */
const LONGEST_REMEMBERED = 2048;

/** The first key signs, all verify. */
export function makeCursors(keys: readonly Uint8Array[]): Cursors {
  const remembered = new Map<string, string>();

  function sign(payload: string, query: string, key = keys[0]!): Buffer {
    // The length in front keeps the end of the query and the beginning of the payload apart.
    return hmac(key, `${query.length}.${query}${payload}`).subarray(0, SIGNATURE_BYTES);
  }

  return {
    format({ direction, values }, query) {
      const payload = JSON.stringify([direction === "after" ? 1 : 0, ...values]);
      const place = query + payload;
      const known = place.length > LONGEST_REMEMBERED ? undefined : remembered.get(place);
      if (known !== undefined) return known;
      const text = Buffer.concat([sign(payload, query), Buffer.from(payload)]).toString("base64url");
      if (place.length > LONGEST_REMEMBERED) return text;
      // All at once: to find the oldest of ever new ones costs more than to sign a few again.
      if (remembered.size >= REMEMBERED) remembered.clear();
      remembered.set(place, text);
      return text;
    },
    require(text, query, pointer = "?cursor") {
      const bytes = Buffer.from(text, "base64url");
      const payload = bytes.subarray(SIGNATURE_BYTES).toString();
      const isOurs =
        bytes.toString("base64url") === text &&
        keys.some((key) => sameBytes(bytes.subarray(0, SIGNATURE_BYTES), sign(payload, query, key)));
      if (!isOurs) {
        const detail = "The cursor does not belong to this query. Follow the links in the Link header.";
        throw problem(pointer.startsWith("?") ? "invalid_query" : "invalid", {
          issues: [{ pointer, code: "invalid", detail }],
        });
      }
      const [forward, ...values] = JSON.parse(payload) as [number, ...Value[]];
      return { direction: forward === 1 ? "after" : "before", values };
    },
  };
}
