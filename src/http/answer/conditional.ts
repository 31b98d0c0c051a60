import type { Call } from "../../core/call/call.ts";
import { isUnsafe } from "../../core/call/cross-site.ts";
import { parseETags, sameStrong, sameWeak, type ETag, type ETags } from "../../core/headers/etag.ts";
import { problem } from "../../core/problem/problem.ts";

/** What the preconditions of a request come to: go on, answer 304 for the tag that the caller has, or answer 412. */
export type Preconditions =
  | { readonly kind: "proceed" }
  | { readonly kind: "not_modified"; readonly tag: string }
  | { readonly kind: "failed" };

const proceed: Preconditions = { kind: "proceed" };
const failed: Preconditions = { kind: "failed" };

/** Whether the request is to be answered only in some state. */
export function hasPreconditions(call: Call): boolean {
  return call.header("if-match") !== undefined || call.header("if-none-match") !== undefined;
}

/**
 * Weighs `If-Match` and `If-None-Match` (RFC 9110 §13.2.2) against the ETags of what is there, any of which the caller may have;
 * null: nothing is there. Throws `malformed` for what is no list of ETags. `read` gives what counts of each. Nothing here has a date, so If-Modified-Since and
 * If-Unmodified-Since are ignored.
 */
export function checkPreconditions(call: Call, current: readonly string[] | null, read = asItIs): Preconditions {
  const match = readETags(call, "if-match", "If-Match", read);
  if (match !== null && find(match, current, sameStrong) === undefined) return failed;
  const noneMatch = readETags(call, "if-none-match", "If-None-Match", read);
  const tag = noneMatch === null ? undefined : find(noneMatch, current, sameWeak);
  if (tag === undefined) return proceed;
  return isUnsafe(call.method) ? failed : { kind: "not_modified", tag };
}

/** Ends the request where what it asks of the present state does not hold: 412, and nothing happens. */
export function requirePreconditionsHold(call: Call, current: readonly string[] | null, read = asItIs): void {
  if (checkPreconditions(call, current, read).kind !== "proceed") throw problem("precondition_failed");
}

function asItIs(quoted: string): string {
  return quoted;
}

function readETags(call: Call, header: string, name: string, read: typeof asItIs): ETags | null {
  if (call.header(header) === undefined) return null;
  const etags = parseETags(call.headers(header).join(","));
  if (etags === null)
    throw problem("malformed", { detail: `${name} is neither * nor a list of ETags in double quotes.` });
  return etags === "*" ? etags : etags.map(({ weak, quoted }) => ({ weak, quoted: read(quoted) }));
}

/** The first of the present tags that is among the listed ones. What is there without a tag is known to `*` alone. */
function find(
  listed: ETags,
  current: readonly string[] | null,
  isSame: (one: ETag, strong: string) => boolean,
): string | undefined {
  if (current === null) return undefined;
  if (listed === "*") return current[0] ?? "";
  return current.find((tag) => listed.some((each) => isSame(each, tag)));
}
