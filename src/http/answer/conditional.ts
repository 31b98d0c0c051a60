import type { Call } from "../../core/call/call.ts";
import { isUnsafe } from "../../core/call/cross-site.ts";
import { parseETags, sameStrong, sameWeak, type ETag, type ETags } from "../../core/headers/etag.ts";
import { problem } from "../../core/problem/problem.ts";

/**
 * The result of the preconditions of a request: continue, answer 304 with the ETag that the caller has, or answer 412.
 */
export type Preconditions =
  | { readonly kind: "proceed" }
  | { readonly kind: "not_modified"; readonly tag: string }
  | { readonly kind: "failed" };

const proceed: Preconditions = { kind: "proceed" };
const failed: Preconditions = { kind: "failed" };

/** True if the request has preconditions. */
export function hasPreconditions(call: Call): boolean {
  return call.header("if-match") !== undefined || call.header("if-none-match") !== undefined;
}

/** True if `If-Match` names states of the record. `*` is any state of an existing record (RFC 9110 §13.1.1). */
export function namesState(call: Call): boolean {
  return call.header("if-match") !== undefined && parseETags(call.headers("if-match").join(",")) !== "*";
}

/**
 * Evaluates `If-Match` and `If-None-Match` (RFC 9110 §13.2.2). `current` are the ETags of the state in all
 * representations, because the client may have read any of them. It is null if there is no current state. `read`
 * returns the part of a sent ETag that is compared. Default: the whole ETag. Throws `malformed` for a value that is not
 * a list of ETags. Records have no date, so If-Modified-Since and If-Unmodified-Since are ignored.
 */
export function checkPreconditions(call: Call, current: readonly string[] | null, read = keepTag): Preconditions {
  const match = readETags(call, "if-match", "If-Match", read);
  if (match !== null && find(match, current, sameStrong) === undefined) return failed;
  const noneMatch = readETags(call, "if-none-match", "If-None-Match", read);
  const tag = noneMatch === null ? undefined : find(noneMatch, current, sameWeak);
  if (tag === undefined) return proceed;
  return isUnsafe(call.method) ? failed : { kind: "not_modified", tag };
}

/** Ends the request with 412 if its preconditions fail. */
export function requirePreconditionsHold(call: Call, current: readonly string[] | null, read = keepTag): void {
  if (checkPreconditions(call, current, read).kind !== "proceed") throw problem("precondition_failed");
}

function keepTag(quoted: string): string {
  return quoted;
}

function readETags(call: Call, header: string, name: string, read: typeof keepTag): ETags | null {
  if (call.header(header) === undefined) return null;
  const etags = parseETags(call.headers(header).join(","));
  if (etags === null)
    throw problem("malformed", { detail: `${name} is neither * nor a list of ETags in double quotes.` });
  return etags === "*" ? etags : etags.map(({ weak, quoted }) => ({ weak, quoted: read(quoted) }));
}

/** Returns the first current tag that is in the list. A state without a tag matches only `*`. */
function find(
  listed: ETags,
  current: readonly string[] | null,
  isSame: (one: ETag, strong: string) => boolean,
): string | undefined {
  if (current === null) return undefined;
  if (listed === "*") return current[0] ?? "";
  return current.find((tag) => listed.some((each) => isSame(each, tag)));
}
