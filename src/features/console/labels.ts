import type { View } from "../../http/request/view.ts";
import type { Resource } from "../../resource/resource.ts";
import { shownFields } from "../../resource/resource.ts";
import type { Extent } from "./excerpt.ts";
import { referredBy, type Labels, type Site } from "./site.ts";

type LabeledRecord = Readonly<Record<string, unknown>>;
type Id = number | string;

export const noLabels: Labels = new Map();

/** The possible name fields of a record, in order of preference. */
const NAMES = ["name", "title", "label"] as const;

/** Returns the field with the name of a record. Returns null if there is none. */
export function findLabelField(resource: Resource): string | null {
  const shown = shownFields(resource);
  return NAMES.find((name) => shown.includes(name)) ?? null;
}

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
  const found = [...referred].map(async ([to, ids]) => [to.path, await loadLabels(view, to, [...ids])] as const);
  return new Map((await Promise.all(found)).flatMap(([path, labels]) => (labels === null ? [] : [[path, labels]])));
}

async function loadLabels(view: View, to: Resource, ids: readonly Id[]): Promise<ReadonlyMap<Id, string> | null> {
  const found = await view.values(to.path, ids, findLabelField(to) ?? "id");
  return found === null ? null : new Map([...found].map(([id, value]) => [id, String(value ?? id)]));
}
