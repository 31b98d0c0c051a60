import { Flaw, isStored, isWritable, type Field, type Kind } from "../../resource/kinds/field.ts";
import { membersOf } from "../../resource/kinds/lists.ts";
import type { ExistingTable, Fields, Resource, StoredOf } from "../../resource/resource.ts";
import { tableNameOf, tableOf } from "../../resource/tables/table.ts";
import type { Collection, Column, ComputedColumn, JSONValue, Origin } from "../../store/store.ts";
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
      ...ruleOf(field),
      ...originOf(field),
    });
  }
  const computed = computedColumns(resource);
  for (const column of columns) Object.freeze(column);
  // Everybody who handles a record is given it.
  return Object.freeze({
    name: tableOf(resource),
    key: columnTypeOf(resource),
    columns: Object.freeze(columns),
    indexes: Object.freeze(resource.table === null ? indexesOf(resource, columns, narrowedBy) : []),
    ...(computed.length === 0 ? {} : { computed }),
    ...(resource.table === null ? {} : { existing: existingOf(resource.table, resource.fields) }),
    ...(Object.keys(resource.removed).length === 0 ? {} : { removed: resource.removed }),
  });
}

/** What the database makes of the columns. */
function computedColumns({ fields }: Resource): readonly ComputedColumn[] {
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

/** The table that was there before, as the store speaks of it. */
function existingOf(
  { name, columns, writes, revision }: ExistingTable,
  fields: Fields,
): NonNullable<Collection["existing"]> {
  const counted = typeof revision === "object" ? { column: columns[revision.field] ?? revision.field } : revision;
  const written = Object.keys(fields).filter((field) => isStored(fields[field]!) && isWritable(fields[field]!));
  return { table: name, names: columns, writes, written, revision: counted };
}

/** The kinds of this program whose values are what they are read as. One of somebody's own may make another value of what it is given, so that what is kept tells nothing. */
const looked = new Set([
  "text",
  "integer",
  "decimal",
  "number",
  "date",
  "date-time",
  "enumeration",
  "e-mail",
  "uuid",
  "url",
  "array",
]);

/** What its values are besides their type. */
function ruleOf(field: Field): Pick<Column, "rule" | "fits"> {
  const { kind } = field;
  const rule = ruleWords(field);
  const members = membersOf(kind);
  if (!looked.has(kind.name)) return { rule };
  if (members !== undefined && !looked.has(members.kind.name))
    return { rule, fits: (value) => isOfLength(value, kind.schema) };
  return {
    rule,
    fits(value) {
      const read = kind.parse(value);
      if (read instanceof Flaw) return false;
      if (kind.column.type === "json") return JSON.stringify(read) === JSON.stringify(value);
      return typeof value !== "string" || kind.column.type === "decimal" || read === value;
    },
  };
}

function isOfLength(value: unknown, { minItems, maxItems }: Kind<unknown>["schema"]): boolean {
  return Array.isArray(value) && value.length >= Number(minItems) && value.length <= Number(maxItems);
}

function ruleWords({ kind, options }: Field): JSONValue {
  const { pattern, multiline, trim, minimum, maximum } = options as {
    readonly pattern?: { readonly matches: RegExp };
    readonly multiline?: boolean;
    readonly trim?: boolean;
    readonly minimum?: string;
    readonly maximum?: string;
  };
  const members = membersOf(kind);
  // Of a kind that is not looked at the name is enough: whatever it becomes, its values are looked at.
  if (!looked.has(kind.name)) return { kind: kind.name };
  return {
    kind: kind.name,
    ...(kind.schema as Readonly<Record<string, JSONValue>>),
    ...(pattern === undefined ? {} : { matches: pattern.matches.source }),
    // What the schema of a text, of an amount as text, and of members does not say.
    ...(kind.name === "text" ? { multiline: multiline === true, trim: trim !== false } : {}),
    ...(kind.name === "decimal" ? { least: Number(minimum ?? 0), most: Number(maximum) } : {}),
    ...(members === undefined ? {} : { of: ruleWords(members) }),
  };
}

function originOf({ options }: Field): Pick<Column, "origin"> {
  const { renamedFrom, convert, backfill } = options as Origin;
  const origin = {
    ...(renamedFrom === undefined ? {} : { renamedFrom }),
    ...(convert === undefined ? {} : { convert }),
    ...(backfill === undefined ? {} : { backfill }),
  };
  return Object.keys(origin).length === 0 ? {} : { origin };
}

/** What keeps its ids. */
function columnTypeOf({ id }: Resource): Collection["key"] {
  return id === "integer" ? "integer" : "text";
}

function needsFolding({ filters }: Resource, field: string): boolean {
  return filters.get(field)?.some((operator) => operator === "icontains" || operator === "istarts") === true;
}
