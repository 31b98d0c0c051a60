import { setTimeout as wait } from "node:timers/promises";
import { atOnce } from "../core/checking/at-once.ts";
import {
  aFunction,
  aWholeNumber,
  isObject,
  membersMistakes,
  shown,
  describeType,
  type ValueCheck,
} from "../core/checking/members.ts";
import type { Observer } from "../core/observation.ts";
import { rangedColumn } from "../store/served.ts";
import type { Change, Store } from "../store/store.ts";
import { LONGEST_PAUSE_MS, pauseMs, portionSize } from "./batch-size.ts";
import type { Upkeep } from "./feature.ts";
import { makeFailureReporter } from "./observers.ts";

const TICK_MS = 1000;

const members: Readonly<Record<keyof Upkeep, ValueCheck>> = {
  everySeconds: (value) =>
    aWholeNumber(value) === null && (value as number) >= 1 ? null : "it has to be a whole number from 1",
  due: aFunction,
};

/** Returns the mistakes in the upkeep of a feature, with the fix. */
export function upkeepMistakes(upkeep: unknown): readonly string[] {
  if (upkeep === undefined) return [];
  if (!Array.isArray(upkeep))
    return [`upkeep is ${shown(upkeep)}; it has to be a list: upkeep: [{ everySeconds, due }]`];
  return upkeep.flatMap((each: unknown, at) => {
    const found = isObject(each) ? membersMistakes(each, members) : [`it is ${shown(each)}, not an object`];
    return found.map((mistake) => `upkeep[${at}]: ${mistake}`);
  });
}

/** An upkeep with the name of its feature. */
export interface NamedUpkeep extends Upkeep {
  readonly feature?: string;
}

/** Runs all upkeep of a service on one timer. Returns a function that stops the upkeep. */
export function startUpkeep(
  upkeep: readonly NamedUpkeep[],
  { store, observe, now }: { readonly store: Store; readonly observe: Observer | null; readonly now: () => number },
): () => void {
  if (upkeep.length === 0) return () => undefined;
  const stopped = new AbortController();
  const all = upkeep.map((each) => {
    const whose = each.feature === undefined ? "" : `feature ${each.feature}: `;
    const message = `${whose}Expired rows could not be deleted; the upkeep tries again.`;
    const failures = makeFailureReporter((error) => observe?.({ kind: "notice", level: "error", message, error }));
    return { ...each, failures, dueIn: 0, isRunning: false };
  });
  const eraseDue = async ({ due }: Upkeep): Promise<void> =>
    erase(store, requireChangeList(due(now())), stopped.signal);
  const timer = setInterval(() => {
    for (const each of all) {
      each.dueIn--;
      // If much data has expired, a run takes longer than a tick. This upkeep then stays due until its run ends. The
      // upkeep of other features continues.
      if (each.dueIn >= 0 || each.isRunning) continue;
      each.dueIn = each.everySeconds - 1;
      each.isRunning = true;
      eraseDue(each)
        .then(each.failures.well)
        .catch((error: unknown) => {
          if (!stopped.signal.aborted) each.failures.failed(error);
        })
        .finally(() => (each.isRunning = false));
    }
  }, TICK_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    stopped.abort();
  };
}

/** Returns the changes of `due`. Throws a TypeError if it returned no list. */
export function requireChangeList(due: unknown): readonly Change[] {
  const result = atOnce(due, "due");
  if (Array.isArray(result)) return result as readonly Change[];
  throw new TypeError(`due gave ${describeType(result)}; it has to give a list of changes, which may be empty`);
}

/** A change of all matching rows. */
type Erasing = Extract<Change, { readonly kind: "deleteAll" | "updateAll" }>;

/** Deletes expired data. If one of the changes is of another kind, all changes are one transaction. */
async function erase(store: Store, changes: readonly Change[], signal: AbortSignal): Promise<void> {
  const erasing = changes.filter(
    (change): change is Erasing => change.kind === "deleteAll" || change.kind === "updateAll",
  );
  if (erasing.length < changes.length) await store.write({ changes });
  else for (const change of erasing) await eraseInPortions(store, change, signal);
}

/** Erases rows in portions. Writes only if something is due, so an idle service does not use the disk. */
async function eraseInPortions(store: Store, change: Erasing, signal: AbortSignal): Promise<void> {
  const { collection } = change;
  const ranged = rangedColumn(collection, change.where);
  const sort = ranged === null ? [] : [{ column: ranged }];
  const size = portionSize();
  let { where } = change;
  let before: unknown = null;
  while (!signal.aborted) {
    const [first] = await store.list({ collection, where, sort, limit: 1 });
    if (first === undefined) return;
    const { record } = first;
    // The next search starts at the value of this row. PostgreSQL keeps deleted rows in its indexes until a vacuum, and
    // each search would otherwise read all of them again.
    if (ranged !== null) where = { all: [change.where, { column: ranged, operator: "gte", value: record[ranged]! }] };
    const start = performance.now();
    await store.write({ changes: [{ ...change, where, atMost: size.rows() }] });
    const tookMs = performance.now() - start;
    size.took(tookMs);
    // The search found the same row again: the write skipped it, because another transaction has locked it, perhaps for
    // long.
    const isLocked = record["id"] === before;
    before = record["id"];
    await wait(isLocked ? LONGEST_PAUSE_MS : pauseMs(tookMs), undefined, { ref: false });
  }
}
