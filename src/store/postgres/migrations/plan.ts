import type { Secret } from "../../../core/crypto/secret.ts";
import { ask } from "../../sql/language/script.ts";
import { planTables, describePlan, type Plan } from "../../sql/migrations/migrating.ts";
import type { TablePlan } from "../../sql/migrations/plan-table.ts";
import { getsFolded } from "../../sql/migrations/schema-changes.ts";
import type { Collection } from "../../store.ts";
import { useWhole } from "../network/whole.ts";
import { unhurried } from "../table-changes/lock-retry.ts";
import { postgresSchema } from "../table-changes/migration.ts";
import { findShadowColumns } from "../table-changes/shadow-column.ts";
import { alterByHand } from "./by-hand.ts";

/** Returns what a migration would do to a database. Only reads. */
export function planDatabase(
  url: Secret,
  collections: readonly Collection[],
  dropped: readonly string[],
): Promise<Plan> {
  return useWhole(url, async ({ session }) => {
    await session.run(`${unhurried}; BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`);
    const planned = await session.play(planTables(postgresSchema, collections, dropped));
    return session.play(
      describePlan(postgresSchema, planned, dropped, isWritten, function* (plan) {
        const { name } = plan.collection;
        const found = yield* ask(postgresSchema.findIndexes(name));
        const indexes = new Set(
          found.filter((index) => index["is_whole"] === true).map(({ name: index }) => String(index)),
        );
        const triggers = (yield* ask(postgresSchema.findTriggers(name))).map(({ name: trigger }) => String(trigger));
        return alterByHand(plan, dropped, { indexes, triggers });
      }),
    );
  });
}

/**
 * True if the migration writes rows: it computes new values, or the folded values that a start also makes. Dropping a
 * column, or adding one with its default, writes no rows.
 */
function isWritten(plan: TablePlan): boolean {
  const { collection, found } = plan;
  return (
    findShadowColumns(plan).length > 0 || collection.columns.some((column) => getsFolded(postgresSchema, column, found))
  );
}
