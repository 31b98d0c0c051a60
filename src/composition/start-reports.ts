import { formatDay } from "../core/deprecation.ts";
import type { Observer } from "../core/observation.ts";
import type { ServedMount } from "../http/declarations/mount.ts";
import type { Route } from "../http/declarations/routes.ts";
import { unservedKey, unservedLists } from "../http/mount/shapes.ts";

/**
 * Reports to the operator the lists without an index, the deprecated parts whose sunset has passed, and the computed
 * fields that may show hidden values.
 */
export function reportAtStart(
  mounts: readonly ServedMount[],
  routes: readonly Route[],
  { now, observe }: { readonly now: number; readonly observe: Observer | null },
): void {
  const newest = mounts.filter(({ older }) => older === null);
  const notices = [
    ...newest.map(unservedKey),
    unservedNotice(newest),
    ...describeSunsets(mounts, routes, now),
    ...newest.flatMap(describeRevealing),
  ];
  for (const message of notices) if (message !== null) observe?.({ kind: "notice", level: "info", message });
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

/**
 * Returns a message for each computed field that names a field with a rule for `read` and has another rule. Computed
 * fields get the whole record.
 */
function describeRevealing({ resource: { path, fields } }: ServedMount): readonly string[] {
  const hidden = Object.entries(fields).filter(([, { options }]) => options.read !== undefined);
  return Object.entries(fields).flatMap(([name, { computed, options }]) => {
    if (computed === undefined) return [];
    const source = typeof computed === "function" ? String(computed) : JSON.stringify(computed);
    return hidden
      .filter(([of, field]) => field.options.read !== options.read && new RegExp(`\\b${of}\\b`).test(source))
      .map(
        ([of, field]) =>
          `${path}: ${name} is computed from ${of}, which not every caller may read (${field.options.read!.name}). Give ${name} the same rule if it reveals ${of}.`,
      );
  });
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
