import { DatabaseSync } from "node:sqlite";
import type { Observer } from "../../observation.ts";
import type { Collection, Outcome, Transaction } from "../store.ts";
import { connectReadOnly, prepare } from "./connection.ts";
import { storeError } from "./errors.ts";
import { nameCollections } from "./named.ts";
import { readerOf, type Reader } from "./reader.ts";
import { prepareFile, prepareSchema, requireSchema } from "./schema.ts";
import { snapshotOf } from "./snapshot.ts";
import { committerOf } from "./transactions.ts";
import { writerThread } from "./writer-thread.ts";

/** A database that is open. */
export interface Engine {
  readonly reader: Reader;
  write(transaction: Transaction): Promise<Outcome>;
  /** A number that changes whenever anyone has committed. */
  version(): number;
  /** Throws unless it answers and the tables are there. */
  check(): void;
  close(): Promise<void>;
}

/** A file: read in this thread, written in another. */
export function openFile(path: string, collections: readonly Collection[], observe: Observer): Engine {
  prepareFile(path, collections);
  const database = connectReadOnly(path);
  const snapshot = snapshotOf(database);
  const dataVersion = prepare(database, "PRAGMA data_version");
  const writer = writerThread({ path, collections }, observe);
  let version = 0;
  let askedIn = 0;
  writer.start();

  function versionNow(): number {
    try {
      const now = snapshot.take();
      if (now !== askedIn) version = dataVersion.get()![0] as number;
      askedIn = now;
      return version;
    } catch (error) {
      throw storeError(error);
    }
  }

  return {
    reader: readerOf(database, snapshot.take, versionNow),
    write: writer.write,
    version: versionNow,
    check() {
      snapshot.take();
      requireSchema(database, collections);
    },
    async close() {
      await writer.close(() => {
        // The last connection to close moves the log into the file, and only one that writes can.
        snapshot.release();
        database.close();
      });
    },
  };
}

/** A database in memory: everything over one connection, in this thread. It can be opened again with more collections. */
export function memoryOpener(): (collections: readonly Collection[]) => Engine {
  const database = new DatabaseSync(":memory:", { returnArrays: true });
  let commits = 0;
  const reader = readerOf(
    database,
    () => {},
    () => commits,
  );

  return (collections) => {
    prepareSchema(database, collections);
    const committer = committerOf(database, collections);
    return {
      reader,
      async write(transaction) {
        try {
          const [result] = committer.commit([nameCollections(transaction)]);
          commits++;
          if (result!.kind === "fault") throw new TypeError(result.message);
          return result!;
        } catch (error) {
          throw storeError(error);
        }
      },
      version: () => commits,
      check: () => requireSchema(database, collections),
      close: async () => {},
    };
  };
}
