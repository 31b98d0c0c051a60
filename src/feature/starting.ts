import type { Observer } from "../core/observation.ts";
import type { Store } from "../store/store.ts";
import type { Composition, SetUp } from "./composition.ts";
import { wrapFailure } from "./failure.ts";

/** The time after which a slow start of a feature is reported, in seconds. */
const SLOW_START_SECONDS = 10;

/**
 * The maximum time for a feature to stop, in seconds. A longer wait saves no data: all acknowledged writes are already
 * on the disk.
 */
const MOST_STOP_SECONDS = 5;

/**
 * Starts the features, each after those that it needs. Returns a function that stops them in reverse order and closes
 * the store. An error is reported with the feature's name.
 */
export async function startFeatures(
  { inOrder }: Composition,
  { store, observe }: { readonly store: Store; readonly observe: Observer | null },
): Promise<() => Promise<void>> {
  const started: SetUp[] = [];
  const stop = async (): Promise<void> => {
    const failures: unknown[] = [];
    for (let each = started.pop(); each !== undefined; each = started.pop()) {
      try {
        await stopInTime(each);
      } catch (error) {
        failures.push(wrapFailure(each.feature, "stop", error));
      }
    }
    await store.close();
    if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures);
  };
  try {
    for (const each of inOrder) {
      try {
        await startSlowly(each, observe);
      } catch (error) {
        throw wrapFailure(each.feature, "start", error);
      }
      started.push(each);
    }
    return stop;
  } catch (error) {
    // Only the error of the start is reported. An error of the stop is a consequence of it.
    await stop().catch(() => undefined);
    throw error;
  }
}

/** Waits without a limit, because the feature may wait for another system. Reports a slow start. */
async function startSlowly({ feature: { name }, parts }: SetUp, observe: Observer | null): Promise<void> {
  const message = `feature ${name}: start has not finished after ${SLOW_START_SECONDS} s. No request is answered until it has.`;
  const timer = setTimeout(() => observe?.({ kind: "notice", level: "error", message }), SLOW_START_SECONDS * 1000);
  try {
    await parts.start?.();
  } finally {
    clearTimeout(timer);
  }
}

async function stopInTime({ parts }: SetUp): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const rejectLate = (): void =>
      reject(new Error(`it has not finished after ${MOST_STOP_SECONDS} s; the stop does not wait for it`));
    timer = setTimeout(rejectLate, MOST_STOP_SECONDS * 1000);
  });
  try {
    await Promise.race([parts.stop?.(), late]);
  } finally {
    clearTimeout(timer);
  }
}
