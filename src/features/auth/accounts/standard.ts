import type { DraftContext, Field } from "../../../resource/declaration/field.ts";

/** Returns the default value of a field. Returns null if the field has none. */
export function resolveDefault({ options }: Field, context: DraftContext): unknown {
  const fallback = options.generated ?? options.default ?? null;
  return isMaker(fallback) ? fallback(context) : fallback;
}

function isMaker(value: unknown): value is (context: DraftContext) => unknown {
  return typeof value === "function";
}
