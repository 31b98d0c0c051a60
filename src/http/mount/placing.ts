import { DeclarationError } from "../../core/checking/declaration-error.ts";
import type { Resource } from "../../resource/resource.ts";
import { buildTableName } from "../../resource/tables/table.ts";
import type { Collection } from "../../store/store.ts";
import type { Listing, Mount, ServedFounder, ServedMount, SharedUsers } from "../declarations/mount.ts";
import {
  nestedMemberships,
  placeMemberships,
  incomparableGroups,
  unmountedMemberships,
} from "../declarations/named-memberships.ts";
import { misleadingRelations, placeRelation, type Relation } from "../declarations/relations.ts";
import { collectFounders, collectSharedUsers, misplacedFounder, withLastOwner } from "./founders.ts";
import { completeTables } from "./membership-tables.ts";

/** A mount while it is linked to the others. */
interface PlacedMount extends ServedMount {
  founding?: ServedFounder;
  sharedUsers?: SharedUsers;
}

/** Returns a sentence with the fix for each mount whose parent, relation or newer shape is not mounted. */
export function misplacedMounts(mounts: readonly Mount[]): readonly string[] {
  const newer = mounts.filter(({ older }) => older === null);
  return mounts.flatMap((each) => [
    ...misplaced(each, mounts),
    ...(each.older === null ? [...unmountedMemberships(each, mounts), ...incomparableGroups(each, mounts)] : []),
    ...(each.older === null ? misleadingRelations(each, newer) : []),
    ...withoutNewer(each, mounts),
    ...misplacedFounder(each, mounts),
  ]);
}

function misplaced({ resource: { path, within } }: Mount, mounts: readonly Mount[]): readonly string[] {
  if (within === null) return [];
  const outer = mounts.find(({ resource }) => resource === within);
  if (outer === undefined)
    return [`${path} is nested in ${within.path}, which is not mounted; mount ${within.plural} too`];
  return outer.permissions.read === undefined
    ? [
        `${path} is nested in ${within.path}, which has no permission for read; give ${within.plural} a permission for read`,
      ]
    : [];
}

function withoutNewer({ resource: { path }, older }: Mount, mounts: readonly Mount[]): readonly string[] {
  if (older === null || mounts.some((each) => each === older.newer)) return [];
  return [
    `${path} is an older shape of ${older.newer.resource.path}, which is not mounted; mount ${older.newer.resource.path} too`,
  ];
}

/** Returns the tables of mounts. An older shape has the table of the newer shape. */
export function collectCollections(
  mounts: readonly Pick<ServedMount, "collection" | "links" | "older">[],
): readonly Collection[] {
  return mounts
    .filter(({ older }) => older === null)
    .flatMap(({ collection, links }) => [collection, ...links.map((each) => each.collection)]);
}

/**
 * Links each mount to its parent, its newer shape and its relations. Throws `DeclarationError` if one of them is not
 * mounted.
 */
export function placeMounts(mounts: readonly Mount[]): readonly ServedMount[] {
  const mistakes = misplacedMounts(mounts);
  if (mistakes.length > 0) throw new DeclarationError(mistakes);
  const mountsByResource = new Map<Resource, PlacedMount>();
  const relations = new Map<Resource, Relation<ServedMount>[]>();
  const listedBy = new Map<Resource, Listing[]>();
  const referrers = new Map<Resource, ServedMount[]>();
  const guardedFounders: ServedFounder[] = [];
  const memberships = nestedMemberships(mounts);
  const tables = completeTables(mounts);
  const place = (each: Mount): PlacedMount => {
    const existing = mountsByResource.get(each.resource);
    if (existing !== undefined) return existing;
    const { within } = each.resource;
    const outer = within === null ? null : mounts.find((other) => other.resource === within)!;
    const newer = each.older === null ? null : mounts.find((other) => other === each.older!.newer)!;
    const own: Relation<ServedMount>[] = [];
    const listings: Listing[] = [];
    const referring: ServedMount[] = [];
    const inPlace = {
      ...each,
      parent: outer === null ? null : place(outer),
      newer: newer === null ? null : place(newer),
      relations: own,
      listedBy: listings,
      referrers: referring,
      collection: tables.get(each.collection) ?? each.collection,
      ...placeMemberships(each, mounts, tables),
      ...(memberships.has(each) ? { writers: "readers" as const } : {}),
      problems: withLastOwner(each, mounts),
      guardedFounders,
    };
    relations.set(each.resource, own);
    listedBy.set(each.resource, listings);
    referrers.set(each.resource, referring);
    mountsByResource.set(each.resource, inPlace);
    return inPlace;
  };
  const all = mounts.map(place);
  for (const founding of collectFounders(all)) {
    mountsByResource.get(founding.group.resource)!.founding = founding;
    if (founding.founder.keep && founding.group.older === null) guardedFounders.push(founding);
  }
  for (const [memberships, shared] of collectSharedUsers(all))
    for (const { resource } of all.filter((each) => (each.newer ?? each) === memberships))
      mountsByResource.get(resource)!.sharedUsers = shared;
  // Relations may form a circle, so they are linked after all mounts are placed. A relation of an older shape points to
  // the older shape of its target with the same prefix, or to the newest shape if there is none.
  const newest = all.filter(({ older }) => older === null);
  for (const each of mounts) {
    const from = mounts.find((other) => other === each.older?.newer) ?? each;
    const shaped = all.filter(({ older }) => older !== null && older.prefix === each.older?.prefix);
    for (const entry of Object.entries(each.expand)) {
      const relation = placeRelation(from, entry, newest);
      const to = shaped.find(({ newer }) => newer === relation.to) ?? relation.to;
      relations.get(each.resource)!.push({ ...relation, to });
    }
  }
  for (const of of newest)
    for (const { resource } of all.filter((to) => refersTo(of, buildTableName(to.resource))))
      referrers.get(resource)!.push(of);
  for (const of of newest)
    for (const link of of.links.filter(({ onDelete }) => onDelete === "remove"))
      for (const { resource } of all.filter((to) => buildTableName(to.resource) === link.to))
        listedBy.get(resource)!.push({ of, link });
  return all;
}

function refersTo({ collection, links }: ServedMount, table: string): boolean {
  return (
    collection.columns.some(({ references }) => references?.collection === table) ||
    links.some(({ to }) => to === table)
  );
}
