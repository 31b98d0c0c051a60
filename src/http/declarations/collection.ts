import { Flaw, isStored, isWritable, ruleOf, type Field, type Kind } from "../../resource/declaration/field.ts";
import type { ExistingTable, Fields, Resource, StoredOf } from "../../resource/resource.ts";
import { formatTableName, buildTableName } from "../../resource/tables/table.ts";
import type { Collection, Column, ComputedColumn, JSONValue, Origin } from "../../store/store.ts";
import { chooseIndexes } from "./indexes.ts";

/**
 * Returns the table of a resource: its fields as columns, and the indexes for its filters and sorts. `narrowedBy` are
 * the columns by which permissions narrow lists. `groups` are those among them with the ids of groups (`memberOf`).
 */
export function buildCollection(
  resource: Resource,
  narrowedBy: readonly string[] = [],
  groups: readonly string[] = [],
): Collection<StoredOf<Resource>> {
  const { parentColumn, within } = resource;
  const columns: Column[] = [];
  if (parentColumn !== null)
    columns.push({
      name: parentColumn,
      type: chooseKeyType(within!),
      references: { collection: buildTableName(within!), onDelete: "cascade" },
    });
  for (const [name, field] of Object.entries(resource.fields)) {
    const { kind, options } = field;
    if (kind.once !== undefined) columns.push({ name: kind.once.column, type: "text" });
    if (!isStored(field)) continue;
    const { default: fallback } = options;
    columns.push({
      name,
      ...kind.column,
      ...(needsFolding(resource, name) ? { folded: true as const } : {}),
      ...(resource.search.includes(name) ? { searched: true as const } : {}),
      ...(kind.few === true ? { few: true as const } : {}),
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
              collection: formatTableName(kind.references.resource),
              onDelete: kind.references.onDelete,
            },
          }),
      ...buildRule(field),
      ...buildOrigin(field),
    });
  }
  const computed = buildComputedColumns(resource);
  for (const column of columns) Object.freeze(column);
  // Frozen, because code of users gets it in hooks and actions.
  return Object.freeze({
    name: buildTableName(resource),
    key: chooseKeyType(resource),
    columns: Object.freeze(columns),
    indexes: Object.freeze(resource.table === null ? chooseIndexes(resource, columns, { narrowedBy, groups }) : []),
    ...(resource.unique.length === 0 ? {} : { uniques: resource.unique }),
    ...(computed.length === 0 ? {} : { computed }),
    ...(resource.table === null ? {} : { existing: buildExisting(resource.table, resource.fields) }),
    ...(Object.keys(resource.removed).length === 0 ? {} : { removed: resource.removed }),
  });
}

/** Returns the columns that the database computes. */
function buildComputedColumns({ fields }: Resource): readonly ComputedColumn[] {
  return Object.entries(fields).flatMap(([name, { kind, options, computed }]) =>
    computed === undefined || typeof computed === "function"
      ? []
      : [
          {
            name,
            ...kind.column,
            ...(options.optional === true ? { nullable: true } : {}),
            rule: { kind: kind.name, ...(kind.schema as Readonly<Record<string, JSONValue>>) },
            sql: computed,
          },
        ],
  );
}

/** Returns the existing table in the form of the store. */
function buildExisting(
  { name, columns, writes, revision }: ExistingTable,
  fields: Fields,
): NonNullable<Collection["existing"]> {
  const counted = typeof revision === "object" ? { column: columns[revision.field] ?? revision.field } : revision;
  const written = Object.keys(fields).filter((field) => isStored(fields[field]!) && isWritable(fields[field]!));
  return { table: name, names: columns, writes, written, revision: counted };
}

/**
 * Returns the rule for the values of a column, in addition to its type, and `fits`, which checks a value against it.
 */
function buildRule({ kind }: Field): Pick<Column, "rule" | "fits"> {
  // The store compares this rule with the stored rule, to find out whether a declaration has become stricter.
  const rule = ruleOf(kind) as JSONValue;
  if (kind.rule === undefined) return { rule };
  const fits = kind.fits === undefined ? (value: unknown) => staysSame(kind, value) : kind.fits.bind(kind);
  return { rule, fits };
}

/** Returns true if the kind accepts a stored value and returns it unchanged. */
function staysSame(kind: Kind<unknown>, value: unknown): boolean {
  const read = kind.parse(value);
  if (read instanceof Flaw) return false;
  if (kind.column.type === "json") return JSON.stringify(read) === JSON.stringify(value);
  return typeof value !== "string" || kind.column.type === "decimal" || read === value;
}

function buildOrigin({ options }: Field): Pick<Column, "origin"> {
  const { renamedFrom, convert, backfill } = options as Origin;
  const origin = {
    ...(renamedFrom === undefined ? {} : { renamedFrom }),
    ...(convert === undefined ? {} : { convert }),
    ...(backfill === undefined ? {} : { backfill }),
  };
  return Object.keys(origin).length === 0 ? {} : { origin };
}

/** Returns the type of the ids in the store. */
function chooseKeyType({ id }: Resource): Collection["key"] {
  return id === "integer" ? "integer" : "text";
}

function needsFolding({ filters }: Resource, field: string): boolean {
  return filters.get(field)?.some((operator) => operator === "icontains" || operator === "istarts") === true;
}
