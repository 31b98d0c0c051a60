import { StoreOutdated, StoreUnavailable, type Collection, type Outcome, type Transaction } from "../../store.ts";
import type { Semaphore } from "../semaphore.ts";
import { isLongWrite } from "./long.ts";

/** The functions that a write calls. */
export interface WritingParts {
  write(transaction: Transaction): Promise<Outcome>;
  readonly longWork: Semaphore;
  /**
   * Looks for columns whose types have changed. A read does not notice this if PostgreSQL sends both types in the same
   * way, for example dates and texts.
   */
  lookForTypes(): Promise<void>;
  /** Called after each write with the collections that have new rows. */
  written(added: readonly Collection[]): Promise<void>;
}

/** The writes of a store. */
export interface StoreWrites {
  write(transaction: Transaction): Promise<Outcome>;
  /** Refuses further writes, and waits for the active ones. */
  close(): Promise<void>;
}

/** Returns the writes of a store. A write of many changes waits for a permit. */
export function writingWith({ write, longWork, lookForTypes, written }: WritingParts): StoreWrites {
  const activeWrites = new Set<Promise<unknown>>();
  let isClosed = false;

  async function make(transaction: Transaction): Promise<Outcome> {
    const { changes } = transaction;
    try {
      const outcome = await (isLongWrite(transaction) ? longWork(() => write(transaction)) : write(transaction));
      const added = changes.flatMap(({ kind, collection }) => (kind === "insert" ? [collection] : []));
      await written(outcome.kind === "written" ? added : []);
      return outcome;
    } catch (error) {
      if (error instanceof StoreOutdated) await lookForTypes();
      throw error;
    }
  }

  return {
    async write(transaction) {
      if (isClosed) throw new StoreUnavailable("PostgreSQL: the store is closed");
      const making = make(transaction);
      activeWrites.add(making);
      try {
        return await making;
      } finally {
        activeWrites.delete(making);
      }
    },
    async close() {
      isClosed = true;
      await Promise.allSettled(activeWrites);
    },
  };
}
