import { isStored } from "../../resource/kinds/field.ts";
import type { Resource, StoredOf } from "../../resource/resource.ts";
import { tableNameOf, tableOf } from "../../resource/table.ts";
import type { Collection, Column } from "../../store/store.ts";
import { indexesOf } from "./indexes.ts";

/** The table of a resource: its fields as columns, and the indexes for its filters and sorts. `narrowedBy`: the columns that a permission narrows lists by. */
export function collectionOf(resource: Resource, narrowedBy: readonly string[] = []): Collection<StoredOf<Resource>> {
  const { parentColumn, within } = resource;
  const columns: Column[] = [];
  if (parentColumn !== null)
    columns.push({
      name: parentColumn,
      type: columnTypeOf(within!),
      references: { collection: tableOf(within!), onDelete: "cascade" },
    });
  for (const [name, field] of Object.entries(resource.fields)) {
    if (!isStored(field)) continue;
    const { kind, options } = field;
    const { default: fallback } = options;
    columns.push({
      name,
      ...kind.column,
      ...(needsFolding(resource, name) ? { folded: true as const } : {}),
      ...(resource.search.includes(name) ? { searched: true as const } : {}),
      ...(kind.name === "enumeration" ? { few: true as const } : {}),
      ...(options.optional === true ? { nullable: true } : {}),
      ...(options.unique === undefined || options.unique === false
        ? {}
        : { unique: options.unique === true ? true : ("folded" as const) }),
      ...(fallback === undefined || typeof fallback === "function"
        ? {}
        : { default: fallback as string | number | boolean | null }),
      ...(kind.references === undefined
        ? {}
        : {
            references: {
              collection: tableNameOf(kind.references.resource),
              onDelete: kind.references.onDelete,
            },
          }),
    });
  }
  return {
    name: tableOf(resource),
    key: columnTypeOf(resource),
    columns,
    indexes: indexesOf(resource, columns, narrowedBy),
  };
}

/** What keeps its ids. */
function columnTypeOf({ id }: Resource): Collection["key"] {
  return id === "uuid" ? "text" : "integer";
}

function needsFolding({ filters }: Resource, field: string): boolean {
  return filters.get(field)?.some((operator) => operator === "icontains" || operator === "istarts") === true;
}
