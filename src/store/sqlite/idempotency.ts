import type { DatabaseSync } from "node:sqlite";
import { createParameters } from "../sql/language/dialect.ts";
import type { Statement } from "../sql/language/script.ts";
import { forgetRows, compileIdempotency } from "../sql/writes/idempotency.ts";
import type { Idempotency, Key, Recalled, Row } from "../store.ts";
import { createNamedCache, createStatementCache } from "./connection/connection.ts";
import { sqlite } from "./dialect.ts";

/** Returns the stored outcome of an idempotency key. Returns null if the key was not used. */
export type Recall = (idempotency: Idempotency) => Recalled | null;

/** The idempotency records. */
export interface IdempotencyRecords {
  readonly recall: Recall;
  /** Stores the rows of a write. `collection` is the name of the collection of the first change. */
  remember(idempotency: Idempotency, collection: string, rows: readonly (Row | null)[]): void;
  /** Deletes the records of a caller, and erases a row in the records of other callers. */
  forget(collection: string, key: Key, caller: string): void;
}

const { recall, remember } = compileIdempotency(sqlite);

export function createIdempotencyRecords(database: DatabaseSync): IdempotencyRecords {
  const statements = createStatementCache(database);
  const run = ({ text, values }: Statement): void => void statements(text, () => text).run(...values);
  return {
    recall: createRecall(database),
    remember: (idempotency, collection, rows) => remember(idempotency, collection, rows).forEach(run),
    forget: (collection, key, caller) =>
      forgetRows(collection, { key, caller }, () => createParameters(sqlite)).forEach(run),
  };
}

/** Returns `recall` for a connection that only reads. */
export function createRecall(database: DatabaseSync): Recall {
  const statements = createNamedCache(database);
  return (idempotency) => {
    const { text, values, of } = recall(idempotency);
    return of(statements(text).all(...values));
  };
}
