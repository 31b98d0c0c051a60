import { DeclarationError } from "../../core/checking/declaration-error.ts";
import {
  aFunction,
  isObject,
  isText,
  matching,
  membersMistakes,
  optional,
  shown,
} from "../../core/checking/members.ts";
import { shownName } from "../../core/checking/nearest.ts";
import type { ChecksOf } from "../../core/checking/options.ts";
import { storedOf } from "../../http/declarations/table.ts";
import type { JSONValue } from "../../store/store.ts";
import type { Job, Queue, Worker } from "./contract.ts";
import { mountedEvents, type EventRow } from "./events.ts";

// Jobs: work that a feature queues in a transaction. A worker does it afterwards, as soon as possible or at a chosen
// time.

const { collection } = mountedEvents;

/** Lower-case words joined by hyphens. */
export const aName = matching(
  /^(?=.{1,100}$)[a-z][a-z0-9]*(-[a-z0-9]+)*$/,
  "it has to be lower-case words joined by hyphens, like search-index",
);

const checks: ChecksOf<Worker> = {
  name: aName,
  yieldsAfterSeconds: optional((value) =>
    typeof value === "number" && value > 0 && value <= 300 ? null : "it has to be a number of seconds up to 300",
  ),
  run: aFunction,
};

/** Throws `DeclarationError` if a worker is invalid or its name is taken. */
export function requireWorker(worker: unknown, others: readonly { readonly name: string }[]): void {
  if (!isObject(worker)) throw new DeclarationError([`the worker is ${shown(worker)}; it has to be an object`]);
  const { name } = worker;
  const place = isText(name) ? `the worker ${shownName(name)}` : "the worker";
  const mistakes = membersMistakes(worker, checks);
  if (others.some((other) => other.name === name)) mistakes.push("the name is there twice; rename one");
  if (mistakes.length > 0) throw new DeclarationError(mistakes.map((mistake) => `${place}: ${mistake}`));
}

/** Returns the function that queues jobs of a worker. It calls `soon` for jobs that are due at once. */
export function createQueue(name: string, soon: () => void): Queue<JSONValue> {
  return (about, { now, dueAt = now }) => {
    const planned = dueAt > now;
    if (!planned) soon();
    const values = {
      receiver: name,
      subscriber: "",
      resource: "",
      record: null,
      record_uuid: null,
      kind: "job",
      action: null,
      deleted_with: null,
      about,
      planned,
      unconfirmed: false,
      at: new Date(now).toISOString(),
      attempts: 0,
      due_at: new Date(planned ? dueAt : now).toISOString(),
      failed: false,
      error: null,
      cause: {},
    };
    return [{ kind: "insert", collection, values }];
  };
}

/** Returns the job of a row. */
export function readJob(row: EventRow): Job {
  const { id, about, at, attempts } = storedOf(row);
  return { id, about, at, attempt: attempts + 1 };
}
