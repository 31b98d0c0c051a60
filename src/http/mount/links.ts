import type { Resource } from "../../resource/resource.ts";
import { tableNameOf, tableOf } from "../../resource/tables/table.ts";
import { keyOf, type Change, type Collection, type Key, type StoredRecord, type Value } from "../../store/store.ts";

/** A field that holds the ids of other records, and the table that has one row for each of them. */
export interface Link {
  readonly field: string;
  readonly collection: Collection;
  /** The table of those that are named. */
  readonly to: string;
  readonly onDelete: "restrict" | "remove";
  /** The fewest ids that a record has. */
  readonly minItems: number;
}

/** Whose ids they are. No declared field has this name in that table but one that would be `record_id` itself. */
const RECORD = "record_id";

/** The tables in which the relations of a resource are kept: what is referred to stays while one of them says so. */
export function linksOf(resource: Resource, { name, key }: Pick<Collection, "name" | "key">): readonly Link[] {
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
          references: { collection: tableNameOf(members.resource), onDelete: "restrict" },
        },
      ] as const;
      const collection: Collection = {
        name: `${tableOf(resource)}_${field}`,
        key: "integer",
        columns,
        indexes: [[field, RECORD], [RECORD]],
        links: {
          collection: name,
          column: field,
          ...(renamedFrom === undefined ? {} : { was: `${tableOf(resource)}_${renamedFrom}` }),
        },
      };
      const { onDelete = "restrict" } = members;
      return [
        { field, collection, to: tableNameOf(members.resource), onDelete, minItems: Number(schema["minItems"] ?? 0) },
      ];
    },
  );
}

/** The column of the one side, and the field of the other. */
export function selectedBy({ collection, field }: Link, values: readonly Key[]): LinkedRows {
  return { link: collection, record: RECORD, linked: field, values };
}

/** The rows to which some others are linked. */
export interface LinkedRows {
  readonly link: Collection;
  readonly record: string;
  readonly linked: string;
  readonly values: readonly Key[];
}

/** What is written of a record: null where it is new and the database gives its key. */
interface Linking {
  readonly id: Key | null;
  readonly before: StoredRecord | null;
  readonly values: Readonly<Record<string, unknown>>;
}

/** The changes that keep the tables of relations as the record says. They stand behind the record's own, which is the first. */
export function linkChanges(links: readonly Link[], { id, before, values }: Linking): readonly Change[] {
  return links.flatMap(({ field, collection }): Change[] => {
    if (!Array.isArray(values[field])) return values[field] === null ? unlinked(collection, id) : [];
    const now = values[field] as readonly Key[];
    const old = new Set((before?.[field] as readonly Key[] | null | undefined) ?? []);
    const added = now.filter((each) => !old.has(each));
    const removed = [...old].filter((each) => !now.includes(each));
    return [
      ...(removed.length === 0 ? [] : [unlinking(collection, [RECORD, id!], [field, removed])]),
      ...added.map((each): Change => ({
        kind: "insert",
        collection,
        values: { [RECORD]: id ?? keyOf(0), [field]: each },
      })),
    ];
  });
}

/** Takes an id out of the rows of some records. */
export function unlinkedFrom({ collection, field }: Link, id: Key, records: readonly Key[]): Change {
  return unlinking(collection, [field, id], [RECORD, records]);
}

function unlinked(collection: Collection, id: Key | null): Change[] {
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

/** Where in its record the id stands that a change links to: `tags/2`; null where the change is none of a link. */
export function placeOfLink(links: readonly Link[], changes: readonly Change[], at: number): string | null {
  const change = changes[at];
  const link = links.find(({ collection }) => collection === change?.collection);
  if (link === undefined || change?.kind !== "insert") return null;
  const { [RECORD]: record, [link.field]: id } = change.values;
  const own =
    typeof record === "object" && record !== null && "keyOf" in record
      ? changes[record.keyOf as number]
      : changes.find((each) => "key" in each && each.key === record);
  const ids = own !== undefined && "values" in own ? own.values[link.field] : undefined;
  const place = Array.isArray(ids) ? (ids as unknown[]).indexOf(id) : -1;
  return place === -1 ? link.field : `${link.field}/${place}`;
}
