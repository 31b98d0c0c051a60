import { seriesOf } from "../../core/measurement.ts";
import type { Observation } from "../../core/observation.ts";

/** The maximum number of callers that are counted separately. Later callers are counted together, as `others`. */
const MAX_CALLERS = 100;

/** Counts the uses of deprecated parts. */
export interface DeprecatedUses {
  take(request: Extract<Observation, { kind: "request" }>): void;
  /** The number of uses, by series. */
  readonly uses: ReadonlyMap<string, number>;
}

/**
 * Returns counters with a series for each deprecated part, route and caller. The caller is the id of one of the first
 * hundred users, `others` for later users, or `nobody` for requests without a user.
 */
export function countDeprecated(): DeprecatedUses {
  const uses = new Map<string, number>();
  const callers = new Set<number>();
  const labelCaller = (userId: number | null): string => {
    if (userId === null) return "nobody";
    if (callers.size < MAX_CALLERS) callers.add(userId);
    return callers.has(userId) ? String(userId) : "others";
  };
  return {
    uses,
    take({ route, userId, deprecated }) {
      const caller = labelCaller(userId);
      for (const what of deprecated) {
        const series = seriesOf("latchkey_deprecated_uses_total", { what, route: route ?? "none", caller });
        uses.set(series, (uses.get(series) ?? 0) + 1);
      }
    },
  };
}
