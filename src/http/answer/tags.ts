import { codings } from "../../headers/accept-encoding.ts";
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

/** The ETags of a state in every representation: a caller may have read it in any. */
export function everyTag(formats: readonly Format[], tag: string): readonly string[] {
  return formats.flatMap(({ tagSuffix }) => tagsInCodings(tag + tagSuffix));
}
