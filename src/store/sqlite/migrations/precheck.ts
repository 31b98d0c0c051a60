import type { DatabaseSync } from "node:sqlite";
import { quote } from "../../sql/language/names.ts";
import { ask } from "../../sql/language/script.ts";
import { isMoreThanStart } from "../../sql/migrations/migrating.ts";
import { collectObstacles, type TablePlan } from "../../sql/migrations/plan-table.ts";
import { connect, playOn, prepare } from "../connection/connection.ts";
import { isStoreFailure } from "../connection/errors.ts";
import { findUncompiled, requireCompiled } from "../table-changes/bound.ts";
import { sqliteSchema } from "../table-changes/migration.ts";
import { findObjects, makeIndexOn, ownObjects } from "../table-changes/own-objects.ts";
import { statementsWithoutTriggers, namesFor, shadowFor } from "../table-changes/shadow.ts";

/** Adds to the plans the indexes, triggers and views of other programs that would not work after the migration. */
export function addObstacles(
  database: DatabaseSync,
  plans: readonly TablePlan[],
  dropped: readonly string[],
): readonly TablePlan[] {
  return plans.map((plan) => {
    if (!isMoreThanStart(plan) || collectObstacles(plan).length > 0) return plan;
    const why = whyNot(database, plan, dropped);
    return why === null ? plan : { ...plan, obstacles: [why] };
  });
}

/** Tries the migration on empty copies of the tables in memory. Returns the reason why it would fail, or null. */
function whyNot(database: DatabaseSync, plan: TablePlan, dropped: readonly string[]): string | null {
  const { collection } = plan;
  const { name } = collection;
  const own = ownObjects(collection, playOn(database, ask(findObjects(collection))));
  const trial = connect(":memory:");
  try {
    trial.exec("PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON");
    for (const sql of loadObjects(database, plan)) attempt(trial, sql);
    const uncompiled = findUncompiled(trial, name);
    trial.exec(`DROP TABLE ${quote(name)}`);
    const shadow = shadowFor(sqliteSchema, plan, dropped, { indexes: new Set(), tables: new Set(), folds: false });
    for (const sql of statementsWithoutTriggers(shadow)) trial.exec(sql);
    for (const index of own.indexes) makeIndexOn(trial, index, index.name, shadow.name);
    trial.exec(`ALTER TABLE ${shadow.name} RENAME TO ${quote(name)}`);
    for (const { sql } of own.triggers) trial.exec(sql);
    requireCompiled(trial, name, uncompiled);
    return null;
  } catch (error) {
    if (isStoreFailure(error)) throw error;
    return `${name} was not changed: ${(error as Error).message}. Remove this index, trigger or view, and create it again after the migration.`;
  } finally {
    trial.close();
  }
}

/**
 * Returns the SQL of all objects in a file, with virtual tables first. Leaves out the tables and triggers of an
 * unfinished migration of this table.
 */
function loadObjects(database: DatabaseSync, { collection }: TablePlan): readonly string[] {
  const { copy, moved, triggersPrefix } = namesFor(collection);
  const all = prepare(
    database,
    "SELECT name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY sql LIKE 'CREATE VIRTUAL %' DESC, rowid",
  );
  return (all.all() as [string, string, string][])
    .filter(([name, table]) => ![copy, moved].includes(table) && !name.startsWith(triggersPrefix))
    .map(([, , sql]) => sql);
}

/**
 * Runs SQL and ignores its errors. Some objects cannot be created here: internal tables of SQLite, and objects that
 * need an extension. A statement that uses such an object fails before and after the trial, so it is not reported.
 */
function attempt(database: DatabaseSync, sql: string): void {
  try {
    database.exec(sql);
  } catch (error) {
    if (isStoreFailure(error)) throw error;
  }
}
