import { codings } from "../../core/headers/accept-encoding.ts";
import type { Format } from "../request/format.ts";

// An uncompressed representation has no suffix. Each content coding has a suffix.
const suffixes = ["", ...codings.map((coding) => `-${coding}`)];

/**
 * Returns the ETag of a state in one representation and content coding. Each coding has its own strong ETag (RFC 9110
 * §8.8.3.3).
 */
export function tagIn(tag: string, coding: string | null): string {
  return coding === null ? `"${tag}"` : `"${tag}-${coding}"`;
}

/** Returns the ETags of one representation, for every content coding. */
export function tagsInCodings(tag: string): readonly string[] {
  return suffixes.map((suffix) => `"${tag}${suffix}"`);
}

const BESIDE_STATE = /~[\w-]{16}|\.[\w-]{6}/;

/**
 * Returns the ETag of a state with a part for the `noted` fields, which the service updates when the record is used,
 * for example its last login. A cache must get a new ETag after such an update. A client that changes the record must
 * not get 412 because of it, so `stateIn` removes this part from the ETags in preconditions.
 */
export function tagWithNoted(state: string, noted: string): string {
  return `${state}~${noted}`;
}

/**
 * Returns the ETag of a state in one shape of the record (`computeShapeDigest`). A cache must have a different ETag for
 * each shape. For the preconditions of a change, only the state counts, and `stateIn` removes the shape.
 */
export function tagWithShape(state: string, shape: string): string {
  return `${state}.${shape}`;
}

/** Returns the ETag without the parts for shape and `noted` fields. The suffixes of format and coding remain. */
export function stateIn(tag: string): string {
  return tag.replace(BESIDE_STATE, "");
}

/**
 * Returns the ETags of a state in every format and coding, because a caller may have read the state in any of these.
 */
export function everyTag(formats: readonly Format[], tag: string): readonly string[] {
  return formats.flatMap(({ tagSuffix }) => tagsInCodings(tag + tagSuffix));
}
