import type { Store } from "../store/store.ts";
import type { Composition, SetUp } from "./composition.ts";
import { failureOf } from "./failure.ts";

/** Starts them, each after those that it needs. Gives what stops them, the last first, and closes the store. What one throws is told with its name. */
export async function startFeatures({ inOrder }: Composition, store: Store): Promise<() => Promise<void>> {
  const started: SetUp[] = [];
  const stop = async (): Promise<void> => {
    const failures: unknown[] = [];
    for (let each = started.pop(); each !== undefined; each = started.pop()) {
      try {
        await each.parts.stop?.();
      } catch (error) {
        failures.push(failureOf(each.feature, "stop", error));
      }
    }
    await store.close();
    if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures);
  };
  try {
    for (const each of inOrder) {
      try {
        await each.parts.start?.();
      } catch (error) {
        throw failureOf(each.feature, "start", error);
      }
      started.push(each);
    }
    return stop;
  } catch (error) {
    // Why it does not start is what counts; what then fails to stop follows from it.
    await stop().catch(() => undefined);
    throw error;
  }
}
