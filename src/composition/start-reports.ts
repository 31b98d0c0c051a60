import { formatDay } from "../core/deprecation.ts";
import type { Observer } from "../core/observation.ts";
import type { ServedMount } from "../http/declarations/mount.ts";
import type { Route } from "../http/declarations/routes.ts";
import { unservedKey, unservedLists } from "../http/mount/shapes.ts";

/** Reports to the operator the lists without an index, and the deprecated parts whose sunset has passed. */
export function reportAtStart(
  mounts: readonly ServedMount[],
  routes: readonly Route[],
  { now, observe }: { readonly now: number; readonly observe: Observer | null },
): void {
  const newest = mounts.filter(({ older }) => older === null);
  for (const message of [...newest.map(unservedKey), unservedNotice(newest), ...describeSunsets(mounts, routes, now)])
    if (message !== null) observe?.({ kind: "notice", level: "info", message });
}

const MOST_PATHS = 3;

/**
 * Returns one line for all lists without an index. Returns null if there are none. `latchkey db explain` shows the
 * details.
 */
function unservedNotice(mounts: readonly ServedMount[]): string | null {
  const found = mounts.flatMap((mount) => {
    const { length } = unservedLists(mount);
    return length === 0 ? [] : [{ path: mount.resource.path, length }];
  });
  if (found.length === 0) return null;
  const count = found.reduce((sum, { length }) => sum + length, 0);
  const paths = found.slice(0, MOST_PATHS).map(({ path }) => path);
  const rest = found.length > MOST_PATHS ? ", …" : "";
  return `${count} kinds of lists have no index (${paths.join(", ")}${rest}): latchkey db explain shows them, scans: true in a resource accepts them.`;
}

/** Returns a message for each part after its sunset. The part is still served until a developer removes it. */
function describeSunsets(mounts: readonly ServedMount[], routes: readonly Route[], now: number): readonly string[] {
  const whole = routes.flatMap(({ methods }) => [...methods.values()].flatMap(({ deprecations = [] }) => deprecations));
  const parts = mounts.flatMap(({ resource: { path, deprecations } }) =>
    [...(deprecations?.fields.values() ?? []), ...(deprecations?.filters.values() ?? [])]
      .flat()
      .map((each) => ({ ...each, what: `${each.what} of ${path}` })),
  );
  return [...new Set([...whole, ...parts])].flatMap(({ what, sunset }) =>
    sunset === null || sunset > now
      ? []
      : `The sunset of the ${what} was on ${formatDay(sunset)}, but it is still served. Remove it, or set a later sunset.`,
  );
}
