import type { View } from "../../../http/request/view.ts";
import { findLabelField, nameOne } from "../../../resource/record-labels.ts";
import type { Resource } from "../../../resource/resource.ts";
import { excerptText, inCell } from "../excerpt.ts";
import { labelsOf } from "../labels.ts";
import { referredBy, type Site } from "../site.ts";

/**
 * Returns the name of a record as the caller sees it: the value of its label field, the name of the record that this
 * field refers to, or `Task 7`.
 */
export async function nameOfRecord(
  site: Site,
  view: View,
  resource: Resource,
  record: Readonly<Record<string, unknown>>,
): Promise<string> {
  return excerptText(await nameWhole(site, view, resource, record), inCell.characters);
}

async function nameWhole(
  site: Site,
  view: View,
  resource: Resource,
  record: Readonly<Record<string, unknown>>,
): Promise<string> {
  const id = record["id"];
  const plain = nameOne(resource, id ?? view.place?.params["id"]);
  const named = findLabelField(resource);
  if (named === null) return plain;
  const value = record[named];
  if (value === null || value === undefined || value === "") return plain;
  const field = resource.fields[named]!;
  const to = referredBy(site, field);
  if (to !== null && (typeof value === "number" || typeof value === "string"))
    return (await labelsOf(site, view, to, [value]))?.get(value) ?? plain;
  if (field.kind.references !== undefined || typeof value === "object") return plain;
  return field.kind.label?.(value) ?? String(value);
}
