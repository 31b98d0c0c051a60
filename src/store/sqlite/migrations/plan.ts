import { existsSync } from "node:fs";
import { pickOwnCollections } from "../../declarations.ts";
import { ask } from "../../sql/language/script.ts";
import { planTables, planMissing, describePlan, type Plan } from "../../sql/migrations/migrating.ts";
import type { Collection } from "../../store.ts";
import { connectReadOnly, playOn } from "../connection/connection.ts";
import { findLeftovers } from "../table-changes/leftover-tables.ts";
import { sqliteSchema } from "../table-changes/migration.ts";
import { findObjects, ownObjects } from "../table-changes/own-objects.ts";
import { rebuildByHand } from "../table-changes/shadow.ts";
import { needsCopy } from "./moved.ts";
import { addObstacles } from "./precheck.ts";

/** Returns the changes that a migration would make in a file. Only reads. */
export function planFile(path: string, collections: readonly Collection[], dropped: readonly string[]): Plan {
  if (!existsSync(path))
    return {
      tables: pickOwnCollections(collections).map(planMissing),
      obstacles: [],
      strangers: [],
      renames: [],
      remarks: [],
      history: [],
    };
  const database = connectReadOnly(path);
  try {
    database.exec("BEGIN");
    const { plans, missing } = playOn(database, planTables(sqliteSchema, collections, dropped));
    const planned = { plans: addObstacles(database, plans, dropped), missing };
    const report = playOn(
      database,
      describePlan(sqliteSchema, planned, dropped, needsCopy, function* (plan) {
        const own = yield* ask(findObjects(plan.collection));
        return rebuildByHand(sqliteSchema, plan, dropped, ownObjects(plan.collection, own));
      }),
    );
    const leftoverTables = planned.plans.length === 0 ? [] : playOn(database, findLeftovers());
    return { ...report, remarks: [...report.remarks, ...leftoverTables.map(describeLeftover)] };
  } finally {
    database.close();
  }
}

function describeLeftover(table: string): string {
  return `${table} is left of a migration and unused. latchkey db migrate removes it.`;
}
