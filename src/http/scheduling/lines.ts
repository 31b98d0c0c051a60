/** How long one task in a queue may delay the next ones, in milliseconds. Others should not suffer from a slow task. */
const PATIENCE_MS = 2000;

/** Runs the tasks for each record in turn, within this process. */
export class Lines {
  /** The promises that end the last task of each queue. */
  readonly #ends = new Map<string, Promise<void>>();

  has(record: string): boolean {
    return this.#ends.has(record);
  }

  /** Waits for the earlier tasks, then acts. */
  async behind<T>(record: string, act: () => Promise<T>): Promise<T> {
    const ahead = this.#ends.get(record);
    const { promise: end, resolve: goOn } = Promise.withResolvers<void>();
    this.#ends.set(record, end);
    await ahead;
    // The time starts here. Otherwise all tasks that wait for a stuck one would start together, and most of them in
    // vain.
    const timer = setTimeout(goOn, PATIENCE_MS);
    try {
      return await act();
    } finally {
      clearTimeout(timer);
      goOn();
      if (this.#ends.get(record) === end) this.#ends.delete(record);
    }
  }
}
