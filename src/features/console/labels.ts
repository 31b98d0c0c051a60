import type { View } from "../../http/request/view.ts";
import { findLabelField } from "../../resource/record-labels.ts";
import type { Resource } from "../../resource/resource.ts";
import type { Extent } from "./excerpt.ts";
import { referredBy, type Labels, type Site } from "./site.ts";

type LabeledRecord = Readonly<Record<string, unknown>>;
type Id = number | string;

export const noLabels: Labels = new Map();

/** The largest number of references that lead to the name of a record. */
const MAX_STEPS = 3;

/**
 * Returns the names of the records that these records refer to, as far as the caller may read them, with one query for
 * each resource.
 */
export async function labelsFor(
  site: Site,
  view: View,
  { fields }: Resource,
  records: readonly LabeledRecord[],
  { ids: most }: Extent,
): Promise<Labels> {
  const referred = new Map<Resource, Set<Id>>();
  for (const [name, field] of Object.entries(fields)) {
    const to = referredBy(site, field);
    if (to === null) continue;
    const values = records.flatMap((record) => [record[name]].flat().slice(0, most));
    const ids = values.filter((id) => typeof id === "number" || typeof id === "string");
    referred.set(to, new Set([...(referred.get(to) ?? []), ...ids]));
  }
  const found = [...referred].map(async ([to, ids]) => [to.path, await loadLabels(site, view, to, [...ids])] as const);
  return new Map((await Promise.all(found)).flatMap(([path, labels]) => (labels === null ? [] : [[path, labels]])));
}

async function loadLabels(
  site: Site,
  view: View,
  to: Resource,
  ids: readonly Id[],
  steps = 1,
): Promise<ReadonlyMap<Id, string> | null> {
  const named = findLabelField(to);
  const found = await view.values(to.path, ids, named ?? "id");
  if (found === null) return null;
  const further = named === null || steps === MAX_STEPS ? null : referredBy(site, to.fields[named]!);
  const next = [...found.values()].filter((value) => typeof value === "number" || typeof value === "string");
  const names = further === null ? null : await loadLabels(site, view, further, next, steps + 1);
  return new Map([...found].map(([id, value]) => [id, String(names?.get(value as Id) ?? value ?? id)]));
}
