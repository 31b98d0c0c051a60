import { isStored } from "../../resource/field.ts";
import type { Resource } from "../../resource/resource.ts";
import { tableNameOf, tableOf } from "../../resource/table.ts";
import type { Collection, Column } from "../../store/store.ts";

/** The table of a resource: its fields as columns, and an index for each declared filter, sort and reference. */
export function collectionOf(resource: Resource): Collection {
  const { parentColumn, within } = resource;
  const columns: Column[] = [];
  if (parentColumn !== null)
    columns.push({
      name: parentColumn,
      type: "integer",
      references: { collection: tableOf(within!), onDelete: "cascade" },
    });
  for (const [name, field] of Object.entries(resource.fields)) {
    if (!isStored(field)) continue;
    const { kind, options } = field;
    const { default: fallback } = options;
    columns.push({
      name,
      ...kind.column,
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
  return { name: tableOf(resource), key: "integer", columns, indexes: indexesOf(resource, columns) };
}

function indexesOf(resource: Resource, columns: readonly Column[]): readonly (readonly string[])[] {
  const searched = new Set<string>();
  for (const column of columns) if (column.references !== undefined) searched.add(column.name);
  for (const field of [...resource.filters.keys(), ...resource.sorts]) if (field !== "id") searched.add(field);
  const { parentColumn } = resource;
  return [...searched].map((column) =>
    parentColumn === null || column === parentColumn ? [column, "id"] : [parentColumn, column, "id"],
  );
}
