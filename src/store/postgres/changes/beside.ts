import { isFolded } from "../../fold.ts";
import { always } from "../../sql/changes/conversion.ts";
import { revisionColumn, showsAnew, type TablePlan } from "../../sql/changes/plan-table.ts";
import { keyType, rowsBefore } from "../../sql/changes/rows-before.ts";
import type { Source } from "../../sql/changes/source.ts";
import { foldCell, encode } from "../../sql/codec.ts";
import type { Cell } from "../../sql/dialect.ts";
import { fitting, quote, shadowOf } from "../../sql/names.ts";
import { defaultLiteral, defineColumn, indexesOf } from "../../sql/schema/definition.ts";
import type { Column, StoredRecord } from "../../store.ts";
import { postgres, referenceConstraintOf } from "../dialect.ts";
import { postgresSchema } from "../migration.ts";
import { convertOrFail } from "./conversions.ts";

/** A column that is filled beside one that is read and written. */
export interface Beside {
  readonly column: Column;
  readonly source: Extract<Source, { kind: "sql" | "program" }>;
  /** The quoted name of the column while it is filled. */
  readonly next: string;
  /** The same for its folded values; null where it has none. */
  readonly foldedNext: string | null;
}

/** The columns of a table that get values of their own making. Where records show something else afterwards, the revisions are among them. */
export function besidesOf(plan: TablePlan): readonly Beside[] {
  const { collection, sources } = plan;
  const besides = collection.columns.flatMap((column): Beside[] => {
    const source = sources.get(column.name)!;
    if (source.kind !== "sql" && source.kind !== "program") return [];
    const next = quote(nextOf(column.name));
    return [{ column, source, next, foldedNext: isFolded(column) ? quote(nextOf(shadowOf(postgres, column))) : null }];
  });
  if (!showsAnew(plan)) return besides;
  const conversion = always("nextval('latchkey_revision')");
  const source = { kind: "sql", was: revisionColumn, conversion, fallback: null } as const;
  return [...besides, { column: revisionColumn, source, next: quote(nextOf(revisionColumn.name)), foldedNext: null }];
}

/** How the names of columns begin while they are filled. No other column of ours has two underscores there, and declared names have none. */
const nextPrefix = "__next_";

/** The name of a column while it is filled. */
export function nextOf(name: string): string {
  return fitting(postgres, `${nextPrefix}${name}`);
}

/** The name of the table of the ids that have changed meanwhile. */
export function movedOf(table: string): string {
  return fitting(postgres, `_${table}_moved`);
}

/** The type of a column, with the order of its texts. */
export function typedOf(column: Column): string {
  const storage = postgres.storageOf(column);
  return storage === "text" ? storage + postgres.collation : storage;
}

/** What makes the columns, and what notes the rows that change meanwhile. */
export function makeBeside({ collection, found }: TablePlan, besides: readonly Beside[]): readonly string[] {
  const table = quote(collection.name);
  const moved = quote(movedOf(collection.name));
  const text = postgres.collation;
  const watched = [...found.columns.keys()].filter((name) => !name.startsWith("_") && name !== "id").map(quote);
  const when = watched.length === 0 ? "INSERT OR DELETE" : `INSERT OR DELETE OR UPDATE OF ${watched.join(", ")}`;
  return [
    ...discardBeside({ collection }, besides),
    ...dropStrays({ collection, found }, besides),
    `ALTER TABLE ${table} ${besides
      .flatMap((each) => [
        `ADD COLUMN ${each.next} ${typedOf(each.column)}`,
        ...(each.foldedNext === null ? [] : [`ADD COLUMN ${each.foldedNext} text${text}`]),
      ])
      .join(", ")}`,
    `CREATE TABLE ${moved} ("id" ${keyType(postgresSchema, collection.key)} PRIMARY KEY)`,
    // Whoever serves has no right to this table, and needs none.
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

/** Removes what was begun for another declaration. */
export function dropStrays(
  { collection, found }: Pick<TablePlan, "collection" | "found">,
  besides: readonly Beside[],
): readonly string[] {
  const ours = new Set(besides.flatMap(({ next, foldedNext }) => [next, foldedNext]));
  return [...found.columns.keys()]
    .filter((name) => name.startsWith(nextPrefix) && !ours.has(quote(name)))
    .map((name) => `ALTER TABLE ${quote(collection.name)} DROP COLUMN IF EXISTS ${quote(name)}`);
}

/** Removes all of it, wherever it was left. */
export function discardBeside(
  { collection }: Pick<TablePlan, "collection">,
  besides: readonly Beside[],
): readonly string[] {
  const [table, moved] = [collection.name, movedOf(collection.name)].map(quote);
  const columns = besides.flatMap(({ next, foldedNext }) => (foldedNext === null ? [next] : [next, foldedNext]));
  return [
    `DROP TRIGGER IF EXISTS ${moved!} ON ${table!}`,
    `DROP FUNCTION IF EXISTS ${moved!}()`,
    `DROP TABLE IF EXISTS ${moved!}`,
    ...columns.map((column) => `ALTER TABLE ${table!} DROP COLUMN IF EXISTS ${column}`),
  ];
}

/** What is set in a row where the database can make all of it; null where the program has to. */
export function setBySQL(besides: readonly Beside[]): string | null {
  if (besides.some(({ source, foldedNext }) => source.kind !== "sql" || foldedNext !== null)) return null;
  return besides.map(({ next, source }) => `${next} = ${guarded(source)}`).join(", ");
}

/** What a column's new value is, in SQL that fails where there is none. */
export function guarded(source: Beside["source"]): string {
  if (source.kind !== "sql") throw new TypeError("A function is no SQL");
  const value = convertOrFail(source.conversion, quote(source.was.name));
  return source.fallback === null ? value : `coalesce(${value}, ${source.fallback})`;
}

/** How the program makes the values of rows: what it reads of each, and what it makes of that, in the order of `columns`. */
export function madeByProgram(
  { found }: TablePlan,
  besides: readonly Beside[],
): {
  readonly selected: readonly string[];
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  make(cells: readonly unknown[]): Cell[];
} {
  const { selected: before, rowOf } = rowsBefore(postgresSchema, found);
  const selected = [
    ...before,
    ...besides.map(({ source }) => (source.kind === "sql" ? `(${guarded(source)})::text` : "NULL")),
  ];
  const columns = besides.flatMap(({ column, next, foldedNext }) => [
    { name: next, type: postgres.storageOf(column) },
    ...(foldedNext === null ? [] : [{ name: foldedNext, type: "text" }]),
  ]);
  const cellOf = ({ column, source }: Beside, row: StoredRecord, sql: unknown): Cell =>
    source.kind === "program" ? encode(postgres, column, source.compute(row)) : (sql as Cell);
  return {
    selected,
    columns,
    make(cells) {
      const row = rowOf(cells);
      return besides.flatMap((each, at) => {
        const cell = cellOf(each, row, cells[before.length + at]);
        return each.foldedNext === null ? [cell] : [cell, foldCell(cell)];
      });
    },
  };
}

/** Indexes that are made on the new columns before they take their place: each with its name at the end. */
export function indexesBeside(
  { collection }: TablePlan,
  besides: readonly Beside[],
): readonly { readonly name: string; readonly temporary: string; readonly sql: string }[] {
  const renamed = new Map(
    besides.flatMap(({ column, next, foldedNext }): [string, string][] => [
      [quote(column.name), next],
      ...(foldedNext === null ? [] : ([[quote(shadowOf(postgres, column)), foldedNext]] as [string, string][])),
    ]),
  );
  const table = quote(collection.name);
  return [...indexesOf(postgresSchema, collection)].flatMap(([name, { sql, columns }]) => {
    const on = columns.map(quote);
    if (!on.some((column) => renamed.has(column))) return [];
    const temporary = fitting(postgres, `${name} next`);
    const made = `${sql.startsWith("CREATE UNIQUE") ? "CREATE UNIQUE" : "CREATE"} INDEX CONCURRENTLY ${quote(temporary)} ON ${table} (${on.map((column) => renamed.get(column) ?? column).join(", ")})`;
    return [{ name, temporary, sql: made }];
  });
}

/** What puts the new columns in the place of the old ones, and gives columns and indexes their names. `indexes` are those that are there. */
export function switchColumns(
  plan: TablePlan,
  besides: readonly Beside[],
  dropped: readonly string[],
  indexes: ReadonlySet<string>,
): readonly string[] {
  const { collection, found, sources } = plan;
  const table = `ALTER TABLE ${quote(collection.name)}`;
  const steps: string[] = [...discardBeside(plan, []), ...dropStrays(plan, besides)];
  // What is renamed stays, and goes only once where several columns are made of it.
  const kept = new Set([...sources.values()].flatMap((source) => (source.kind === "same" ? [source.from] : [])));
  for (const { column, source, next, foldedNext } of besides) {
    const was = source.kind === "sql" ? source.was.name : (source.was?.name ?? null);
    const old = was === null || kept.has(was) ? null : was;
    if (old !== null) kept.add(old);
    if (old !== null) steps.push(`${table} DROP COLUMN ${quote(old)}`);
    const oldFolded = old === null ? null : shadowOf(postgres, { ...column, name: old });
    if (oldFolded !== null && found.columns.has(oldFolded)) steps.push(`${table} DROP COLUMN ${quote(oldFolded)}`);
    steps.push(`${table} RENAME COLUMN ${next} TO ${quote(column.name)}`);
    steps.push(`${table} ALTER COLUMN ${quote(column.name)} SET DEFAULT ${defaultLiteral(postgres, column)}`);
    if (foldedNext !== null) steps.push(`${table} RENAME COLUMN ${foldedNext} TO ${quote(shadowOf(postgres, column))}`);
  }
  for (const { name, temporary } of indexesBeside(plan, besides))
    steps.push(`DROP INDEX IF EXISTS ${quote(name)}`, `ALTER INDEX ${quote(temporary)} RENAME TO ${quote(name)}`);
  for (const [name, source] of sources)
    if (source.kind === "same" && source.from !== name) steps.push(...renameColumn(plan, source.from, name, indexes));
  for (const place of dropped)
    if (place.startsWith(`${collection.name}.`) && found.columns.has(place.slice(collection.name.length + 1)))
      steps.push(`${table} DROP COLUMN ${quote(place.slice(collection.name.length + 1))}`);
  return steps;
}

/** A column keeps its values, and what is named after it gets its new name. */
function renameColumn(
  { collection, found }: TablePlan,
  from: string,
  to: string,
  indexes: ReadonlySet<string>,
): readonly string[] {
  const table = `ALTER TABLE ${quote(collection.name)}`;
  const column = collection.columns.find(({ name }) => name === to)!;
  const [before, now] = [shadowOf(postgres, { ...column, name: from }), shadowOf(postgres, column)];
  const steps = [`${table} RENAME COLUMN ${quote(from)} TO ${quote(to)}`];
  if (found.columns.has(before)) steps.push(`${table} RENAME COLUMN ${quote(before)} TO ${quote(now)}`);
  const reference = found.references.get(from)?.constraint ?? null;
  const called = referenceConstraintOf(collection, column);
  if (reference !== null && reference !== called)
    steps.push(`${table} RENAME CONSTRAINT ${quote(reference)} TO ${quote(called)}`);
  for (const [name, { columns }] of indexesOf(postgresSchema, collection)) {
    const old = indexesOf(postgresSchema, {
      ...collection,
      columns: collection.columns.map((each) => (each === column ? { ...each, name: from } : each)),
      indexes: (collection.indexes ?? []).map((each) => each.map((part) => (part === to ? from : part))),
    });
    const was = [...old.keys()][[...indexesOf(postgresSchema, collection).keys()].indexOf(name)];
    if (columns.length > 0 && was !== undefined && was !== name && indexes.has(was) && !indexes.has(name))
      steps.push(`DROP INDEX IF EXISTS ${quote(name)}`, `ALTER INDEX ${quote(was)} RENAME TO ${quote(name)}`);
  }
  return steps;
}

/** Columns that are new and begin with their default, or without a value. */
export function addColumns({ collection, found, sources }: TablePlan): readonly string[] {
  return collection.columns
    .filter(({ name }) => sources.get(name)!.kind === "new" && !found.columns.has(name))
    .map((column) => `ALTER TABLE ${quote(collection.name)} ADD COLUMN ${defineColumn(postgres, column)}`);
}
