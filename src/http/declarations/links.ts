import type { Resource } from "../../resource/resource.ts";
import { formatTableName, buildTableName } from "../../resource/tables/table.ts";
import {
  isKeyOf,
  keyOf,
  type Change,
  type Collection,
  type Key,
  type Outcome,
  type StoredRecord,
  type Value,
} from "../../store/store.ts";

/** A field with the ids of other records, and the table with one row for each id. */
export interface Link {
  readonly field: string;
  readonly collection: Collection;
  /** The table of the other records. */
  readonly to: string;
  readonly onDelete: "restrict" | "remove";
  /** The minimum number of ids in a record. */
  readonly minItems: number;
}

/** The column for the record that has the ids. Only a declared field `record_id` could collide with it. */
const RECORD = "record_id";

/**
 * Returns the link tables for the fields of a resource that contain lists of ids. The database refuses to delete a
 * record that a link table refers to.
 */
export function buildLinks(resource: Resource, { name, key }: Pick<Collection, "name" | "key">): readonly Link[] {
  return Object.entries(resource.fields).flatMap(
    ([
      field,
      {
        kind: { members, schema },
        options: { renamedFrom },
      },
    ]) => {
      if (members === undefined) return [];
      const columns = [
        { name: RECORD, type: key, references: { collection: name, onDelete: "cascade" } },
        {
          name: field,
          type: members.id === "uuid" ? "text" : "integer",
          references: { collection: formatTableName(members.resource), onDelete: "restrict" },
        },
      ] as const;
      const collection: Collection = {
        name: `${buildTableName(resource)}_${field}`,
        key: "integer",
        columns,
        indexes: [[field, RECORD], [RECORD]],
        links: {
          collection: name,
          column: field,
          ...(renamedFrom === undefined ? {} : { was: `${buildTableName(resource)}_${renamedFrom}` }),
        },
      };
      const { onDelete = "restrict" } = members;
      return [
        {
          field,
          collection,
          to: formatTableName(members.resource),
          onDelete,
          minItems: Number(schema["minItems"] ?? 0),
        },
      ];
    },
  );
}

/** Returns the condition that the field of a record contains one of these ids. */
export function buildLinkedRows({ collection, field }: Link, values: readonly Key[]): LinkedRows {
  return { link: collection, record: RECORD, linked: field, values };
}

/** The condition that a record has a row in the link table with one of these values. */
export interface LinkedRows {
  readonly link: Collection;
  readonly record: string;
  readonly linked: string;
  readonly values: readonly Key[];
}

/** A written record. `id` is null if it is new and the database assigns its key. `before` is null if it is new. */
interface WrittenRecord {
  readonly id: Key | null;
  readonly before: StoredRecord | null;
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Returns the changes that update the link tables of a record. The change of the record itself must be the first of the
 * transaction.
 */
export function buildLinkChanges(links: readonly Link[], { id, before, values }: WrittenRecord): readonly Change[] {
  return links.flatMap(({ field, collection }): Change[] => {
    if (!Array.isArray(values[field])) return values[field] === null ? buildUnlinkingOfAll(collection, id) : [];
    const { added, removed } = compareKeys(idsIn(before, field), idsIn(values, field));
    return [
      ...(removed.length === 0 ? [] : [unlinking(collection, [RECORD, id!], [field, removed])]),
      ...(added.length === 0 ? [] : [{ kind: "link", collection, record: id ?? keyOf(0), ids: added } as const]),
    ];
  });
}

/** Returns the number of link rows that writing these values adds and deletes. */
export function countLinkRows(links: readonly Link[], { before, values }: Omit<WrittenRecord, "id">): number {
  return links.reduce((sum, { field }) => {
    if (values[field] === undefined) return sum;
    const { added, removed } = compareKeys(idsIn(before, field), idsIn(values, field));
    return sum + added.length + removed.length;
  }, 0);
}

function idsIn(record: Readonly<Record<string, unknown>> | null, field: string): readonly Key[] {
  const ids = record?.[field];
  return Array.isArray(ids) ? (ids as readonly Key[]) : [];
}

function compareKeys(
  before: readonly Key[],
  now: readonly Key[],
): { readonly added: readonly Key[]; readonly removed: readonly Key[] } {
  const [old, left] = [new Set(before), new Set(now)];
  return { added: now.filter((each) => !old.has(each)), removed: [...old].filter((each) => !left.has(each)) };
}

/** Returns the change that removes an id from some records. */
export function buildUnlinking({ collection, field }: Link, id: Key, records: readonly Key[]): Change {
  return unlinking(collection, [field, id], [RECORD, records]);
}

function buildUnlinkingOfAll(collection: Collection, id: Key | null): Change[] {
  return id === null ? [] : [{ kind: "deleteAll", collection, where: { column: RECORD, operator: "eq", value: id } }];
}

function unlinking(
  collection: Collection,
  [column, id]: readonly [string, Key],
  [other, ids]: readonly [string, readonly Key[]],
): Change {
  const all = [
    { column, operator: "eq", value: id },
    { column: other, operator: "in", value: ids as Value },
  ] as const;
  return { kind: "deleteAll", collection, where: { all } };
}

/**
 * Returns the path of the id that refers to no row, like `tags/2`. Returns null if the refused change writes no links.
 */
export function findLinkPath(
  links: readonly Link[],
  changes: readonly Change[],
  { change: at, place }: Extract<Outcome, { readonly kind: "dangling" }>,
): string | null {
  const change = changes[at];
  const link = links.find(({ collection }) => collection === change?.collection);
  if (link === undefined || change?.kind !== "link") return null;
  if (place === undefined) return link.field;
  const { record, ids } = change;
  const isOwn = (each: Change): boolean =>
    each.collection.name === change.collection.links?.collection && "key" in each && each.key === record;
  const own = isKeyOf(record) ? changes[record.keyOf] : changes.find(isOwn);
  const listed = own !== undefined && "values" in own ? own.values[link.field] : undefined;
  const found = Array.isArray(listed) ? (listed as unknown[]).indexOf(ids[place]) : -1;
  return found === -1 ? link.field : `${link.field}/${found}`;
}
