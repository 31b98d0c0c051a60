/** How long one task may delay the next tasks in its queue, in milliseconds. */
const MOST_DELAY_MS = 2000;

/**
 * Runs the tasks for the same record one after another, within this process. Tasks for different records run at the
 * same time.
 */
export class Lines {
  /** The promise of the last task of each queue. */
  readonly #ends = new Map<string, Promise<void>>();

  has(record: string): boolean {
    return this.#ends.has(record);
  }

  /**
   * Runs the task after the earlier tasks of the record. Waits for each earlier task for at most `MOST_DELAY_MS` after
   * the start of that task.
   */
  async runAfterEarlier<T>(record: string, act: () => Promise<T>): Promise<T> {
    const ahead = this.#ends.get(record);
    const { promise: end, resolve: goOn } = Promise.withResolvers<void>();
    this.#ends.set(record, end);
    await ahead;
    // The time starts when the task starts. Otherwise all tasks behind a stuck task would start together after the
    // limit, and most of them would fail.
    const timer = setTimeout(goOn, MOST_DELAY_MS);
    try {
      return await act();
    } finally {
      clearTimeout(timer);
      goOn();
      if (this.#ends.get(record) === end) this.#ends.delete(record);
    }
  }
}
