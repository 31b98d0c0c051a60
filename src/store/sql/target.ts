import { CopyError, type CopiedRow, type CopiedTable, type Counters, type StoreTarget } from "../copy.ts";
import { MigrationNeeded, type Collection } from "../store.ts";
import { createContent, tablesToCopy } from "./content.ts";
import { playAsync, type Rows, type Script, type ScriptStep } from "./language/script.ts";
import { makeJournal } from "./migrations/journal.ts";
import { fitReferences, fitTable, rememberDeclaration } from "./migrations/migration.ts";
import type { SchemaDialect } from "./schema/schema.ts";

/** The functions that keep or discard a filled store, and that convert its errors. */
export interface Filling extends Pick<StoreTarget, "keep" | "close"> {
  convertError(error: unknown): unknown;
}

/** Returns a new store that is filled over a connection, within one transaction. */
export function targetOver(
  schema: SchemaDialect,
  send: (step: ScriptStep) => Promise<Rows>,
  { convertError, keep, close }: Filling,
): StoreTarget {
  let collections: readonly Collection[] = [];
  let tables: ReadonlyMap<string, CopiedTable> = new Map();

  async function convertFailure<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw convertError(error);
    }
  }

  return {
    create(wanted) {
      collections = wanted;
      tables = tablesToCopy(schema, wanted);
      return convertFailure(playAsync(create(schema, wanted), send));
    },
    write: (name, rows) => convertFailure(playAsync(insertAll(schema, tables.get(name)!, rows), send)),
    async complete(counters) {
      await convertFailure(playAsync(complete(schema, collections, counters), send));
      return createContent(schema, collections, (step) => convertFailure(send(step)));
    },
    keep: () => convertFailure(keep()),
    close,
  };
}

function* create(schema: SchemaDialect, collections: readonly Collection[]): Script<void> {
  yield* schema.makeOwnTables();
  yield* makeJournal(schema);
  const problems: string[] = [];
  // References are added only after all rows, because a row may refer to a row that is copied later.
  for (const collection of collections) problems.push(...(yield* fitTable(schema, collection, null)));
  if (problems.length > 0) throw new MigrationNeeded(problems);
}

function* insertAll(schema: SchemaDialect, table: CopiedTable, rows: readonly CopiedRow[]): Script<void> {
  for (const insert of schema.insertRows(table, rows)) yield insert;
}

function* complete(schema: SchemaDialect, collections: readonly Collection[], counters: Counters): Script<void> {
  const problems: string[] = [];
  for (const collection of collections) {
    problems.push(...(yield* fitReferences(schema, collection, null)));
    yield* rememberDeclaration(schema, collection, { before: null, alone: false });
  }
  if (problems.length > 0) throw new CopyError("differs", `${problems.join("\n")}\nMend the rows in the source first.`);
  yield* schema.setCounters(collections, counters);
}
