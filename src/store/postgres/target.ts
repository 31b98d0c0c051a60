import type { Secret } from "../../crypto/secret.ts";
import { copiedTables, CopyError, type Cells, type CopiedTable, type Counters, type StoreTarget } from "../copy.ts";
import { MigrationNeeded, type Collection } from "../store.ts";
import { encode, type Cell } from "./codec.ts";
import { contentOf } from "./content.ts";
import { storageOf } from "./definition.ts";
import { storeError } from "./errors.ts";
import { fitReferences, fitTable, rememberDeclaration } from "./migration.ts";
import { literal, quote, sequenceOf, shadowOf } from "./names.ts";
import { migrationLock, ownTables } from "./own-tables.ts";
import { plain, type Statement } from "./parameters.ts";
import type { Session } from "./session.ts";
import { connectWhole, hasTables, unhurried, type Whole } from "./whole.ts";

/**
 * Begins to fill an empty database, in one transaction: when the connection ends before it was kept, the database is as
 * empty as before. A service that starts on it meanwhile waits for the end.
 */
export async function openTarget(url: Secret): Promise<StoreTarget> {
  const whole = await connectWhole(url);
  try {
    await whole.session.run(`BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; ${unhurried}`);
    await whole.session.send(plain(migrationLock));
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
      tables = copiedTables(wanted, shadowOf);
      return tell(create(session, wanted));
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
    complete(counters) {
      return tell(complete(session, collections, counters));
    },
    keep: () => tell(session.run("COMMIT")),
    close,
  };
}

async function create(session: Session, collections: readonly Collection[]): Promise<void> {
  await session.run(ownTables);
  const problems: string[] = [];
  // References come last: rows may refer to rows that come later.
  for (const collection of collections) problems.push(...(await fitTable(session, collection)));
  if (problems.length > 0) throw new MigrationNeeded(problems);
}

async function complete(session: Session, collections: readonly Collection[], counters: Counters) {
  const problems: string[] = [];
  for (const collection of collections) {
    problems.push(...(await fitReferences(session, collection)));
    await rememberDeclaration(session, collection);
  }
  if (problems.length > 0) throw new CopyError("differs", `${problems.join("\n")}\nMend them in the source first.`);
  await setNext(session, "latchkey_revision", counters.revision + 1);
  for (const collection of collections)
    if (collection.key === "integer")
      await setNext(session, sequenceOf(collection), counters.nextKeys[collection.name]!);
  // The planner knows nothing yet of what is there.
  await session.run(`ANALYZE ${[...copiedTables(collections, shadowOf).keys()].map(quote).join(", ")}`);
  return contentOf(session, collections);
}

async function setNext(session: Session, sequence: string, next: number): Promise<void> {
  await session.send(plain(`SELECT setval(${literal(quote(sequence))}::regclass, $1, FALSE)`, [next]));
}

/** One statement for all rows: an array a column. */
function insertAll({ name, columns }: CopiedTable, rows: readonly Cells[]): Statement {
  const names = columns.map((column) => quote(column.name)).join(", ");
  const places = columns.map((column, at) => `$${at + 1}::${storageOf(column)}[]`).join(", ");
  const values: Cell[] = columns.map((column, at) => rows.map((cells) => encode(column, cells[at])));
  return plain(`INSERT INTO ${quote(name)} (${names}) SELECT * FROM unnest(${places})`, values);
}
