import type { Secret } from "../../../core/crypto/secret.ts";
import { pickOwnCollections } from "../../declarations.ts";
import { statement, stepsIn } from "../../sql/language/script.ts";
import {
  forgetUnfinished,
  makeJournal,
  readHistory,
  readUnfinished,
  requireOwnHistory,
} from "../../sql/migrations/journal.ts";
import {
  planTables,
  requirePossible,
  describeChanges,
  type MigratedTable,
  type MigrateOptions,
} from "../../sql/migrations/migrating.ts";
import { emptiedLinks } from "../../sql/schema/links.ts";
import { MigrationNeeded, type Collection } from "../../store.ts";
import { findSQLState } from "../errors.ts";
import type { Session } from "../network/session.ts";
import { useWhole, type Whole } from "../network/whole.ts";
import { tryMigrationLock } from "../own-tables.ts";
import { prepareSchema } from "../schema.ts";
import { fillShadowColumns, type Work } from "../table-changes/batches.ts";
import { makeIndexes, makeReferences, requireValues, wantedIndexes } from "../table-changes/constraints.ts";
import { transientStates, retryOnLock, unhurried, describeLockHolder } from "../table-changes/lock-retry.ts";
import { postgresSchema } from "../table-changes/migration.ts";
import {
  findShadowColumns,
  dropShadowColumns,
  dropStrays,
  createShadowIndexes,
} from "../table-changes/shadow-column.ts";
import { catchUpWhileServing } from "./catching-up.ts";
import { removeDryRuns } from "./dry-run-cleanup.ts";
import { switchOver } from "./switching.ts";

/** Migrates the tables of a database while clients read and write. Continues a migration that was interrupted. */
export function migrateDatabase(
  url: Secret,
  collections: readonly Collection[],
  options: MigrateOptions,
): Promise<readonly MigratedTable[]> {
  return useWhole(url, async (whole) => {
    try {
      await requireMigrationLock(whole.session);
      await removeDryRuns(whole.session);
      return await migrateOver(whole, collections, options);
    } catch (error) {
      throw transientStates.has(findSQLState(error))
        ? await describeLockHolder(whole.session, collections, error)
        : error;
    }
  });
}

/** Migrates over an open connection. */
export async function migrateOver(
  { session, address }: Pick<Whole, "session" | "address">,
  collections: readonly Collection[],
  options: MigrateOptions,
): Promise<readonly MigratedTable[]> {
  await session.run(unhurried);
  await requireMigrationLock(session);
  const { dropped = [] } = options;
  const { plans } = await session.play(planTables(postgresSchema, collections, dropped));
  requirePossible(plans, dropped, await session.play(readHistory(postgresSchema)));
  await session.play(requireOwnHistory(postgresSchema, options.program));
  const migrated: MigratedTable[] = [];
  for (const plan of plans) {
    if (plan.changes.length > 0) {
      await session.play(makeJournal(postgresSchema));
      migrated.push(await changeTable({ session, plan, options }));
    } else await dropUnfinished({ session, plan });
  }
  await prepareSchema(session, address, collections);
  for (const [name, steps] of await session.play(emptiedLinks(postgresSchema, pickOwnCollections(collections))))
    await retryOnLock(session, [name], steps);
  return migrated;
}

/**
 * Takes the lock for migrations, because only one migration may run at a time. Throws `MigrationNeeded` if another
 * process has the lock. The connection holds the lock until it closes, and may take it again.
 */
export async function requireMigrationLock(session: Session): Promise<void> {
  const [row] = await session.send(statement(tryMigrationLock));
  if (row!["is_ours"] !== true)
    throw new MigrationNeeded(["Another process is migrating this database. Wait until it has finished."]);
}

/** Removes an unfinished migration for an older declaration. Otherwise its trigger would record rows forever. */
async function dropUnfinished({ session, plan }: Omit<Work, "options">): Promise<void> {
  const { name } = plan.collection;
  if ((await session.play(readUnfinished(postgresSchema, name))) === null) return;
  const steps = [...dropShadowColumns(plan, []), ...dropStrays(plan, [])];
  await retryOnLock(session, [name], steps, async () => stepsIn(forgetUnfinished(postgresSchema, name)));
}

async function changeTable(work: Work): Promise<MigratedTable> {
  const { session, plan } = work;
  const start = performance.now();
  const { collection } = plan;
  const shadows = findShadowColumns(plan);
  let rows = 0;
  try {
    let state = shadows.length > 0 ? await fillShadowColumns(work, shadows) : null;
    // Filling is faster before the new columns have indexes.
    if (state !== null) state = await catchUpWhileServing(work, shadows, state);
    for (const index of createShadowIndexes(plan, shadows)) await makeIndexes(session, [[index.temporary, index.sql]]);
    // Rows that changed while the indexes were made are filled here, and not under the exclusive lock.
    if (state !== null) state = await catchUpWhileServing(work, shadows, state);
    rows = await switchOver(work, shadows, state, start);
  } catch (error) {
    if (!isAboutValues(error)) throw error;
    for (const sql of dropShadowColumns(plan, shadows)) await retryOnLock(session, [collection.name], [sql]);
    await session.play(forgetUnfinished(postgresSchema, collection.name));
    throw new MigrationNeeded([
      `${collection.name} was not changed: ${(error as Error).message}. Check it with latchkey db plan, correct it, and migrate again.`,
    ]);
  }
  await requireValues(session, collection);
  await makeReferences(session, collection);
  await makeIndexes(session, wantedIndexes(collection));
  return { table: collection.name, words: describeChanges(plan), rows, ms: performance.now() - start };
}

/**
 * True if a value does not fit the declaration, or if another object depends on a column. Otherwise, a retry may
 * succeed.
 */
function isAboutValues(error: unknown): boolean {
  const state = findSQLState(error);
  return (state !== null && /^(22|23|2BP01)/.test(state)) || error instanceof TypeError;
}
