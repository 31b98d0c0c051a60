import { codings } from "../../core/headers/accept-encoding.ts";
import type { Format } from "../formats/format.ts";

// An uncompressed representation has no suffix. Each content coding has one.
const suffixes = ["", ...codings.map((coding) => `-${coding}`)];

/**
 * Returns the ETag of a state in one representation and content coding. Each coding has its own strong ETag (RFC 9110
 * §8.8.3.3).
 */
export function tagIn(tag: string, coding: string | null): string {
  return coding === null ? `"${tag}"` : `"${tag}-${coding}"`;
}

/** Returns the ETags of one representation, in every coding. */
export function tagsInCodings(tag: string): readonly string[] {
  return suffixes.map((suffix) => `"${tag}${suffix}"`);
}

const BESIDE_STATE = /~[\w-]{16}|\.[\w-]{6}/;

/**
 * Returns the ETag of a state with a part for the `noted` fields, which change when the record is used. A cache must see such a change. A
 * client that changes the record need not, so `stateIn` removes this part from the ETags that a client sends.
 */
export function tagWithNoted(state: string, noted: string): string {
  return `${state}~${noted}`;
}

/**
 * Returns the ETag of a state in one shape (`computeShapeDigest`). A reader must get a new ETag for another shape. For a change, only the
 * state counts.
 */
export function tagWithShape(state: string, shape: string): string {
  return `${state}.${shape}`;
}

/** Returns the tag of the state alone, in its representation. */
export function stateIn(tag: string): string {
  return tag.replace(BESIDE_STATE, "");
}

/** Returns the ETags of a state in every representation, because a caller may have read it in any of them. */
export function everyTag(formats: readonly Format[], tag: string): readonly string[] {
  return formats.flatMap(({ tagSuffix }) => tagsInCodings(tag + tagSuffix));
}
