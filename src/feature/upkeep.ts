import { setTimeout as wait } from "node:timers/promises";
import { atOnce } from "../core/checking/at-once.ts";
import {
  aFunction,
  aWholeNumber,
  isObject,
  membersMistakes,
  shown,
  sortOf,
  type Check,
} from "../core/checking/members.ts";
import type { Observer } from "../core/observation.ts";
import { rangedColumn } from "../store/served.ts";
import type { Change, Store } from "../store/store.ts";
import type { Upkeep } from "./feature.ts";
import { toldOnce } from "./observers.ts";
import { LONGEST_PAUSE_MS, pauseMs, portionSize } from "./portions.ts";

const TICK_MS = 1000;

const members: Readonly<Record<keyof Upkeep, Check>> = {
  everySeconds: (value) =>
    aWholeNumber(value) === null && (value as number) >= 1 ? null : "it has to be a whole number from 1",
  due: aFunction,
};

/** What is wrong with the upkeep of a feature, with the cure. */
export function upkeepMistakes(upkeep: unknown): readonly string[] {
  if (upkeep === undefined) return [];
  if (!Array.isArray(upkeep))
    return [`upkeep is ${shown(upkeep)}; it has to be a list: upkeep: [{ everySeconds, due }]`];
  return upkeep.flatMap((each: unknown, at) => {
    const found = isObject(each) ? membersMistakes(each, members) : [`it is ${shown(each)}, and no object`];
    return found.map((mistake) => `upkeep[${at}]: ${mistake}`);
  });
}

/** Upkeep, and the name of the feature that it is of. */
export interface NamedUpkeep extends Upkeep {
  readonly feature?: string;
}

/** Runs all upkeep of a service on one timer. Returns what stops it. */
export function startUpkeep(
  upkeep: readonly NamedUpkeep[],
  { store, observe, now }: { readonly store: Store; readonly observe: Observer | null; readonly now: () => number },
): () => void {
  if (upkeep.length === 0) return () => undefined;
  const stopped = new AbortController();
  const all = upkeep.map((each) => {
    const whose = each.feature === undefined ? "" : `feature ${each.feature}: `;
    const message = `${whose}What has run out could not be erased; it will be tried again.`;
    const telling = toldOnce((error) => observe?.({ kind: "notice", level: "error", message, error }));
    return { ...each, telling, dueIn: 0, isRunning: false };
  });
  const eraseDue = async ({ due }: Upkeep): Promise<void> => erase(store, changesOf(due(now())), stopped.signal);
  const timer = setInterval(() => {
    for (const each of all) {
      each.dueIn--;
      // Where much has run out a round takes longer than a tick. The others go on meanwhile, and this one stays due.
      if (each.dueIn >= 0 || each.isRunning) continue;
      each.dueIn = each.everySeconds - 1;
      each.isRunning = true;
      eraseDue(each)
        .then(each.telling.well)
        .catch((error: unknown) => {
          if (!stopped.signal.aborted) each.telling.failed(error);
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

/** The changes that `due` gave. Throws a TypeError if it gave no list. */
export function changesOf(due: unknown): readonly Change[] {
  const given = atOnce(due, "due");
  if (Array.isArray(given)) return given as readonly Change[];
  throw new TypeError(`due gave ${sortOf(given)}; it has to give a list of changes, which may be empty`);
}

/** A change that is about all rows that match. */
type Erasing = Extract<Change, { readonly kind: "deleteAll" | "updateAll" }>;

/** What is more than erasing is one transaction, as it was given. */
async function erase(store: Store, changes: readonly Change[], signal: AbortSignal): Promise<void> {
  const erasing = changes.filter(
    (change): change is Erasing => change.kind === "deleteAll" || change.kind === "updateAll",
  );
  if (erasing.length < changes.length) await store.write({ changes });
  else for (const change of erasing) await eraseInPortions(store, change, signal);
}

/** Writes only where something is due, so that a service nobody uses leaves the disk alone. */
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
    // What is gone stands in the indexes of PostgreSQL until they are vacuumed, and is not passed over again and again.
    if (ranged !== null) where = { all: [change.where, { column: ranged, operator: "gte", value: record[ranged]! }] };
    const start = performance.now();
    await store.write({ changes: [{ ...change, where, atMost: size.rows() }] });
    const tookMs = performance.now() - start;
    size.took(tookMs);
    // It was passed over: whoever holds it may do so for long.
    const isHeld = record["id"] === before;
    before = record["id"];
    await wait(isHeld ? LONGEST_PAUSE_MS : pauseMs(tookMs), undefined, { ref: false });
  }
}
