import { sameBytes, signing } from "../../core/crypto/secret.ts";
import { parseJSON } from "../../core/exact-numbers.ts";
import { problem } from "../../core/problem/problem.ts";
import type { Value } from "../../store/store.ts";

/** A position in a list: after or before a row with these values of the sorted columns. */
export interface Cursor {
  readonly direction: "after" | "before";
  readonly values: readonly Value[];
}

/** Formats and parses list cursors. The signature prevents forged cursors. */
export interface Cursors {
  /** Returns a cursor that is valid only for this query, on services that share the key. */
  format(cursor: Cursor, query: string): string;
  /**
   * Parses a cursor. Ends the request if the cursor was not made by the service for this query. `pointer` is the
   * location of the cursor in the request. Default: `?cursor`.
   */
  require(text: string, query: string, pointer?: string): Cursor;
}

const SIGNATURE_BYTES = 16;

/** Creates `Cursors`. The first key signs new cursors. All keys verify cursors. */
export function makeCursors(keys: readonly Uint8Array[]): Cursors {
  const [sign, ...others] = keys.map(signing);

  return {
    format({ direction, values }, query) {
      const payload = formatPayload(direction, values);
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
      const [forward, ...values] = parseJSON(payload) as [number, ...Value[]];
      return { direction: forward === 1 ? "after" : "before", values };
    },
  };
}

/**
 * Returns the content of a cursor as JSON: 1 for `after` or 0 for `before`, then the values. Most cursors have a single
 * id, which needs no `JSON.stringify`.
 */
function formatPayload(direction: Cursor["direction"], values: readonly Value[]): string {
  const forward = direction === "after" ? 1 : 0;
  const [first] = values;
  return values.length === 1 && Number.isSafeInteger(first)
    ? `[${forward},${first as number}]`
    : JSON.stringify([forward, ...values]);
}

/**
 * Returns the text to sign. It starts with the length of the query, so that no other query and payload together give
 * the same text.
 */
function signed(payload: string, query: string): string {
  return `${query.length}.${query}${payload}`;
}
