import { sameBytes, signing } from "../../core/crypto/secret.ts";
import { problem } from "../../core/problem/problem.ts";
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

/** The first key signs, all verify. */
export function makeCursors(keys: readonly Uint8Array[]): Cursors {
  const [sign, ...others] = keys.map(signing);

  return {
    format({ direction, values }, query) {
      const payload = payloadOf(direction, values);
      const bytes = Buffer.allocUnsafe(SIGNATURE_BYTES + 3 * payload.length);
      bytes.write(sign!(signed(payload, query)), 0, SIGNATURE_BYTES, "latin1");
      return bytes.toString("base64url", 0, SIGNATURE_BYTES + bytes.write(payload, SIGNATURE_BYTES));
    },
    require(text, query, pointer = "?cursor") {
      const bytes = Buffer.from(text, "base64url");
      const payload = bytes.subarray(SIGNATURE_BYTES).toString();
      const isOurs =
        bytes.toString("base64url") === text &&
        [sign!, ...others].some((each) =>
          sameBytes(
            bytes.subarray(0, SIGNATURE_BYTES),
            Buffer.from(each(signed(payload, query)), "latin1").subarray(0, SIGNATURE_BYTES),
          ),
        );
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

/** A list in JSON. Most places are an id alone. */
function payloadOf(direction: Cursor["direction"], values: readonly Value[]): string {
  const forward = direction === "after" ? 1 : 0;
  const [first] = values;
  return values.length === 1 && Number.isSafeInteger(first)
    ? `[${forward},${first as number}]`
    : JSON.stringify([forward, ...values]);
}

/** The length in front keeps the end of the query and the beginning of the payload apart. */
function signed(payload: string, query: string): string {
  return `${query.length}.${query}${payload}`;
}
