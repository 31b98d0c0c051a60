import type { View } from "../../http/request/view.ts";
import { findLabelField, nameOne } from "../../resource/record-labels.ts";
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
  const found = [...referred].map(async ([to, ids]) => [to.path, await labelsOf(site, view, to, [...ids])] as const);
  return new Map((await Promise.all(found)).flatMap(([path, labels]) => (labels === null ? [] : [[path, labels]])));
}

/**
 * Returns the names of records of one resource, as far as the caller may read the records. A record without a readable
 * name is named by its resource and its id: `Task 7`.
 */
export async function labelsOf(
  site: Site,
  view: View,
  to: Resource,
  ids: readonly Id[],
  steps = 1,
): Promise<ReadonlyMap<Id, string> | null> {
  const named = findLabelField(to);
  const values = named === null ? null : await view.values(to.path, ids, named);
  const found = values ?? (await view.values(to.path, ids, "id"));
  if (found === null) return null;
  const isNamed = named !== null && values !== null;
  const further = isNamed && steps < MAX_STEPS ? referredBy(site, to.fields[named]!) : null;
  const next = [...found.values()].filter((value) => typeof value === "number" || typeof value === "string");
  const names = further === null ? null : await labelsOf(site, view, further, next, steps + 1);
  const nameOf = (value: unknown): string | undefined => {
    if (!isNamed) return undefined;
    return further === null ? nameIn(to, named, value) : names?.get(value as Id);
  };
  return new Map([...found].map(([id, value]) => [id, nameOf(value) ?? nameOne(to, id)]));
}

/** Returns the value of the field with the name of a record as text. Undefined if it cannot be a name. */
function nameIn({ fields }: Resource, field: string, value: unknown): string | undefined {
  if (value === null || value === undefined || value === "") return undefined;
  const { kind } = fields[field]!;
  // A reference is named by its record. Its id alone is no name.
  if (kind.references !== undefined) return undefined;
  return kind.label?.(value) ?? String(value);
}
