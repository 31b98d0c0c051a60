import type { DatabaseSync } from "node:sqlite";
import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from "node:worker_threads";
import type { Collection } from "../store.ts";
import { connect } from "./connection.ts";
import type { NamedTransaction, Result } from "./named.ts";
import { committerOf, type Committer } from "./transactions.ts";

/** What the writer thread is started with. */
export interface WriterData {
  readonly path: string;
  readonly collections: readonly Collection[];
}

/** What it is sent: transactions as JSON, or null when there will be no more. */
export type ToWriter = string | null;

/** What it sends back, in the order in which the transactions came: results as JSON, or why none of so many has happened. */
export type FromWriter = { readonly results: string } | { readonly failed: string; readonly count: number };

/** A group that grows beyond this many transactions would keep the first of them waiting. */
const largestGroup = 1000;

/** The thread that writes. It takes whatever has gathered while the disk was busy and commits that as one group. */
function write(port: MessagePort, { path, collections }: WriterData): void {
  let database: DatabaseSync | null = null;
  let committer: Committer | null = null;

  port.on("message", (first: ToWriter) => {
    const { group, last } = gather(port, first);
    if (group.length > 0) port.postMessage(commit(group));
    if (last) {
      database?.close();
      port.close();
    }
  });

  function commit(group: readonly NamedTransaction[]): FromWriter {
    try {
      if (committer === null) {
        database = connect(path);
        committer = committerOf(database, collections);
      }
      const results: Result[] = committer.commit(group);
      return { results: JSON.stringify(results) };
    } catch (error) {
      // Whatever is wrong with the connection, the next group gets a new one.
      disconnect();
      return { failed: error instanceof Error ? error.message : String(error), count: group.length };
    }
  }

  function disconnect(): void {
    try {
      database?.close();
    } catch {
      // It is given up either way.
    }
    database = committer = null;
  }
}

function gather(port: MessagePort, first: ToWriter): { group: NamedTransaction[]; last: boolean } {
  const group: NamedTransaction[] = [];
  for (let message: ToWriter | undefined = first; message !== undefined;) {
    if (message === null) return { group, last: true };
    group.push(...(JSON.parse(message) as NamedTransaction[]));
    if (group.length >= largestGroup) break;
    message = receiveMessageOnPort(port)?.message as ToWriter | undefined;
  }
  return { group, last: false };
}

if (parentPort !== null) write(parentPort, workerData as WriterData);
