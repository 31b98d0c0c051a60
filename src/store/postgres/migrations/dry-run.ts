import type { Secret } from "../../../core/crypto/secret.ts";
import { rememberedCollections } from "../../sql/content.ts";
import { quote } from "../../sql/language/names.ts";
import { ask, statement } from "../../sql/language/script.ts";
import { readHistory } from "../../sql/migrations/journal.ts";
import {
  planTables,
  requirePossible,
  type MigratedTable,
  type MigrateOptions,
} from "../../sql/migrations/migrating.ts";
import type { Collection } from "../../store.ts";
import type { Session } from "../network/session.ts";
import { connectWhole } from "../network/whole.ts";
import { prepareSchema } from "../schema.ts";
import { unhurried } from "../table-changes/lock-retry.ts";
import { postgresSchema } from "../table-changes/migration.ts";
import { makeDryRunName, removeDryRuns } from "./dry-run-cleanup.ts";
import { migrateOver, requireMigrationLock } from "./migrate.ts";

/** The maximum number of rows of each table in the sample. */
const sampleSize = 10_000;

/** Checks all rows by queries. Then migrates a sample of the rows in a temporary schema, and removes the schema. */
export async function dryRunDatabase(
  url: Secret,
  collections: readonly Collection[],
  options: MigrateOptions,
): Promise<readonly MigratedTable[]> {
  const { session, address, convertError, close } = await connectWhole(url);
  const { dropped = [] } = options;
  const schema = makeDryRunName();
  try {
    await session.run(unhurried);
    await requireMigrationLock(session);
    await removeDryRuns(session);
    const { plans } = await session.play(planTables(postgresSchema, collections, dropped));
    requirePossible(plans, dropped, await session.play(readHistory(postgresSchema)));
    // An empty database has no stored declarations.
    const isOurs = (await session.play(postgresSchema.findVersion())) > 0;
    const before = isOurs ? await session.play(rememberedCollections(postgresSchema)) : [];
    const [path] = await session.send(statement("SELECT current_schema() AS name"));
    const from = quote(String(path!["name"]));
    await session.run(`CREATE SCHEMA ${schema}; SET search_path = ${schema}`);
    await prepareSchema(session, address, before);
    // The copy of a table also has the columns of earlier declarations, and `prepareSchema` has stored these columns as
    // declared. This step restores the stored declarations of the real tables.
    if (isOurs) await rememberAsIn(session, from, schema);
    await withoutReferences(session, schema, async () => {
      for (const collection of referredFirst(before)) await copySample(session, collection, from, schema);
      while (await removeDangling(session, before));
    });
    return await migrateOver({ session, address }, collections, options);
  } catch (error) {
    throw convertError(error);
  } finally {
    await session.run(`ROLLBACK; DROP SCHEMA IF EXISTS ${schema} CASCADE`).catch(() => undefined);
    await close();
  }
}

/** Copies the declarations and column types that the database stores. */
async function rememberAsIn(session: Session, from: string, schema: string): Promise<void> {
  await session.run(
    `UPDATE ${schema}.latchkey_schema AS tried SET declaration = real.declaration, types = real.types ` +
      `FROM ${from}.latchkey_schema AS real WHERE real.collection = tried.collection`,
  );
}

/** Runs a task without the references of the tables. Adds the references again afterwards, which checks the rows. */
async function withoutReferences(session: Session, schema: string, task: () => Promise<void>): Promise<void> {
  const found = await session.send(
    statement(
      "SELECT conrelid::regclass::text AS table, quote_ident(conname) AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint WHERE contype = 'f' AND connamespace = to_regnamespace($1)",
      [schema],
    ),
  );
  for (const { table, name } of found)
    await session.run(`ALTER TABLE ${String(table)} DROP CONSTRAINT ${String(name)}`);
  await task();
  for (const { table, name, definition } of found)
    await session.run(`ALTER TABLE ${String(table)} ADD CONSTRAINT ${String(name)} ${String(definition)}`);
}

/**
 * Removes rows of the sample whose references point outside it. This happens if tables refer to themselves or in a
 * circle. Returns true if it removed a row.
 */
async function removeDangling(session: Session, collections: readonly Collection[]): Promise<boolean> {
  let removed = 0;
  for (const { name, columns } of collections)
    for (const { name: column, references } of columns) {
      if (references === undefined) continue;
      const [by, target] = [quote(column), quote(references.collection)];
      const dangling = `${by} IS NOT NULL AND NOT EXISTS (SELECT FROM ${target} AS target WHERE target."id" = row.${by})`;
      const [count] = await session.send(
        statement(
          `WITH gone AS (DELETE FROM ${quote(name)} AS row WHERE ${dangling} RETURNING 1) SELECT count(*) AS counted FROM gone`,
        ),
      );
      removed += Number(count!["counted"]);
    }
  return removed > 0;
}

/** Copies the first rows of a table, without those that refer to rows outside the sample. */
async function copySample(
  session: Session,
  { name, columns }: Collection,
  from: string,
  schema: string,
): Promise<void> {
  const there = await session.play(ask(postgresSchema.findColumns(name)));
  const names = there.map((column) => quote(String(column["name"]))).join(", ");
  const conditions = columns
    .filter(({ references }) => references !== undefined && references.collection !== name)
    .map((column) => {
      const target = `${schema}.${quote(column.references!.collection)}`;
      return `AND (${quote(column.name)} IS NULL OR ${quote(column.name)} IN (SELECT "id" FROM ${target}))`;
    });
  await session.run(
    `INSERT INTO ${schema}.${quote(name)} (${names}) SELECT ${names} FROM ${from}.${quote(name)} WHERE TRUE ${conditions.join(" ")} ORDER BY "id" LIMIT ${sampleSize} ON CONFLICT DO NOTHING`,
  );
}

/** Sorts collections so that each comes after those that it refers to. Within a circle, the order is arbitrary. */
function referredFirst(collections: readonly Collection[]): readonly Collection[] {
  const done: Collection[] = [];
  const rest = new Set(collections);
  while (rest.size > 0) {
    const next =
      [...rest].find(({ name, columns }) =>
        columns.every(
          ({ references: to }) =>
            to === undefined || to.collection === name || done.some((each) => each.name === to.collection),
        ),
      ) ?? [...rest][0]!;
    rest.delete(next);
    done.push(next);
  }
  return done;
}
