import type { Reply } from "../../../core/call/call.ts";
import { isObject } from "../../../core/checking/members.ts";
import type { View } from "../../../http/request/view.ts";
import { findLabelField, nameOne } from "../../../resource/record-labels.ts";
import type { Resource } from "../../../resource/resource.ts";
import { labelsOf } from "../labels.ts";
import { readBodyValue } from "../replies.ts";
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
  /** The part of a name that was looked for. Empty: nothing was. */
  readonly part: string;
  /** The query that searches by name, for the script. Null: the resource has no search. */
  readonly search: { readonly target: string; readonly label: string } | null;
}

/** The maximum number of records that a form offers. */
const MOST_OFFERED = 50;

/**
 * Returns the first records that a form offers, by name if the resource can be sorted by it. Contains only records that
 * the caller may list.
 */
export async function loadOptions(site: Site, view: View, to: Resource, part = ""): Promise<Options> {
  const named = findLabelField(to);
  if (part !== "") return findOptions(site, view, to, part);
  const sort = named !== null && to.sorts.includes(named) ? `&sort=${named}` : "";
  const fields = named === null ? "id" : `id,${named}`;
  const reply = await view.ask(`${to.path}?limit=${MOST_OFFERED + 1}&fields=${fields}${sort}`);
  const rows = readRows(reply?.body);
  const ids = rows.map(({ id }) => id).filter((id) => typeof id === "number" || typeof id === "string");
  const names = named === null ? null : await labelsOf(site, view, to, ids);
  const records = ids.slice(0, MOST_OFFERED).map((id) => ({ id, name: names?.get(id) ?? nameOne(to, id) }));
  const byName = sort === "" ? records.toSorted((one, other) => one.name.localeCompare(other.name)) : records;
  return { records: byName, hasMore: ids.length > MOST_OFFERED, part: "", search: findSearch(view, to, named) };
}

function findSearch(view: View, to: Resource, named: string | null): Options["search"] {
  if (to.search.length === 0 || named === null || to.fields[named]!.kind.references !== undefined) return null;
  return { target: `${view.basePath}${to.path}?limit=20&fields=id,${named}&search=`, label: named };
}

/** The most records that are looked through if the resource has no search. */
const MOST_SEARCHED = 1000;

/** Returns the first records whose name contains a text. */
async function findOptions(site: Site, view: View, to: Resource, part: string): Promise<Options> {
  const named = findLabelField(to);
  const isSearched = to.search.length > 0;
  const limit = Math.min(isSearched ? MOST_OFFERED : MOST_SEARCHED, to.pageSize.maximum);
  const search = isSearched ? `&${new URLSearchParams({ search: part }).toString()}` : "";
  const reply = await view.ask(`${to.path}?limit=${limit}&fields=id${search}`);
  const ids = readRows(reply?.body).flatMap(({ id }) => (typeof id === "number" || typeof id === "string" ? [id] : []));
  const names = named === null ? null : await labelsOf(site, view, to, ids);
  const all = ids.map((id) => ({ id, name: names?.get(id) ?? nameOne(to, id) }));
  const fitting = isSearched ? all : all.filter(({ name }) => name.toLowerCase().includes(part.toLowerCase()));
  return { records: fitting.slice(0, MOST_OFFERED), hasMore: true, part, search: findSearch(view, to, named) };
}

type OptionRow = Readonly<Record<string, unknown>>;

function readRows(body: Reply["body"] | null): readonly OptionRow[] {
  const value = readBodyValue(body);
  return Array.isArray(value) ? value.filter(isObject) : [];
}
