import type { DraftContext, Field } from "../../../resource/kinds/field.ts";

/** Returns the value of a field if none is given. */
export function resolveDefault({ options }: Field, context: DraftContext): unknown {
  const fallback = options.generated ?? options.default ?? null;
  return isMaker(fallback) ? fallback(context) : fallback;
}

function isMaker(value: unknown): value is (context: DraftContext) => unknown {
  return typeof value === "function";
}
