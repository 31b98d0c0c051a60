import type { Arrival } from "../core/call/call.ts";
import { problem } from "../core/problem/problem.ts";

/** The maximum size of a body, in bytes. */
export const MAX_BODY_BYTES = 1024 * 1024;
/** The maximum length of a request line, in bytes. */
export const MAX_REQUEST_LINE_BYTES = 8 * 1024;
/** The maximum size of the header section, in bytes. */
export const MAX_HEADER_BYTES = 16 * 1024;
/** The maximum number of header fields. */
const MAX_HEADER_FIELDS = 100;

// The bytes of a request line in addition to the method and the target: the two spaces, the version and the line end.
const AROUND_TARGET_BYTES = " HTTP/1.1\r\n".length + 1;
// The bytes of a header field in addition to its name and value: ": " and the line end.
const AROUND_FIELD_BYTES = 4;

/** Ends a request whose request line or header section is too large. */
export function requireWithinLimits({ method, target, rawHeaders }: Arrival): void {
  if (method.length + target.length + AROUND_TARGET_BYTES > MAX_REQUEST_LINE_BYTES) throw problem("uri_too_long");
  if (rawHeaders.length > 2 * MAX_HEADER_FIELDS) throw problem("headers_too_large");
  let bytes = 0;
  for (let at = 0; at < rawHeaders.length; at++) bytes += rawHeaders[at]!.length;
  if (bytes + (rawHeaders.length / 2) * AROUND_FIELD_BYTES > MAX_HEADER_BYTES) throw problem("headers_too_large");
}
