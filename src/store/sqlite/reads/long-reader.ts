import type { DatabaseSync } from "node:sqlite";
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import { hasAmong, replaceCollections } from "../../inner-collections.ts";
import { unopened } from "../../sql/schema/table.ts";
import type { Collection, ListQuery, ListText, RelatedQuery, Where } from "../../store.ts";
import { connectReadOnly } from "../connection/connection.ts";
import { toFailure, type Failure } from "../connection/errors.ts";
import { lowerPriority, pauseThread } from "../connection/thread.ts";
import { getTimedTable } from "../dialect.ts";
import { createReader, type SQLiteReader } from "./reader.ts";

/** The data that a reader thread is started with. */
export interface LongReaderData {
  readonly path: string;
  readonly collections: readonly Collection[];
  readonly limitMs: number;
}

/** The reads that may take long, with their arguments. */
export interface LongReadings {
  readonly list: ListQuery;
  readonly listJSON: ListQuery;
  readonly listRelated: RelatedQuery;
  readonly count: { readonly collection: Collection; readonly where: Where | null };
}

/** A message to the thread: one read, with the name of its collection. */
export type LongRead = {
  readonly [M in keyof LongReadings]: {
    readonly method: M;
    readonly collection: string;
    readonly query: Omit<LongReadings[M], "collection">;
  };
}[keyof LongReadings];

/** The result of a read. */
export type FromLongReader =
  | { readonly kind: "given"; readonly result: unknown }
  | { readonly kind: "overdue" }
  | { readonly kind: "failed"; readonly failure: Failure };

class Overdue extends Error {}

/**
 * How long a statement runs before the thread sleeps, in milliseconds. Without the sleep, it would delay the thread
 * that answers requests: on two cores, Linux lets even a thread of the lowest priority run for about 1.4 ms at a time.
 */
const stepMs = 0.5;
/** How long the thread then sleeps, in milliseconds. Linux adds about 0.1 ms. */
const pauseMs = 0.05;

/**
 * Runs the thread for long reads. `node:sqlite` cannot interrupt a statement, so the statements themselves check the
 * clock.
 */
function read(port: MessagePort, { path, collections, limitMs }: LongReaderData): void {
  const byName = new Map(collections.map((each) => [each.name, each]));
  let opened: { readonly database: DatabaseSync; readonly reader: SQLiteReader } | null = null;
  let due = 0;
  let stepEnds = 0;

  function open(): SQLiteReader {
    if (opened !== null) return opened.reader;
    const database = connectReadOnly(path);
    database.function("latchkey_in_time", () => {
      const now = performance.now();
      if (now > due) throw new Overdue();
      if (now > stepEnds) {
        pauseThread(pauseMs);
        stepEnds = performance.now() + stepMs;
      }
      return 1;
    });
    let lastVersion = 0;
    const reader = createReader({ database, ready: () => {}, version: () => ++lastVersion, getTable: getTimedTable });
    opened = { database, reader };
    return reader;
  }

  function find(name: string): Collection {
    const collection = byName.get(name);
    if (collection === undefined) throw unopened(name);
    return collection;
  }

  function answer(request: LongRead): unknown {
    const reader = open();
    const collection = find(request.collection);
    const { where: named } = request.query;
    const where = named === null ? null : replaceCollections(named, (each) => find(each.name));
    const now = performance.now();
    due = now + limitMs;
    stepEnds = now + stepMs;
    return readWith(reader, request, { collection, where });
  }

  /** Answers from one state of the database: a list with conditions on other rows is read by several statements. */
  function inOneState(request: LongRead): unknown {
    const { where } = request.query;
    if (where === null || !hasAmong(where)) return answer(request);
    open();
    const { database } = opened!;
    database.exec("BEGIN");
    try {
      return answer(request);
    } finally {
      // Some errors have ended the transaction already.
      if (database.isTransaction) database.exec("COMMIT");
    }
  }

  port.on("message", (request: LongRead) => {
    try {
      port.postMessage({ kind: "given", result: inOneState(request) } satisfies FromLongReader);
    } catch (error) {
      if (error instanceof Overdue) return port.postMessage({ kind: "overdue" } satisfies FromLongReader);
      // The connection may be broken. The next read opens a new one.
      close();
      port.postMessage({ kind: "failed", failure: toFailure(error) } satisfies FromLongReader);
    }
  });

  function close(): void {
    try {
      opened?.database.close();
    } catch {
      // The connection is no longer used, even if it cannot be closed.
    }
    opened = null;
  }
}

/** Makes one read. `found` has its collection, and its condition with the collections in it. */
function readWith(
  reader: SQLiteReader,
  { method, query }: LongRead,
  found: { readonly collection: Collection; readonly where: Where | null },
): unknown {
  switch (method) {
    case "list":
      // Sent as text, because a posted object would lose numbers that a double cannot hold (`ExactNumber`).
      return JSON.stringify(reader.list({ ...query, ...found }));
    case "listJSON": {
      // `first` and `last` may be getters of a class, and `postMessage` copies only own properties.
      const { json, count, more, first, last } = reader.listJSON({ ...query, ...found });
      return { json, count, more, first, last } satisfies ListText;
    }
    case "listRelated":
      return reader.listRelated({ ...query, ...found });
    case "count":
      return reader.count(found.collection, found.where);
  }
}

if (parentPort !== null) {
  // Lowers the priority of this thread, so that short reads do not wait for long ones.
  lowerPriority(19);
  read(parentPort, workerData as LongReaderData);
}
