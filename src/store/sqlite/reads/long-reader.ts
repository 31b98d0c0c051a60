import type { DatabaseSync } from "node:sqlite";
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import type { Collection, ListQuery, ListText, Row, Where, RelatedQuery, RelatedText } from "../../store.ts";
import { connectReadOnly } from "../connection.ts";
import { timedTableOf } from "../dialect.ts";
import { failureOf, type Failure } from "../errors.ts";
import { giveWay } from "../writes/give-way.ts";
import { readerOf, type Reader } from "./reader.ts";

/** What a reader thread is started with. */
export interface LongReaderData {
  readonly path: string;
  readonly collections: readonly Collection[];
  readonly limitMs: number;
}

/** One read; the collection goes by its name. */
export type LongRead =
  | ({ readonly kind: "list" | "page"; readonly collection: string } & Omit<ListQuery, "collection">)
  | ({ readonly kind: "related"; readonly collection: string } & Omit<RelatedQuery, "collection">)
  | { readonly kind: "count"; readonly collection: string; readonly where: Where | null };

/** What became of it. */
export type FromLongReader =
  | { readonly kind: "list"; readonly rows: readonly Row[] }
  | { readonly kind: "page"; readonly page: ListText }
  | { readonly kind: "related"; readonly related: readonly RelatedText[] | null }
  | { readonly kind: "count"; readonly count: number }
  | { readonly kind: "overdue" }
  | { readonly kind: "failed"; readonly failure: Failure };

class Overdue extends Error {}

/** The thread that reads what may take long: SQLite cannot be interrupted, so the statements themselves look at the clock. */
function read(port: MessagePort, { path, collections, limitMs }: LongReaderData): void {
  const byName = new Map(collections.map((each) => [each.name, each]));
  let opened: { readonly database: DatabaseSync; readonly reader: Reader } | null = null;
  let due = 0;

  function open(): Reader {
    if (opened !== null) return opened.reader;
    const database = connectReadOnly(path);
    database.function("latchkey_in_time", () => {
      if (performance.now() > due) throw new Overdue();
      return 1;
    });
    let asked = 0;
    const reader = readerOf({ database, ready: () => {}, version: () => ++asked, tableOf: timedTableOf });
    opened = { database, reader };
    return reader;
  }

  function answer({ collection: name, ...asked }: LongRead): FromLongReader {
    const reader = open();
    const collection = byName.get(name)!;
    due = performance.now() + limitMs;
    if (asked.kind === "count") return { kind: "count", count: reader.count(collection, asked.where) };
    if (asked.kind === "related") return { kind: "related", related: reader.listRelated({ ...asked, collection }) };
    if (asked.kind === "list") return { kind: "list", rows: reader.list({ ...asked, collection }) };
    const { json, count, more, first, last } = reader.listJSON({ ...asked, collection });
    return { kind: "page", page: { json, count, more, first, last } };
  }

  port.on("message", (asked: LongRead) => {
    try {
      port.postMessage(answer(asked) satisfies FromLongReader);
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
