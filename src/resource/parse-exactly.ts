import { isText } from "../core/checking/members.ts";
import { requireArguments } from "../core/checking/options.ts";
import { valueOfJSON } from "../core/exact-numbers.ts";

/**
 * Parses JSON and keeps each number that no double can represent as an `ExactNumber`. Returns undefined if the text is
 * not JSON.
 */
export function parseExactly(text: string): unknown {
  requireArguments("parseExactly", arguments, { text: (value) => (isText(value) ? null : "it has to be a text") });
  try {
    return valueOfJSON(text);
  } catch {
    return undefined;
  }
}
