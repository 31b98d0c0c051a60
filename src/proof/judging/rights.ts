import type { ServedMount } from "../../http/declarations/mount.ts";
import { findRow, type State } from "../content/state.ts";
import type { Sight } from "./sight.ts";

/** One right of a caller to a row. */
export interface Right {
  readonly action: "read" | "update" | "replace" | "delete";
  readonly mount: ServedMount;
  readonly id: unknown;
}

const actions = ["read", "update", "replace", "delete"] as const;

/** Returns the rights to rows of the earlier state that the caller has only in the later one. */
export function findGains(
  mounts: readonly ServedMount[],
  earlier: State,
  later: State,
  before: Sight,
  after: Sight,
): readonly Right[] {
  return mounts.flatMap((mount) =>
    [...(earlier.get(mount.collection.name) ?? [])].flatMap(([id, row]) => {
      const now = findRow(later, mount.collection.name, id);
      if (now === null) return [];
      return actions
        .filter((action) => {
          const [had, has] =
            action === "read"
              ? [before.mayReadUnlimited(mount, row), after.mayReadUnlimited(mount, now)]
              : [before.may(action, mount, row), after.may(action, mount, now)];
          return has && !had;
        })
        .map((action): Right => ({ action, mount, id }));
    }),
  );
}
