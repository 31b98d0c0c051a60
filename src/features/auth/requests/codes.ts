import { composed } from "../../../core/crypto/composed.ts";
import { text } from "../../../resource/kinds/fields.ts";

/** The field of a code. Pasted codes may end with a line break. */
export const codeField = (description: string) =>
  text({ maxLength: 100, optional: true, multiline: true, description });

/**
 * Returns a code as the service compares it, from a code as a person types or pastes it: in NFKC, without white space,
 * format characters and dashes. All kinds of codes use it.
 */
export function normalizeCode(code: string): string {
  return composed(code)
    .normalize("NFKC")
    .replaceAll(/[\p{White_Space}\p{Cf}\p{Dash}]/gu, "");
}
