import { isFolded } from "../../fold.ts";
import { foldCell, encode } from "../../sql/language/codec.ts";
import type { Cell } from "../../sql/language/dialect.ts";
import { fitting, quote, formatShadowName } from "../../sql/language/names.ts";
import { revisionColumn, changesRecords, type TablePlan } from "../../sql/migrations/plan-table.ts";
import { keyType, rowsBefore } from "../../sql/migrations/rows-before.ts";
import type { Source } from "../../sql/migrations/source.ts";
import { always } from "../../sql/schema/conversion.ts";
import { defaultLiteral, defineColumn, collectIndexes } from "../../sql/schema/definition.ts";
import type { Column, StoredRecord } from "../../store.ts";
import { postgres, formatReferenceName } from "../dialect.ts";
import { convertOrFail } from "./conversions.ts";
import { postgresSchema } from "./migration.ts";

/** A new column that is filled while clients read and write the old one. */
export interface ShadowColumn {
  readonly column: Column;
  readonly source: Extract<Source, { kind: "sql" | "program" }>;
  /** The quoted name that the new column has until it replaces the old one. */
  readonly next: string;
  /** The quoted name of its column with folded values. Null if it has none. */
  readonly foldedNext: string | null;
}

/**
 * Returns the columns of a table that get computed values. The revision is one of them if the records look different
 * afterwards.
 */
export function findShadowColumns(plan: TablePlan): readonly ShadowColumn[] {
  const { collection, sources } = plan;
  const shadows = collection.columns.flatMap((column): ShadowColumn[] => {
    const source = sources.get(column.name)!;
    if (source.kind !== "sql" && source.kind !== "program") return [];
    const next = quote(formatNextColumn(column.name));
    return [
      {
        column,
        source,
        next,
        foldedNext: isFolded(column) ? quote(formatNextColumn(formatShadowName(postgres, column))) : null,
      },
    ];
  });
  if (!changesRecords(plan)) return shadows;
  const conversion = always("nextval('latchkey_revision')");
  const source = { kind: "sql", was: revisionColumn, conversion, fallback: null } as const;
  return [
    ...shadows,
    { column: revisionColumn, source, next: quote(formatNextColumn(revisionColumn.name)), foldedNext: null },
  ];
}

/**
 * The prefix of the names of new columns until they replace the old ones. No other name begins with two underscores.
 */
const nextPrefix = "__next_";

/** Returns the name of the new column until it replaces the old one. */
export function formatNextColumn(name: string): string {
  return fitting(postgres, `${nextPrefix}${name}`);
}

/** Returns the name of the table with the ids of rows that have changed during the migration. */
export function formatMovedTable(table: string): string {
  return fitting(postgres, `_${table}_moved`);
}

/** Returns the SQL type of a column, with its collation if it is text. */
export function compileColumnType(column: Column): string {
  const storage = postgres.compileStorage(column);
  return storage === "text" ? storage + postgres.collation : storage;
}

/** Returns the SQL that creates the new columns and the trigger that records changed rows. */
export function createShadowColumns(
  { collection, found }: TablePlan,
  shadows: readonly ShadowColumn[],
): readonly string[] {
  const table = quote(collection.name);
  const moved = quote(formatMovedTable(collection.name));
  const text = postgres.collation;
  const watched = [...found.columns.keys()].filter((name) => !name.startsWith("_") && name !== "id").map(quote);
  const when = watched.length === 0 ? "INSERT OR DELETE" : `INSERT OR DELETE OR UPDATE OF ${watched.join(", ")}`;
  return [
    ...dropShadowColumns({ collection }, shadows),
    ...dropStrays({ collection, found }, shadows),
    `ALTER TABLE ${table} ${shadows
      .flatMap((each) => [
        `ADD COLUMN ${each.next} ${compileColumnType(each.column)}`,
        ...(each.foldedNext === null ? [] : [`ADD COLUMN ${each.foldedNext} text${text}`]),
      ])
      .join(", ")}`,
    `CREATE TABLE ${moved} ("id" ${keyType(postgresSchema, collection.key)} PRIMARY KEY)`,
    // The service's role has no privileges on the table of changed rows, so the trigger runs with the privileges of the
    // role that migrates.
    `CREATE FUNCTION ${moved}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $function$
     BEGIN
       IF TG_OP = 'DELETE' THEN DELETE FROM ${moved} WHERE "id" = OLD."id";
       ELSE INSERT INTO ${moved} VALUES (NEW."id") ON CONFLICT DO NOTHING;
       END IF;
       RETURN NULL;
     END $function$`,
    `CREATE TRIGGER ${moved} AFTER ${when} ON ${table} FOR EACH ROW EXECUTE FUNCTION ${moved}()`,
  ];
}

/** Returns the SQL that removes the remains of a migration for another declaration. */
export function dropStrays(
  { collection, found }: Pick<TablePlan, "collection" | "found">,
  shadows: readonly ShadowColumn[],
): readonly string[] {
  const ours = new Set(shadows.flatMap(({ next, foldedNext }) => [next, foldedNext]));
  return [...found.columns.keys()]
    .filter((name) => name.startsWith(nextPrefix) && !ours.has(quote(name)))
    .map((name) => `ALTER TABLE ${quote(collection.name)} DROP COLUMN IF EXISTS ${quote(name)}`);
}

/** Returns the SQL that removes the new columns and the table of changed rows, even if some of them do not exist. */
export function dropShadowColumns(
  { collection }: Pick<TablePlan, "collection">,
  shadows: readonly ShadowColumn[],
): readonly string[] {
  const [table, moved] = [collection.name, formatMovedTable(collection.name)].map(quote);
  const columns = shadows.flatMap(({ next, foldedNext }) => (foldedNext === null ? [next] : [next, foldedNext]));
  return [
    `DROP TRIGGER IF EXISTS ${moved!} ON ${table!}`,
    `DROP FUNCTION IF EXISTS ${moved!}()`,
    `DROP TABLE IF EXISTS ${moved!}`,
    ...columns.map((column) => `ALTER TABLE ${table!} DROP COLUMN IF EXISTS ${column}`),
  ];
}

/** Returns the SET clause for a row. Returns null if the program must compute a value. */
export function setBySQL(shadows: readonly ShadowColumn[]): string | null {
  if (shadows.some(({ source, foldedNext }) => source.kind !== "sql" || foldedNext !== null)) return null;
  return shadows.map(({ next, source }) => `${next} = ${compileNewValue(source)}`).join(", ");
}

/** Returns the SQL of a column's new value. The SQL fails if the old value has no equivalent. */
export function compileNewValue(source: ShadowColumn["source"]): string {
  if (source.kind !== "sql") throw new TypeError("A function cannot be compiled to SQL");
  const value = convertOrFail(source.conversion, quote(source.was.name));
  return source.fallback === null ? value : `coalesce(${value}, ${source.fallback})`;
}

/**
 * Returns how the program computes the new values of a row. `selected` is the SQL of the cells that it reads. `make`
 * gets these cells and returns the values for `columns`, in the order of `columns`.
 */
export function createRowConversion(
  { found }: TablePlan,
  shadows: readonly ShadowColumn[],
): {
  readonly selected: readonly string[];
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  make(cells: readonly unknown[]): Cell[];
} {
  const { selected: before, readRow } = rowsBefore(postgresSchema, found);
  const selected = [
    ...before,
    ...shadows.map(({ source }) => (source.kind === "sql" ? `(${compileNewValue(source)})::text` : "NULL")),
  ];
  const columns = shadows.flatMap(({ column, next, foldedNext }) => [
    { name: next, type: postgres.compileStorage(column) },
    ...(foldedNext === null ? [] : [{ name: foldedNext, type: "text" }]),
  ]);
  const computeCell = ({ column, source }: ShadowColumn, row: StoredRecord, sql: unknown): Cell =>
    source.kind === "program" ? encode(postgres, column, source.compute(row)) : (sql as Cell);
  return {
    selected,
    columns,
    make(cells) {
      const row = readRow(cells);
      return shadows.flatMap((each, at) => {
        const cell = computeCell(each, row, cells[before.length + at]);
        return each.foldedNext === null ? [cell] : [cell, foldCell(each.column, cell)];
      });
    },
  };
}

/**
 * Returns the indexes on the new columns. They are made before the new columns replace the old ones. Each has a
 * temporary name and its final name. An index that also has a column without old values is made after them.
 */
export function createShadowIndexes(
  { collection, sources }: TablePlan,
  shadows: readonly ShadowColumn[],
): readonly { readonly name: string; readonly temporary: string; readonly sql: string }[] {
  const before = new Map([...sources].map(([name, source]) => [quote(name), source]));
  const renamed = new Map(
    shadows.flatMap(({ column, next, foldedNext }): [string, string][] => [
      [quote(column.name), next],
      ...(foldedNext === null ? [] : ([[quote(formatShadowName(postgres, column)), foldedNext]] as [string, string][])),
    ]),
  );
  const table = quote(collection.name);
  return [...collectIndexes(postgresSchema, collection)].flatMap(([name, { sql, columns }]) => {
    const on = columns.map(quote);
    if (!on.some((column) => renamed.has(column))) return [];
    if (on.some((column) => before.get(column)?.kind === "new")) return [];
    const nameNow = (column: string): string => {
      const source = before.get(column);
      return renamed.get(column) ?? (source?.kind === "same" ? quote(source.from) : column);
    };
    const temporary = fitting(postgres, `${name} next`);
    const made = `${sql.startsWith("CREATE UNIQUE") ? "CREATE UNIQUE" : "CREATE"} INDEX CONCURRENTLY ${quote(temporary)} ON ${table} (${on.map(nameNow).join(", ")})`;
    return [{ name, temporary, sql: made }];
  });
}

/**
 * Returns the SQL that replaces the old columns with the new ones and renames columns and indexes. `indexes` are those
 * that exist.
 */
export function switchColumns(
  plan: TablePlan,
  shadows: readonly ShadowColumn[],
  dropped: readonly string[],
  indexes: ReadonlySet<string>,
): readonly string[] {
  const { collection, found, sources } = plan;
  const table = `ALTER TABLE ${quote(collection.name)}`;
  const steps: string[] = [...dropShadowColumns(plan, []), ...dropStrays(plan, shadows)];
  // A renamed column stays. If several new columns get their values from the same old column, it is dropped only once.
  const settledNames = new Set(
    [...sources.values()].flatMap((source) => (source.kind === "same" ? [source.from] : [])),
  );
  for (const { column, source, next, foldedNext } of shadows) {
    const was = source.kind === "sql" ? source.was.name : (source.was?.name ?? null);
    const old = was === null || settledNames.has(was) ? null : was;
    if (old !== null) settledNames.add(old);
    if (old !== null) steps.push(`${table} DROP COLUMN ${quote(old)}`);
    const oldFolded = old === null ? null : formatShadowName(postgres, { ...column, name: old });
    if (oldFolded !== null && found.columns.has(oldFolded)) steps.push(`${table} DROP COLUMN ${quote(oldFolded)}`);
    steps.push(`${table} RENAME COLUMN ${next} TO ${quote(column.name)}`);
    steps.push(`${table} ALTER COLUMN ${quote(column.name)} SET DEFAULT ${defaultLiteral(postgres, column)}`);
    if (foldedNext !== null)
      steps.push(`${table} RENAME COLUMN ${foldedNext} TO ${quote(formatShadowName(postgres, column))}`);
  }
  const made = createShadowIndexes(plan, shadows);
  for (const { name, temporary } of made)
    steps.push(`DROP INDEX IF EXISTS ${quote(name)}`, `ALTER INDEX ${quote(temporary)} RENAME TO ${quote(name)}`);
  const others = new Set([...indexes, ...made.map(({ name }) => name)]);
  for (const [name, source] of sources)
    if (source.kind === "same" && source.from !== name) steps.push(...renameColumn(plan, source.from, name, others));
  for (const place of dropped)
    if (place.startsWith(`${collection.name}.`) && found.columns.has(place.slice(collection.name.length + 1)))
      steps.push(`${table} DROP COLUMN ${quote(place.slice(collection.name.length + 1))}`);
  return steps;
}

/**
 * Returns the SQL that renames a column, and the indexes and constraints that are named after the column. The column
 * keeps its values.
 */
function renameColumn(
  { collection, found }: TablePlan,
  from: string,
  to: string,
  indexes: ReadonlySet<string>,
): readonly string[] {
  const table = `ALTER TABLE ${quote(collection.name)}`;
  const column = collection.columns.find(({ name }) => name === to)!;
  const [before, now] = [formatShadowName(postgres, { ...column, name: from }), formatShadowName(postgres, column)];
  const steps = [`${table} RENAME COLUMN ${quote(from)} TO ${quote(to)}`];
  if (found.columns.has(before)) steps.push(`${table} RENAME COLUMN ${quote(before)} TO ${quote(now)}`);
  const reference = found.references.get(from)?.constraint ?? null;
  const called = formatReferenceName(collection, column);
  if (reference !== null && reference !== called)
    steps.push(`${table} RENAME CONSTRAINT ${quote(reference)} TO ${quote(called)}`);
  for (const [name, { columns }] of collectIndexes(postgresSchema, collection)) {
    const old = collectIndexes(postgresSchema, {
      ...collection,
      columns: collection.columns.map((each) => (each === column ? { ...each, name: from } : each)),
      indexes: (collection.indexes ?? []).map((each) => each.map((part) => (part === to ? from : part))),
      uniques: (collection.uniques ?? []).map((each) => each.map((part) => (part === to ? from : part))),
    });
    const was = [...old.keys()][[...collectIndexes(postgresSchema, collection).keys()].indexOf(name)];
    if (columns.length > 0 && was !== undefined && was !== name && indexes.has(was) && !indexes.has(name))
      steps.push(`DROP INDEX IF EXISTS ${quote(name)}`, `ALTER INDEX ${quote(was)} RENAME TO ${quote(name)}`);
  }
  return steps;
}

/** Returns the SQL that adds new columns. They start with their default, or without a value. */
export function addColumns({ collection, found, sources }: TablePlan): readonly string[] {
  return collection.columns
    .filter(({ name }) => sources.get(name)!.kind === "new" && !found.columns.has(name))
    .map((column) => `ALTER TABLE ${quote(collection.name)} ADD COLUMN ${defineColumn(postgres, column)}`);
}
