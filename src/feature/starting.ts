import type { Store } from "../store/store.ts";
import type { Composition } from "./composition.ts";
import type { Parts } from "./feature.ts";

/** Starts them, each after those that it needs. Gives what stops them, the last first, and closes the store. */
export async function startFeatures({ inOrder }: Composition, store: Store): Promise<() => Promise<void>> {
  const started: Parts[] = [];
  const stop = async (): Promise<void> => {
    const failures: unknown[] = [];
    for (let parts = started.pop(); parts !== undefined; parts = started.pop()) {
      try {
        await parts.stop?.();
      } catch (error) {
        failures.push(error);
      }
    }
    await store.close();
    if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures);
  };
  try {
    for (const { parts } of inOrder) {
      await parts.start?.();
      started.push(parts);
    }
    return stop;
  } catch (error) {
    // Why it does not start is what counts; what then fails to stop follows from it.
    await stop().catch(() => undefined);
    throw error;
  }
}
