import type { Dialect } from "../sql/language/dialect.ts";
import { fitting, quote } from "../sql/language/names.ts";
import { createTableLookup } from "../sql/schema/table.ts";
import type { Collection, Column } from "../store.ts";
import { chooseForm } from "./forms.ts";

/** The SQL dialect of PostgreSQL. */
export const postgres: Dialect = {
  engine: "postgres",
  ownTypes: new Set(["integer", "text", "boolean", "decimal", "double", "date", "date-time", "json"]),
  holdsNUL: false,
  maxNameLength: 63,
  limitInText: false,
  // Sorts texts by code point, independent of the collation of the database.
  collation: ` COLLATE "C"`,
  // Tables may refer to each other in a circle.
  referencesInColumns: false,
  place: (at) => `$${at}`,
  literal(text) {
    const plain = text.replaceAll("'", "''");
    return text.includes("\\") ? ` E'${plain.replaceAll("\\", "\\\\")}'` : `'${plain}'`;
  },
  compileStorage,
  defineKey(collection) {
    const type = collection.key === "integer" ? "bigint" : `text COLLATE "C"`;
    return { key: `${type} CONSTRAINT ${quote(formatKeyConstraint(collection))} PRIMARY KEY`, options: "" };
  },
  // The type `json` has no comparison, so its text is compared.
  comparable: ({ type }, name) => (type === "json" ? `${name}::text` : name),
  isOneOf: (compared, cells, values, operand) =>
    operand === undefined
      ? `${compared} = ANY(${values.place(cells)})`
      : `${compared} = ANY(ARRAY(SELECT ${operand("each")} FROM unnest(${values.place(cells)}::text[]) AS u(each)))`,
  isAmong: (compared, select) => `${compared} = ANY(ARRAY(${select}))`,
  // With an array, PostgreSQL finds the keys by their index, even if the planner expects too many rows.
  isSomeOf: (compared, select) => `${compared} = ANY(ARRAY(${select} FOR UPDATE SKIP LOCKED))`,
  isLocked: (compared, select) => `${compared} = ANY(ARRAY(${select} FOR UPDATE))`,
  contains: (text, part) => `strpos(${text}, ${part}) > 0`,
  chooseForm,
  made(column, expression) {
    const storage = compileStorage(column);
    return { sql: `(${expression})::${storage}`, storage: storage.replace(/\(.*/, "") };
  },
  compileTypeQuery: (expression, table) =>
    `SELECT pg_typeof((SELECT (${expression}) FROM ${table} LIMIT 1))::text AS type`,
  // A name with a point includes the schema.
  quoteTable: (table) => namesIn(table).map(quote).join("."),
  fail: (message, column) => `latchkey_refuse(${message})::text::${compileStorage(column)}`,
  revisionSQL: {
    database: "xmin::text::bigint",
    digest: (columns) =>
      `('x' || substr(encode(sha256(convert_to(row_to_json(ROW(${columns.join(", ")}))::text, 'UTF8')), 'hex'), 1, 13))::bit(52)::bigint`,
  },
  joined: (...parts) => `concat(${parts.join(", ")})`,
};

/**
 * Returns the parts of a table name: `shop.users`. A part that contains a point is in quotes, as in SQL: `shop."a.b"`.
 */
function namesIn(table: string): readonly string[] {
  const parts = table.match(/(?<=^|\.)(?:"(?:[^"]|"")+"(?=\.|$)|[^.]*)/g) ?? [];
  return parts.map((part) => (/^".+"$/s.test(part) ? part.slice(1, -1).replaceAll('""', '"') : part));
}

/**
 * Returns SQL for the name of a table, in the form that `quoteTable` reads. The name includes the schema if the search
 * path does not find the table.
 */
export function describedTableSQL(oid: string, name: string, schema: string): string {
  const part = (column: string): string =>
    `CASE WHEN ${column} ~ '[.]|^"' THEN '"' || replace(${column}, '"', '""') || '"' ELSE ${column}::text END`;
  return `CASE WHEN pg_table_is_visible(${oid}) THEN ${part(name)} ELSE ${part(schema)} || '.' || ${part(name)} END`;
}

/** Returns the table of a collection. */
export const getTable = createTableLookup(postgres);

/** Returns the name of the sequence that issues the keys of a collection. */
export function formatSequenceName({ name }: Collection): string {
  return fitting(postgres, `${name}(id) next`);
}

/** Returns the name of the primary key constraint. */
export function formatKeyConstraint({ name }: Collection): string {
  return fitting(postgres, `key ${name}`);
}

/** Returns the name of the constraint of a reference. */
export function formatReferenceName({ name }: Collection, column: Column): string {
  return fitting(postgres, `reference ${name}(${column.name})`);
}

/** Returns the SQL type of a column. Date-times are text, so that they are kept and sorted as they were written. */
function compileStorage({ type, scale }: Column): string {
  switch (type) {
    case "integer":
      return "bigint";
    case "text":
    case "date":
    case "date-time":
      return "text";
    case "boolean":
      return "boolean";
    case "double":
      return "double precision";
    case "decimal":
      return `numeric(19,${scale ?? 0})`;
    case "json":
      // Not `jsonb`, because it changes the order of members.
      return "json";
  }
}
