import { seriesOf } from "../../core/measurement.ts";
import type { Observation } from "../../core/observation.ts";

/** How many callers are told apart; whoever comes later is `others`. */
const MAX_CALLERS = 100;

/** Counts who uses what will go. */
export interface DeprecatedUses {
  take(request: Extract<Observation, { kind: "request" }>): void;
  /** By their series. */
  readonly uses: ReadonlyMap<string, number>;
}

/** A series for each thing that will go, each place and each caller; callers are users, and of those the first hundred. */
export function countDeprecated(): DeprecatedUses {
  const uses = new Map<string, number>();
  const callers = new Set<number>();
  const callerOf = (userId: number | null): string => {
    if (userId === null) return "nobody";
    if (callers.size < MAX_CALLERS) callers.add(userId);
    return callers.has(userId) ? String(userId) : "others";
  };
  return {
    uses,
    take({ route, userId, deprecated }) {
      const caller = callerOf(userId);
      for (const what of deprecated) {
        const series = seriesOf("latchkey_deprecated_uses_total", { what, route: route ?? "none", caller });
        uses.set(series, (uses.get(series) ?? 0) + 1);
      }
    },
  };
}
