import { quote } from "../../sql/names.ts";
import { indexesOf } from "../../sql/schema/definition.ts";
import { findTable } from "../../sql/schema/found-table.ts";
import { duplicatesIn, findOwnIndexes, problemsOf, type InTheWay } from "../../sql/schema/migration.ts";
import type { Found } from "../../sql/schema/schema.ts";
import type { Script } from "../../sql/schema/script.ts";
import { fitWords } from "../../sql/words.ts";
import { MigrationNeeded, type Collection } from "../../store.ts";
import { state, stateOf } from "../errors.ts";
import { postgresSchema } from "../migration.ts";
import type { Session } from "../network/session.ts";
import { concurrently, dropReferences, makeIndexes, makeReferences, requireValues } from "./constraints.ts";
import { foldBeside } from "./folding.ts";
import { patiently } from "./patiently.ts";

type Play = <T>(script: Script<T>) => Promise<T>;

/** What a start cannot do to tables with rows. */
export async function lookAtTables(
  tables: readonly (readonly [collection: Collection, found: Found])[],
  play: Play,
): Promise<InTheWay> {
  const problems: string[] = [];
  const unfit: string[] = [];
  for (const [collection, found] of tables) {
    const told = await play(problemsOf(postgresSchema, collection, found));
    if (told.length > 0) unfit.push(collection.name);
    problems.push(...told);
  }
  return { problems, unfit };
}

/**
 * Makes a table with rows fit while anybody reads and writes: what needs the table for itself is done in moments, and what looks at all rows
 * locks none of them. Broken off anywhere, the next one goes on.
 */
export async function fitBeside(session: Session, collection: Collection, play: Play): Promise<void> {
  await requireValues(session, { collection });
  const found = (await play(findTable(postgresSchema, collection)))!;
  const { there, useless } = await play(findOwnIndexes(postgresSchema, collection));
  const alterations = postgresSchema.alter(collection, found, []);
  const drops = useless.map((name) => `DROP INDEX IF EXISTS ${quote(name)}`);
  await patiently(session, [collection.name], [...alterations, ...drops], async () => {
    await play(postgresSchema.complete(collection));
    await play(fitWords(postgresSchema, collection));
    return [];
  });
  for (const [name, { sql, unique, folds }] of indexesOf(postgresSchema, collection)) {
    if (there.has(name)) continue;
    // Whoever wrote without the index may have written without the folded value.
    if (folds !== null) await foldBeside(session, collection, folds);
    try {
      await makeIndexes(session, [[name, concurrently(sql)]]);
    } catch (error) {
      const twice =
        unique === null || stateOf(error) !== state.unique ? null : duplicatesIn(postgresSchema, collection, unique);
      const told = twice === null ? null : await play(twice);
      throw told === null ? error : new MigrationNeeded([told], [collection.name]);
    }
  }
  await makeReferences(session, { collection }, play);
  await dropReferences(session, collection, play);
}
