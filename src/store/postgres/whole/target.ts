import type { Secret } from "../../../crypto/secret.ts";
import { CopyError, type Cells, type CopiedTable, type Counters, type StoreTarget } from "../../copy.ts";
import { makeJournal } from "../../sql/changes/journal.ts";
import { encode } from "../../sql/codec.ts";
import { contentOf, tablesToCopy } from "../../sql/content.ts";
import type { Cell } from "../../sql/dialect.ts";
import { quote } from "../../sql/names.ts";
import { fitReferences, fitTable, rememberDeclaration } from "../../sql/schema/migration.ts";
import { ask, playAsync, run, statement, type Script, type Statement } from "../../sql/schema/script.ts";
import { MigrationNeeded, type Collection } from "../../store.ts";
import { postgres, sequenceOf } from "../dialect.ts";
import { storeError } from "../errors.ts";
import { postgresSchema } from "../migration.ts";
import { sendTo } from "../network/session.ts";
import { migrationLock } from "../own-tables.ts";
import { connectWhole, hasTables, unhurried, type Whole } from "./whole.ts";

/**
 * Begins to fill an empty database, in one transaction: when the connection ends before it was kept, the database is as
 * empty as before. A service that starts on it meanwhile waits for the end.
 */
export async function openTarget(url: Secret): Promise<StoreTarget> {
  const whole = await connectWhole(url);
  try {
    await whole.session.run(`BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; ${unhurried}`);
    await whole.session.send(statement(migrationLock));
    if (await hasTables(whole.session))
      throw new CopyError(
        "not_empty",
        `${whole.address.shown} has tables of Latchkey already. Name an empty database: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0;`,
      );
    return fill(whole);
  } catch (error) {
    await whole.close();
    throw whole.told(error);
  }
}

function fill({ session, told, close }: Whole): StoreTarget {
  let collections: readonly Collection[] = [];
  let tables: ReadonlyMap<string, CopiedTable> = new Map();

  async function tell<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw told(error);
    }
  }

  return {
    create(wanted) {
      collections = wanted;
      tables = tablesToCopy(postgresSchema, wanted);
      return tell(playAsync(create(wanted), sendTo(session)));
    },
    async write(name, rows) {
      try {
        await session.send(insertAll(tables.get(name)!, rows));
      } catch (error) {
        // What the value is to blame for is a TypeError.
        const read = storeError(error);
        throw read instanceof TypeError ? read : told(error);
      }
    },
    async complete(counters) {
      await tell(playAsync(complete(collections, counters), sendTo(session)));
      return contentOf(postgresSchema, collections, sendTo(session));
    },
    keep: () => tell(session.run("COMMIT")),
    close,
  };
}

function* create(collections: readonly Collection[]): Script<void> {
  yield* run(postgresSchema.ownTables);
  yield* makeJournal(postgresSchema);
  const problems: string[] = [];
  // References come last: rows may refer to rows that come later.
  for (const collection of collections) problems.push(...(yield* fitTable(postgresSchema, collection, null)));
  if (problems.length > 0) throw new MigrationNeeded(problems);
}

function* complete(collections: readonly Collection[], counters: Counters): Script<void> {
  const problems: string[] = [];
  for (const collection of collections) {
    problems.push(...(yield* fitReferences(postgresSchema, collection, null)));
    yield* rememberDeclaration(postgresSchema, collection, { before: null, alone: false });
  }
  if (problems.length > 0) throw new CopyError("differs", `${problems.join("\n")}\nMend them in the source first.`);
  yield* setNext("latchkey_revision", counters.revision + 1);
  for (const collection of collections)
    if (collection.key === "integer") yield* setNext(sequenceOf(collection), counters.nextKeys[collection.name]!);
  // The planner knows nothing yet of what is there.
  yield* run(`ANALYZE ${[...tablesToCopy(postgresSchema, collections).keys()].map(quote).join(", ")}`);
}

function* setNext(sequence: string, next: number): Script<void> {
  yield* ask(statement(`SELECT setval(${postgres.literal(quote(sequence))}::regclass, $1, FALSE)`, [next]));
}

/** One statement for all rows: an array a column. */
function insertAll({ name, columns }: CopiedTable, rows: readonly Cells[]): Statement {
  const names = columns.map((column) => quote(column.name)).join(", ");
  const places = columns.map((column, at) => `$${at + 1}::${postgres.storageOf(column)}[]`).join(", ");
  const values: Cell[] = columns.map((column, at) => rows.map((cells) => encode(postgres, column, cells[at])));
  return statement(`INSERT INTO ${quote(name)} (${names}) SELECT * FROM unnest(${places})`, values);
}
