/** So long one in a line may keep those behind waiting, in milliseconds: what is slow there is none of theirs. */
const PATIENCE_MS = 2000;

/** Who does something about a record after whom, in this process. */
export class Lines {
  /** When those behind the last of each line may go. */
  readonly #ends = new Map<string, Promise<void>>();

  has(record: string): boolean {
    return this.#ends.has(record);
  }

  /** Waits for those ahead, and does it. */
  async behind<T>(record: string, act: () => Promise<T>): Promise<T> {
    const ahead = this.#ends.get(record);
    const { promise: end, resolve: goOn } = Promise.withResolvers<void>();
    this.#ends.set(record, end);
    await ahead;
    // Only from here: many who wait for one that is stuck would else all go at once, and most of them in vain.
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
