import { setTimeout as sleep } from "node:timers/promises";
import { foldCell } from "../../sql/language/codec.ts";
import type { Cell } from "../../sql/language/dialect.ts";
import { quote, formatShadowName } from "../../sql/language/names.ts";
import { statement } from "../../sql/language/script.ts";
import { duplicatesIn, findOwnIndexes } from "../../sql/migrations/migration.ts";
import { keyType } from "../../sql/migrations/rows-before.ts";
import { collectIndexes } from "../../sql/schema/definition.ts";
import { findTable } from "../../sql/schema/found-table.ts";
import { fitWords } from "../../sql/word-index.ts";
import { MigrationNeeded, type Collection, type Column } from "../../store.ts";
import { postgres } from "../dialect.ts";
import { state, findSQLState } from "../errors.ts";
import type { Session } from "../network/session.ts";
import { FIRST_BATCH, inBatch, nextBatchSize } from "./batches.ts";
import { concurrently, dropReferences, makeIndexes, makeReferences, requireValues } from "./constraints.ts";
import { retryOnLock } from "./lock-retry.ts";
import { compileAlterations, postgresSchema } from "./migration.ts";

/**
 * Extends a table with rows while clients read and write. Steps that need an exclusive lock take only moments, and
 * steps that read all rows do not lock the rows. If it is interrupted, the next run continues.
 */
export async function fitWhileServing(session: Session, collection: Collection): Promise<void> {
  await requireValues(session, collection);
  const found = (await session.play(findTable(postgresSchema, collection)))!;
  const { there, useless } = await session.play(findOwnIndexes(postgresSchema, collection));
  const alterations = compileAlterations(collection, found);
  const drops = useless.map((name) => `DROP INDEX IF EXISTS ${quote(name)}`);
  await retryOnLock(session, [collection.name], [...alterations, ...drops], async () => {
    await session.play(postgresSchema.complete(collection));
    await session.play(fitWords(postgresSchema, collection));
    return [];
  });
  for (const [name, { sql, unique, folds }] of collectIndexes(postgresSchema, collection)) {
    if (there.has(name)) continue;
    // A process that does not know the new column may have written rows without the folded value.
    if (folds !== null) await foldWhileServing(session, collection, folds);
    try {
      await makeIndexes(session, [[name, concurrently(sql)]]);
    } catch (error) {
      const twice =
        unique === null || findSQLState(error) !== state.unique
          ? null
          : duplicatesIn(postgresSchema, collection, unique);
      const message = twice === null ? null : await session.play(twice);
      throw message === null ? error : new MigrationNeeded([message], [collection.name]);
    }
  }
  await makeReferences(session, collection);
  await dropReferences(session, collection);
}

/** Folds all values of a column into its folded column, some rows at a time. Clients can write in the meantime. */
async function foldWhileServing(session: Session, collection: Collection, column: Column): Promise<void> {
  const [table, name, shadow] = [collection.name, column.name, formatShadowName(postgres, column)].map(quote);
  const key = keyType(postgresSchema, collection.key);
  const select = (count: number): string =>
    `SELECT "id", ${name!} AS value FROM ${table!} WHERE ($1::${key} IS NULL OR "id" > $1) ORDER BY "id" LIMIT ${count} FOR NO KEY UPDATE`;
  const update =
    `UPDATE ${table!} SET ${shadow!} = page.folded FROM unnest($1::${key}[], $2::text[]) AS page (key, folded) ` +
    `WHERE "id" = page.key AND ${shadow!} IS DISTINCT FROM page.folded`;
  let batch = FIRST_BATCH;
  let last: Cell = null;
  for (;;) {
    const start = performance.now();
    const behind = last;
    const { page, isFull } = await inBatch(session, async (part) => {
      const most = Math.ceil(batch * part);
      const rows = await session.send(statement(select(most), [behind]));
      const folded = rows.map(({ value }) => foldCell(column, value as Cell));
      const done = { page: rows, isFull: rows.length === most };
      return { done, last: [statement(update, [rows.map(({ id }) => id as Cell), folded])] };
    });
    // A page that is not full ends the loop. New rows already have a folded value, and a loop that also read them might
    // never end.
    if (!isFull) return;
    last = page.at(-1)!["id"] as Cell;
    const took = performance.now() - start;
    batch = nextBatchSize(batch, took);
    await sleep(took / 2);
  }
}
