import type { DraftContext, Field } from "../../../resource/kinds/field.ts";

/** What a field has where nobody gives a value. */
export function standardOf({ options }: Field, context: DraftContext): unknown {
  const given = options.generated ?? options.default ?? null;
  return isMaker(given) ? given(context) : given;
}

function isMaker(given: unknown): given is (context: DraftContext) => unknown {
  return typeof given === "function";
}
