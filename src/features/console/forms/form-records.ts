import type { Offer, View } from "../../../http/request/view.ts";
import type { Field } from "../../../resource/declaration/field.ts";
import { onPage } from "../excerpt.ts";
import { labelsOf } from "../labels.ts";
import { referredBy, type Site } from "../site.ts";
import type { Input } from "./inputs.ts";
import { loadOptions, type Options } from "./options.ts";

/** The records that the references of a form may name, and the names of those that they do name. */
export interface FormRecords {
  readonly options: ReadonlyMap<string, Options>;
  readonly names: ReadonlyMap<string, ReadonlyMap<number | string, string>>;
}

/**
 * Returns the values that the address of a form fills in: the ids of records that the caller may choose, such as the
 * group of a new record.
 */
export async function pickFilled(
  offer: Offer,
  inputs: readonly Input[],
  given: readonly (readonly [name: string, value: string])[],
): Promise<Readonly<Record<string, string>>> {
  const filled: Record<string, string> = {};
  for (const [name, value] of given) {
    const field = inputs.find((input) => input.name === name)?.field ?? null;
    const key = field?.kind.references === undefined ? null : parseKey(field, value);
    if (key !== null && (await offer.mayHold(name, [key])).length > 0) filled[name] = value;
  }
  return filled;
}

/** Loads the records of the references of a form: each as far as the caller may list and read it. */
export async function loadFormRecords(
  site: Site,
  view: View,
  offer: Offer,
  inputs: readonly Input[],
  values: Readonly<Record<string, unknown>>,
): Promise<FormRecords> {
  const options = new Map<string, Options>();
  const names = new Map<string, ReadonlyMap<number | string, string>>();
  for (const { name, field } of inputs) {
    const to = field === null ? null : referredBy(site, field);
    if (to === null) continue;
    const listed = (await view.offers(to.path)).find(({ action }) => action === "list")?.resource;
    if (listed !== null && listed !== undefined)
      options.set(
        name,
        await withinReach(offer, name, await loadOptions(site, view, listed, findPart(values[`${name}.find`]))),
      );
    const ids = [values[name]].flat().slice(0, onPage.ids);
    const known = ids.flatMap((id) => parseKey(field!, id) ?? []);
    const called = known.length === 0 ? null : await labelsOf(site, view, to, known);
    if (called !== null) names.set(name, called);
  }
  return { options, names };
}

function findPart(typed: unknown): string {
  return typeof typed === "string" ? typed.trim() : "";
}

/** Leaves out the records with which the write is refused, such as groups of others. */
async function withinReach(offer: Offer, field: string, options: Options): Promise<Options> {
  const { records } = options;
  const ids = records.map(({ id }) => id);
  const may = new Set(await offer.mayHold(field, ids));
  return { ...options, records: records.filter(({ id }) => may.has(id)) };
}

/** Returns a value, or a typed text, as the key of a record. Returns null if it can be none. */
export function parseKey({ kind }: Field, id: unknown): number | string | null {
  if (typeof id === "number") return id;
  if (typeof id !== "string" || id === "") return null;
  const isNumber = kind.members === undefined ? kind.column.type === "integer" : kind.members.id === "integer";
  if (!isNumber) return id;
  return /^\d{1,15}$/.test(id) ? Number(id) : null;
}
