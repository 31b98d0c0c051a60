import type { DraftContext, Field } from "../../../resource/kinds/field.ts";

/** Returns the value of a field if none is given. */
export function standardOf({ options }: Field, context: DraftContext): unknown {
  const given = options.generated ?? options.default ?? null;
  return isMaker(given) ? given(context) : given;
}

function isMaker(given: unknown): given is (context: DraftContext) => unknown {
  return typeof given === "function";
}
