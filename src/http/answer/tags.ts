import { codings } from "../../core/headers/accept-encoding.ts";
import type { Format } from "../formats/format.ts";

// What is sent byte for byte as it is written has no suffix; each coding has one.
const suffixes = ["", ...codings.map((coding) => `-${coding}`)];

/** The ETag of a state in one representation, in this content coding (RFC 9110 §8.8.3.3: each has a strong one of its own). */
export function tagIn(tag: string, coding: string | null): string {
  return coding === null ? `"${tag}"` : `"${tag}-${coding}"`;
}

/** The ETags of one representation, in every coding. */
export function tagsInCodings(tag: string): readonly string[] {
  return suffixes.map((suffix) => `"${tag}${suffix}"`);
}

const BESIDE_STATE = /~[\w-]{16}|\.[\w-]{6}/;

/**
 * The tag of a state of which a part is `noted`, changing as the record is used: whoever keeps the answer has to see that part change,
 * and whoever changes the record need not care. So it stands in the tag, and `stateIn` takes it out of those that a caller sends.
 */
export function tagWithNoted(state: string, noted: string): string {
  return `${state}~${noted}`;
}

/** Returns the tag of a state in one shape (`shapeDigestOf`): a reader has to see another shape, and a change goes by the state alone. */
export function tagWithShape(state: string, shape: string): string {
  return `${state}.${shape}`;
}

/** Returns the tag of the state alone, in its representation. */
export function stateIn(tag: string): string {
  return tag.replace(BESIDE_STATE, "");
}

/** The ETags of a state in every representation: a caller may have read it in any. */
export function everyTag(formats: readonly Format[], tag: string): readonly string[] {
  return formats.flatMap(({ tagSuffix }) => tagsInCodings(tag + tagSuffix));
}
