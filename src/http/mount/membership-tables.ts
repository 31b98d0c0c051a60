import { collectFacts, type MemberFacts } from "../../access/permission/facts.ts";
import { hasNoKnownIndex, isIndexed } from "../../store/served.ts";
import type { Collection } from "../../store/store.ts";
import { findColumnOn } from "../declarations/memberships.ts";
import { allPermissions, findMount, type Narrowed } from "../declarations/named-memberships.ts";

/** Columns by which the conditions of `memberOf` and `sharesGroup` search a table. */
interface Searched {
  readonly collection: Collection;
  readonly columns: readonly string[];
}

/**
 * Returns the tables that get more indexes, because memberships are searched by their user and group, and a narrowed
 * resource by the column with the group. The keys are the declared tables.
 */
export function completeTables(mounts: readonly Narrowed[]): ReadonlyMap<Collection, Collection> {
  const completed = new Map<Collection, Collection>();
  for (const { collection: declared, columns } of collectSearched(mounts)) {
    const collection = completed.get(declared) ?? declared;
    if (collection.existing !== undefined || beginsWith(collection, columns)) continue;
    const index = columns.length === 1 ? [...columns, "id"] : columns;
    completed.set(declared, Object.freeze({ ...collection, indexes: [...(collection.indexes ?? []), index] }));
  }
  return completed;
}

/** Returns a sentence with the fix for each existing table without such an index. Call it after the store is open. */
export function unindexedTables(mounts: readonly Narrowed[]): readonly string[] {
  const missing = collectSearched(mounts).flatMap(({ collection, columns }) => {
    const { existing } = collection;
    // The indexes behind a view are unknown.
    if (existing === undefined || hasNoKnownIndex(collection) || isIndexed(collection, columns)) return [];
    const raw = columns.map((name) => existing.names[name] ?? name).join(", ");
    return [
      `${collection.name}: a permission by memberships searches ${existing.table} by (${raw}), but no index begins with these columns. Create one: CREATE INDEX … ON ${existing.table} (${raw}).`,
    ];
  });
  return [...new Set(missing)];
}

function collectSearched(mounts: readonly Narrowed[]): readonly Searched[] {
  return mounts.flatMap((mount) =>
    allPermissions(mount)
      .flatMap(collectFacts)
      .flatMap((facts): readonly Searched[] => {
        if (facts.kind !== "member" && facts.kind !== "shares") return [];
        const { memberships, user, group } = facts;
        const { collection } = findMount(memberships, mounts)!;
        // Team mates are found by their groups.
        const further = facts.kind === "member" ? [user, group] : [group];
        return [
          { collection, columns: [user] },
          { collection, columns: further },
          ...(facts.kind === "member" ? searchedRows(facts, mount) : []),
        ];
      }),
  );
}

function searchedRows(facts: MemberFacts, { collection }: Narrowed): readonly Searched[] {
  const column = findColumnOn(facts, collection.name);
  return column === "id" ? [] : [{ collection, columns: [column] }];
}

/** True if an index begins with these columns, in this order. */
function beginsWith({ indexes = [], uniques = [] }: Collection, columns: readonly string[]): boolean {
  return [...indexes, ...uniques].some((index) => columns.every((name, at) => index[at] === name));
}
