import { parseETags, sameStrong, sameWeak, type ETags } from "../headers/etag.ts";
import { problem } from "../problem/problem.ts";
import type { Call } from "./call.ts";

/** What the preconditions of a request come to: go on, answer 304, or answer 412. */
export type Preconditions = "proceed" | "not_modified" | "failed";

/**
 * Weighs `If-Match` and `If-None-Match` (RFC 9110 §13.2.2) against the ETag of what is there; null: nothing is. Throws
 * `malformed` for what is no list of ETags. Nothing here has a date, so If-Modified-Since and If-Unmodified-Since are ignored.
 */
export function checkPreconditions(call: Call, currentETag: string | null): Preconditions {
  const match = readETags(call, "if-match", "If-Match");
  if (match !== null && !isMatched(match, currentETag)) return "failed";
  const noneMatch = readETags(call, "if-none-match", "If-None-Match");
  if (noneMatch === null || !isKnown(noneMatch, currentETag)) return "proceed";
  return call.method === "GET" || call.method === "HEAD" ? "not_modified" : "failed";
}

function readETags(call: Call, header: string, name: string): ETags | null {
  if (call.header(header) === undefined) return null;
  const etags = parseETags(call.headers(header).join(","));
  if (etags === null)
    throw problem("malformed", { detail: `${name} is neither * nor a list of ETags in double quotes.` });
  return etags;
}

function isMatched(wanted: ETags, current: string | null): boolean {
  if (current === null) return false;
  return wanted === "*" || wanted.some((each) => sameStrong(each, current));
}

function isKnown(known: ETags, current: string | null): boolean {
  if (current === null) return false;
  return known === "*" || known.some((each) => sameWeak(each, current));
}
