import { isObject } from "../../../core/checking/members.ts";
import type { View } from "../../../http/request/view.ts";
import { findLabelField, nameOne } from "../../../resource/record-labels.ts";
import type { Resource } from "../../../resource/resource.ts";
import { labelsOf } from "../labels.ts";
import type { Site } from "../site.ts";

/** A record that a form offers, by its name. */
export interface RecordOption {
  readonly id: number | string;
  readonly name: string;
}

/** The records that a form offers for a reference. */
export interface Options {
  readonly records: readonly RecordOption[];
  /** True if there are more records, which the form finds by a part of their name. */
  readonly hasMore: boolean;
}

/** The maximum number of records that a form offers. */
const MOST_OFFERED = 50;

/**
 * Returns the first records that a form offers, by name if the resource can be sorted by it. Contains only records that
 * the caller may list.
 */
export async function loadOptions(site: Site, view: View, to: Resource): Promise<Options> {
  const named = findLabelField(to);
  const sort = named !== null && to.sorts.includes(named) ? `&sort=${named}` : "";
  const fields = named === null ? "id" : `id,${named}`;
  const reply = await view.ask(`${to.path}?limit=${MOST_OFFERED + 1}&fields=${fields}${sort}`);
  const rows = readRows(reply?.body);
  const ids = rows.map(({ id }) => id).filter((id) => typeof id === "number" || typeof id === "string");
  const names = named === null ? null : await labelsOf(site, view, to, ids);
  const records = ids.slice(0, MOST_OFFERED).map((id) => ({ id, name: names?.get(id) ?? nameOne(to, id) }));
  const byName = sort === "" ? records.toSorted((one, other) => one.name.localeCompare(other.name)) : records;
  return { records: byName, hasMore: ids.length > MOST_OFFERED };
}

type OptionRow = Readonly<Record<string, unknown>>;

function readRows(body: { readonly kind: string } | null | undefined): readonly OptionRow[] {
  const value = bodyValue(body);
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function bodyValue(body: { readonly kind: string } | null | undefined): unknown {
  if (body === null || body === undefined) return null;
  if ("json" in body && typeof body.json === "string") return JSON.parse(body.json);
  return "value" in body ? body.value : null;
}
