import { ask, statement, stepsIn, type Script } from "../../sql/language/script.ts";
import { forgetUnfinished, writeDone, type Unfinished } from "../../sql/migrations/journal.ts";
import { describeChanges } from "../../sql/migrations/migrating.ts";
import { rememberDeclaration } from "../../sql/migrations/migration.ts";
import { excludesOldPrograms } from "../../sql/migrations/schema-changes.ts";
import { triggerPrefix } from "../../sql/word-index.ts";
import type { Work } from "../table-changes/batches.ts";
import { retryOnLock } from "../table-changes/lock-retry.ts";
import { lockTable, postgresSchema } from "../table-changes/migration.ts";
import { addColumns, switchColumns, type ShadowColumn } from "../table-changes/shadow-column.ts";
import { catchUpFor, catchUpWithLocks, newPace, newLockTimes } from "./catching-up.ts";

/** The longest time to fill rows under the exclusive lock, in milliseconds. */
const fillMs = 50;

/** Fills the last rows and replaces the old columns with the new ones, under an exclusive lock of some milliseconds. */
export async function switchOver(
  work: Work,
  shadows: readonly ShadowColumn[],
  filled: Unfinished | null,
  start: number,
): Promise<number> {
  const { session, plan } = work;
  const { name } = plan.collection;
  const steps = await compileSteps(work, shadows);
  const lockTimes = newLockTimes();
  for (let [state, isOver] = [filled, false]; ;) {
    if (state !== null) state = await catchUpWithLocks(work, shadows, state, lockTimes);
    const before = state;
    await retryOnLock(session, [name], [lockTable(name)], async () => {
      const caught = before === null ? null : await catchUpFor(work, shadows, before, fillMs, newPace());
      state = caught?.state ?? null;
      isOver = caught?.isDone ?? true;
      return isOver ? [{ run: steps }, ...stepsIn(writeEnd(work, state?.rows ?? 0, start))] : [];
    });
    if (isOver) return state?.rows ?? 0;
  }
}

/** Returns the SQL that switches the columns, as one text. */
async function compileSteps({ session, plan, options }: Work, shadows: readonly ShadowColumn[]): Promise<string> {
  const { name } = plan.collection;
  const found = await session.play(ask(postgresSchema.findIndexes(name)));
  const indexes = new Set(found.filter((index) => index["is_whole"] === true).map(({ name: index }) => String(index)));
  const triggers = (await session.play(ask(postgresSchema.findTriggers(name)))).map(({ name: trigger }) =>
    String(trigger),
  );
  // If any column changes, the words of searched columns are computed again.
  const isOther = plan.changes.some(({ effect }) => effect !== "adds");
  const ofWords = triggers.filter((trigger) => isOther && trigger.startsWith(triggerPrefix));
  return [
    ...ofWords.map((trigger) => postgresSchema.dropTrigger(plan.collection, trigger)),
    ...addColumns(plan),
    ...switchColumns(plan, shadows, options.dropped ?? [], indexes),
  ].join(";\n");
}

/**
 * Records the migration in the same transaction as the new columns. If the process is killed, the next run finds the
 * record and does not repeat the work.
 */
function* writeEnd({ plan, options }: Work, rows: number, start: number): Script<void> {
  const { name } = plan.collection;
  const changed = { before: plan.found, alone: excludesOldPrograms(plan.changes) };
  yield* rememberDeclaration(postgresSchema, plan.collection, changed);
  // The space at the end makes the stored text differ from the declaration. The indexes and references are not made
  // yet, and a process that starts now must look for them.
  yield* ask(statement("UPDATE latchkey_schema SET declaration = declaration || ' ' WHERE collection = $1", [name]));
  yield* forgetUnfinished(postgresSchema, name);
  const done = { table: name, rows, ms: performance.now() - start, program: options.program };
  yield* writeDone(postgresSchema, done, describeChanges(plan));
}
