import type { DatabaseSync } from "node:sqlite";
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import type { Collection, ListQuery, ListText, RelatedQuery, Where } from "../../store.ts";
import { connectReadOnly } from "../connection.ts";
import { timedTableOf } from "../dialect.ts";
import { failureOf, type Failure } from "../errors.ts";
import { giveWay, pauseThread } from "../thread.ts";
import { readerOf, type Reader } from "./reader.ts";

/** What a reader thread is started with. */
export interface LongReaderData {
  readonly path: string;
  readonly collections: readonly Collection[];
  readonly limitMs: number;
}

/** What may take long, and what each is asked. */
export interface LongReadings {
  readonly list: ListQuery;
  readonly listJSON: ListQuery;
  readonly listRelated: RelatedQuery;
  readonly count: { readonly collection: Collection; readonly where: Where | null };
}

/** One read; the collection goes by its name. */
export type LongRead = {
  readonly [M in keyof LongReadings]: {
    readonly method: M;
    readonly collection: string;
    readonly asked: Omit<LongReadings[M], "collection">;
  };
}[keyof LongReadings];

/** What became of it. */
export type FromLongReader =
  | { readonly kind: "given"; readonly given: unknown }
  | { readonly kind: "overdue" }
  | { readonly kind: "failed"; readonly failure: Failure };

class Overdue extends Error {}

/**
 * How long a statement runs before it lets others have the processor, in milliseconds. Linux (EEVDF) lets even a thread of the lowest priority finish
 * its slice, some 1.4 ms on two cores, before it wakes the one that answers; whoever sleeps has no slice to finish.
 */
const stepMs = 0.5;
/** How long it sleeps then; Linux makes some 0.1 of it. */
const pauseMs = 0.05;

/** The thread that reads what may take long: SQLite cannot be interrupted, so the statements themselves look at the clock. */
function read(port: MessagePort, { path, collections, limitMs }: LongReaderData): void {
  const byName = new Map(collections.map((each) => [each.name, each]));
  let opened: { readonly database: DatabaseSync; readonly reader: Reader } | null = null;
  let due = 0;
  let stepEnds = 0;

  function open(): Reader {
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
    let asked = 0;
    const reader = readerOf({ database, ready: () => {}, version: () => ++asked, tableOf: timedTableOf });
    opened = { database, reader };
    return reader;
  }

  function answer({ method, collection: name, asked }: LongRead): unknown {
    const reader = open();
    const collection = byName.get(name)!;
    const now = performance.now();
    due = now + limitMs;
    stepEnds = now + stepMs;
    switch (method) {
      case "list":
        // A message would make other objects of the numbers that no double holds.
        return JSON.stringify(reader.list({ ...asked, collection }));
      case "listJSON": {
        // A message takes along what an object has itself.
        const { json, count, more, first, last } = reader.listJSON({ ...asked, collection });
        return { json, count, more, first, last } satisfies ListText;
      }
      case "listRelated":
        return reader.listRelated({ ...asked, collection });
      case "count":
        return reader.count(collection, asked.where);
    }
  }

  port.on("message", (asked: LongRead) => {
    try {
      port.postMessage({ kind: "given", given: answer(asked) } satisfies FromLongReader);
    } catch (error) {
      if (error instanceof Overdue) return port.postMessage({ kind: "overdue" } satisfies FromLongReader);
      // Whatever is wrong with the connection, the next read gets a new one.
      close();
      port.postMessage({ kind: "failed", failure: failureOf(error) } satisfies FromLongReader);
    }
  });

  function close(): void {
    try {
      opened?.database.close();
    } catch {
      // It is given up either way.
    }
    opened = null;
  }
}

if (parentPort !== null) {
  // Whoever reads little does not wait for whoever reads much.
  giveWay(19);
  read(parentPort, workerData as LongReaderData);
}
