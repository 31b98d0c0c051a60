import type { ServedMount } from "../../http/declarations/mount.ts";
import { isStored } from "../../resource/declaration/field.ts";
import type { StoredRecord, Value } from "../../store/store.ts";
import type { ProveRequest } from "../asking/request.ts";
import type { Actor } from "../content/actors.ts";
import type { Sight } from "../judging/sight.ts";
import type { World } from "../world/world.ts";
import { chooseFew, collectionPath, rowPath, rowsOf } from "./rows.ts";

/** The rows of each kind to which a request for one row is sent. */
const SEEN_ROWS = 2;
const HIDDEN_ROWS = 3;

/** Returns the requests by which an actor reads the rows of a mount. */
export function* drawReads(world: World, actor: Actor, mount: ServedMount): Generator<ProveRequest> {
  const sight = world.sightOf(actor);
  const rows = rowsOf(world.state(), mount);
  const reads: Reads = { world, actor, mount, sight, rows };
  if (mount.permissions.list !== undefined) for (const path of collectionPaths(reads)) yield* listReads(reads, path);
  if (mount.permissions.read !== undefined) yield* rowReads(reads);
  yield* actionReads(reads);
}

interface Reads {
  readonly world: World;
  readonly actor: Actor;
  readonly mount: ServedMount;
  readonly sight: Sight;
  readonly rows: readonly StoredRecord[];
}

/** Returns the paths of the collection: for nested records one with a parent that is seen, and one with another. */
function collectionPaths({ mount, rows, sight, world }: Reads): readonly string[] {
  const state = world.state();
  if (mount.parent === null) return [mount.resource.path];
  const seen = rows.filter((row) => sight.mayReadUnlimited(mount, row));
  const hidden = rows.filter((row) => !seen.includes(row));
  return [...new Set([...seen.slice(0, 1), ...chooseFew(hidden, 2)].map((row) => collectionPath(mount, row, state)))];
}

function* listReads(reads: Reads, path: string): Generator<ProveRequest> {
  const { actor, mount, world } = reads;
  const { resource } = mount;
  const base = { actor, method: "GET", route: resource.path, isCompared: true } as const;
  const own = { ...base, lists: mount };
  yield { ...own, path, whole: { mount, row: null } };
  yield { ...own, path: `${path}?limit=1`, headers: { Prefer: "count=exact" } };
  yield { ...own, path, headers: { Prefer: "count=estimated" }, isCompared: false };
  const allowed = { ...base, isCompared: false, isAllowed: true };
  const filters = allowedFilters(reads);
  const query = formatQuery(reads, filters);
  if (query !== "") yield { ...allowed, path: `${path}?${query}` };
  const [filter] = filters;
  if (filter !== undefined)
    yield { ...allowed, method: "QUERY", path, body: { where: { not: { any: [{ all: [conditionOf(filter)] }] } } } };
  for (const sort of resource.sorts) yield { ...own, path: `${path}?sort=-${sort}` };
  for (const [field, value] of hiddenValues(reads)) {
    if (mount.newer === null) yield { ...own, path: `${path}?fields=id,${field}` };
    yield { ...own, path: `${path}?sort=${field}` };
    for (const operator of resource.filters.get(field) ?? ["eq"]) {
      const text = filterText(operator, value);
      yield { ...own, path: `${path}?${field}%5B${operator}%5D=${encodeURIComponent(text)}` };
      yield { ...own, method: "QUERY", path, body: { where: conditionOf({ name: field, operator, value }) } };
    }
    if (typeof value === "string" && resource.search.length > 0) {
      yield { ...own, path: `${path}?search=${encodeURIComponent(value)}` };
      yield { ...own, method: "QUERY", path, body: { search: value } };
    }
  }
  yield { ...own, method: "QUERY", path, body: { sort: resource.sorts.at(-1) ?? "id", count: "exact" } };
  for (const expand of relationsOf(mount)) {
    yield { ...base, path: `${path}?expand=${expand}`, ...shownRelation(reads, expand, null) };
    yield { ...base, method: "QUERY", path, body: { expand } };
  }
  for (const format of world.service.formats.slice(1))
    yield { ...own, isCompared: false, path, headers: { Accept: format.mediaType }, reveals: format.reveals ?? [] };
}

/** A filter with a value. */
interface Filter {
  readonly name: string;
  readonly operator: string;
  readonly value: Value;
}

/** Returns a filter by every field that the actor may read, apart from those that an older shape converts. */
function allowedFilters(reads: Reads): readonly Filter[] {
  const { mount, rows } = reads;
  const valueOf = (name: string): Value | undefined => {
    const { from = name, isPlain = true } = mount.older?.members.get(name) ?? {};
    // An older shape may show another value than the stored one.
    if (!isPlain) return undefined;
    return rows.map((row) => row[from]).find((value) => value !== null && value !== undefined);
  };
  return [...mount.resource.filters].flatMap(([name, [operator]]): readonly Filter[] => {
    const value = valueOf(name);
    if (operator === undefined || !isReadName(reads, name) || value === undefined || typeof value === "object")
      return [];
    return [{ name, operator, value }];
  });
}

/** Returns a query with these filters, and with every sort by a field that the actor may read. */
function formatQuery(reads: Reads, filters: readonly Filter[]): string {
  const query = filters.map(
    ({ name, operator, value }) => [`${name}[${operator}]`, filterText(operator, value)] as const,
  );
  const sorted = reads.mount.resource.sorts.filter((name) => isReadName(reads, name)).join();
  const all = sorted === "" ? query : [...query, ["sort", sorted] as const];
  return all.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&");
}

/** Returns true if the actor may read a field, by its name in this shape. */
function isReadName({ mount, sight }: Reads, name: string): boolean {
  return sight.mayReadField(mount.newer ?? mount, mount.older?.members.get(name)?.from ?? name, {});
}

/** Returns a filter as a condition of `QUERY`. */
function conditionOf({ name, operator, value }: Filter): object {
  const text = filterText(operator, value);
  switch (operator) {
    case "null":
      return { [name]: { null: true } };
    case "in":
      return { [name]: { in: [value] } };
    default:
      return { [name]: { [operator]: /starts|contains/.test(operator) ? text : value } };
  }
}

/**
 * Returns what the answer shows if the name is that of a relation of the mount itself. A relation of a hidden field does
 * not exist for the actor.
 */
function shownRelation(
  { mount, sight }: Reads,
  name: string,
  row: StoredRecord | null,
): Pick<ProveRequest, "whole" | "expands" | "hides"> {
  const relation = mount.relations.find((each) => each.name === name);
  if (relation === undefined) return {};
  const newer = mount.newer ?? mount;
  const isHidden = relation.kind !== "many" && !sight.mayReadField(newer, relation.column, row ?? {});
  return isHidden ? { hides: { mount: newer, relation } } : { whole: { mount, row }, expands: relation };
}

/** Returns the names for `expand`, with those of the related records. */
export function relationsOf(mount: ServedMount): readonly string[] {
  return mount.relations.flatMap(({ name, to }) => [
    name,
    ...to.relations.slice(0, 2).map((each) => `${name}.${each.name}`),
  ]);
}

/** Returns a value of each field that the actor may not see, by the name of the field in this shape. */
function hiddenValues({ mount, rows, sight, world }: Reads): readonly (readonly [string, Value])[] {
  const newer = mount.newer ?? mount;
  const hiddenRows = rows.filter((row) => !sight.mayRead(newer, row));
  return Object.keys(mount.resource.fields).flatMap((name) => {
    const from = mount.older?.members.get(name)?.from ?? name;
    const field = newer.resource.fields[from];
    if (field === undefined || !isStored(field) || field.options.writeOnly === true) return [];
    const isHiddenField = rows.some((row) => !sight.mayReadField(newer, from, row));
    if (!isHiddenField && !world.mounts.includes(newer)) return [];
    const seen = rows.filter((row) => !hiddenRows.includes(row));
    const row = isHiddenField
      ? (seen.find((each) => !sight.mayReadField(newer, from, each)) ?? hiddenRows[0])
      : hiddenRows[0];
    const value = row?.[from];
    return value === undefined || value === null || typeof value === "object" ? [] : [[name, value] as const];
  });
}

function filterText(operator: string, value: Value): string {
  if (operator === "null") return "true";
  const text = String(value);
  return operator.includes("starts") || operator.includes("contains") ? text.slice(0, 6) : text;
}

function* rowReads(reads: Reads): Generator<ProveRequest> {
  const { actor, mount, sight, rows, world } = reads;
  const state = world.state();
  const base = { actor, method: "GET", route: `${mount.resource.path}/{id}` } as const;
  const seen = rows.filter((row) => sight.mayRead(mount.newer ?? mount, row));
  const hidden = rows.filter((row) => !seen.includes(row));
  const [first = "id"] = relationsOf(mount);
  for (const row of chooseFew(seen, SEEN_ROWS)) {
    const path = rowPath(mount, row, state);
    yield { ...base, path, isCompared: true, whole: { mount, row } };
    for (const expand of relationsOf(mount))
      yield { ...base, path: `${path}?expand=${expand}`, isCompared: true, ...shownRelation(reads, expand, row) };
    for (const { mediaType, shows, reveals = [] } of world.service.formats.slice(1))
      if (shows !== "lists") yield { ...base, path, headers: { Accept: mediaType }, reveals };
    yield { ...base, path: `${path}?format=html&form=edit` };
    for (const [field] of hiddenValues(reads)) yield { ...base, path: `${path}?fields=${field}`, isCompared: true };
  }
  for (const row of chooseFew(hidden, HIDDEN_ROWS)) {
    const path = rowPath(mount, row, state);
    yield { ...base, path, isCompared: true };
    yield { ...base, path, headers: { Accept: "text/html" } };
    if (relationsOf(mount).length > 0) yield { ...base, path: `${path}?expand=${first}` };
  }
}

function* actionReads({ actor, mount, rows, sight, world }: Reads): Generator<ProveRequest> {
  const state = world.state();
  const seen = rows.filter((row) => sight.mayRead(mount.newer ?? mount, row));
  const hidden = rows.filter((row) => !seen.includes(row));
  for (const { name, method, on, reveals } of mount.actions) {
    if (method !== "GET") continue;
    const route = `${mount.resource.path}${on === "record" ? "/{id}" : ""}/${name}`;
    const base = { actor, method, route, reveals, isCompared: reveals.length === 0 };
    const chosen = [...chooseFew(seen, SEEN_ROWS), ...chooseFew(hidden, HIDDEN_ROWS)];
    const paths = chosen.map((row) =>
      on === "record" ? `${rowPath(mount, row, state)}/${name}` : `${collectionPath(mount, row, state)}/${name}`,
    );
    for (const path of new Set(paths)) yield { ...base, path };
  }
}
