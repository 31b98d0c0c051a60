import { messageOfThrown } from "../../core/checking/thrown.ts";
import type { Observer } from "../../core/observation.ts";
import { asData } from "../declarations.ts";
import { pickSearched } from "../searched.ts";
import { asSettled } from "../sql/existing/settle.ts";
import { makeRefusing } from "../sql/schema/table-shape.ts";
import type { Engine } from "../sql/store.ts";
import { takeSomeWords } from "../sql/word-index.ts";
import { StoreOutdated, StoreSetupError, type Collection, type Outcome, type Transaction } from "../store.ts";
import { connectReadOnly, playOn, prepare } from "./connection/connection.ts";
import { storeError, unavailable } from "./connection/errors.ts";
import { addFunctions } from "./connection/functions.ts";
import { DatabaseSync } from "./connection/node-sqlite.ts";
import { getTable } from "./dialect.ts";
import { lastingIn } from "./existing/views.ts";
import { followCollection } from "./feed.ts";
import { createGuard, requireOwnLog, type Guard } from "./file/guard.ts";
import { filesAt, watchFile } from "./file/place.ts";
import { nameCollections } from "./named.ts";
import { longReads, type LongReads } from "./reads/long-reads.ts";
import { offloadReads, orLong } from "./reads/offloaded.ts";
import { createReader, type SQLiteReader } from "./reads/reader.ts";
import { createSnapshot, type Snapshot } from "./reads/snapshot.ts";
import {
  explainOutdated,
  prepareFile,
  prepareSchema,
  requireSchema,
  createTypeCheck,
  shapesIn,
  type Retyped,
} from "./schema.ts";
import { sqliteSchema } from "./table-changes/migration.ts";
import { createCommitter } from "./writes/transactions.ts";
import { writerThread, type WriterThread } from "./writes/writer-thread.ts";

/** The options for a file. */
interface FileOptions {
  readonly observe: Observer;
  /** The longest wait of a write for a write of another process, in milliseconds. */
  readonly busyMs: number;
  /** The time limit for a read that no index answers, in milliseconds. */
  readonly longReadMs: number;
}

/** Opens a database for collections. */
export type Opener = (collections: readonly Collection[]) => Engine;

/** Opens a file. The calling thread reads, and a separate thread writes. */
export function openFile(
  path: string,
  collections: readonly Collection[],
  { observe, busyMs, longReadMs }: FileOptions,
): Engine {
  requireOwnLog(path);
  const settled = prepareFile(path, collections);
  const database = connectReadOnly(path);
  // This first read opens the log. SQLite uses the same log file as long as a connection is open.
  requireSchema(database, collections);
  const shapes = shapesIn(database, path, collections);
  const refusing = makeRefusing(observe);
  const explain = (error: unknown): unknown => explainOutdated(error, database, shapes, refusing);
  const files = filesAt(path);
  const guard = createGuard({ path, files }, database);
  requireWhole(guard, database);
  const opened = { path, files, content: guard.content };
  const data = asData(asSettled(collections, settled));
  const writer = writerThread({ ...opened, busyMs, collections: data, shapes }, observe, refusing);
  const threads = longReads({ path, collections: data, limitMs: longReadMs });
  const retyped = createTypeCheck(database, collections, refusing);
  const { snapshot, version, reader, long } = createReads(database, { threads, retyped, guard, explain });
  /**
   * Checks that the opened file is still in place and was not overwritten. Releases the shared snapshot first, because
   * the connection of the guard must not be in a transaction.
   */
  const look = (): void => {
    snapshot.release();
    guard.look();
  };
  const stopWatching = watchFile(path, {
    observe,
    look,
    onGone() {
      // If the log was removed, an empty write makes the writer move the content of the log into the file now. If the
      // file was overwritten, the writer only stops.
      void (guard.found === null ? writer.write({ changes: [] }) : writer.close(() => {})).catch(() => undefined);
    },
  });
  writer.start();

  return {
    settled,
    ...reading(reader, version),
    ...offloadReads(reader, long, version, lastingIn(database)),
    write: (transaction) => writeGuarded(writer, transaction, guard, look),
    async check() {
      try {
        look();
      } catch (error) {
        throw unavailable(error);
      }
      try {
        snapshot.take();
        requireSchema(database, collections);
      } catch (error) {
        throw storeError(error);
      }
    },
    async close() {
      stopWatching();
      await long.close();
      const closeReader = (): void => {
        snapshot.release();
        database.close();
      };
      // Checks once more before the file is closed. If it was just overwritten, the log must not be moved into it.
      lookAgain(look);
      // The last connection that closes moves the log into the file. Only a writing connection can do this, so the
      // reader closes before the writer.
      const isOurs = !guard.isSuspect;
      await writer.close(isOurs ? closeReader : () => {});
      if (!isOurs) closeReader();
    },
  };
}

/** Refuses to open a file that was overwritten while other processes use it, because its content cannot be trusted. */
function requireWhole(guard: Guard, database: DatabaseSync): void {
  try {
    guard.look();
  } catch (error) {
    database.close();
    throw new StoreSetupError([messageOfThrown(error)], { cause: error });
  }
}

async function writeGuarded(
  writer: WriterThread,
  transaction: Transaction,
  guard: Guard,
  look: () => void,
): Promise<Outcome> {
  requireBelieved(guard);
  try {
    return await writer.write(transaction);
  } catch (error) {
    // If the writer has found an overwritten file, the guard finds it here too, and refuses later reads.
    lookAgain(look);
    throw error;
  }
}

/** Runs the guard's check without throwing. The guard stores its result in `found`. */
function lookAgain(look: () => void): void {
  try {
    look();
  } catch {
    // The caller throws another error, or closes the store anyway.
  }
}

/** The checks before reads. */
interface Guards {
  readonly retyped: Retyped;
  readonly guard: Guard;
  /** Returns the cause of an error, or the error itself. */
  explain(error: unknown): unknown;
}

/** The reads in this thread and in other threads. */
interface Reads {
  readonly snapshot: Snapshot;
  readonly version: () => number;
  readonly reader: SQLiteReader;
  readonly long: LongReads;
}

function createReads(
  database: DatabaseSync,
  { threads, retyped, guard, explain }: Guards & { readonly threads: LongReads },
): Reads {
  const dataVersion = prepare(database, "PRAGMA data_version");
  let seen = 0;
  const snapshot = believed(createSnapshot(database, look), guard);

  /** Checks the types of the columns if there was a commit, because they change only with a commit. */
  function look(): void {
    const now = dataVersion.get()![0] as number;
    if (now !== seen) retyped.look();
    seen = now;
  }

  function version(): number {
    try {
      snapshot.take();
      return seen;
    } catch (error) {
      throw storeError(error);
    }
  }

  function requireNow(collection: Collection): void {
    snapshot.take();
    retyped.require(collection);
  }

  const { require } = retyped;
  const reader = createReader({ database, ready: snapshot.take, version, getTable, require, explain });
  return { snapshot, version, reader, long: guarded(threads, requireNow, explain) };
}

/**
 * Checks the types of the columns before and after a read in another thread, because they may change in the meantime.
 */
function guarded(threads: LongReads, require: Retyped["require"], explain: (error: unknown) => unknown): LongReads {
  return {
    ...threads,
    async read(method, query) {
      try {
        require(query.collection);
        const answer = await threads.read(method, query);
        require(query.collection);
        return answer;
      } catch (error) {
        throw explain(error);
      }
    },
  };
}

/** Throws if the file was overwritten. Such a file may contain accounts and permissions from years ago. */
function requireBelieved({ found }: Guard): void {
  if (found !== null) throw unavailable(found);
}

function believed(snapshot: Snapshot, guard: Guard): Snapshot {
  return {
    ...snapshot,
    take() {
      requireBelieved(guard);
      snapshot.take();
    },
  };
}

/** Opens a database in memory. It uses one connection in this thread, and can be opened again with more collections. */
export function memoryOpener(): Opener {
  const database = new DatabaseSync(":memory:", { returnArrays: true });
  addFunctions(database);
  let commits = 0;
  const version = (): number => commits;
  const reader = createReader({ database, ready: () => {}, version, getTable });

  return (collections) => {
    const settled = prepareSchema(database, collections);
    const searched = pickSearched(collections).map(getTable);
    const takeAllWords = (): void => {
      while (playOn(database, takeSomeWords(sqliteSchema, searched)));
    };
    takeAllWords();
    const committer = createCommitter(database, asSettled(collections, settled));
    return {
      settled,
      ...reading(reader, version),
      list: (query) => orLong(query, reader.list, reader.list),
      listJSON: (query) => orLong(query, reader.listJSON, reader.listJSON),
      async write(transaction) {
        try {
          const [result] = committer.commit([nameCollections(transaction)]);
          takeAllWords();
          commits++;
          if (result!.kind === "fault") throw new TypeError(result.message);
          if (result!.kind === "outdated") throw new StoreOutdated(result.collection);
          return result!;
        } catch (error) {
          throw storeError(error);
        }
      },
      check: async () => requireSchema(database, collections),
      close: async () => {},
    };
  };
}

/** Returns the parts of the engine that only read. `version` changes after every commit. */
function reading(reader: SQLiteReader, version: () => number): SQLiteReader & Pick<Engine, "follow"> {
  return {
    ...reader,
    follow: async (collection, onRow) => followCollection(reader, version, collection, onRow),
  };
}
