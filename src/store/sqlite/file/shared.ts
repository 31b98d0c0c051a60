/** The facts that the threads of a process share about an open database. */
export interface Shared {
  /** The error if a thread has found that the database was overwritten. Null otherwise. */
  readonly overwritten: Error | null;
  /** Shares the reason why the content can no longer be trusted. */
  tell(overwritten: Error): void;
  /** Returns how many pages of the log with these salts were checked. Returns 0 if no thread has checked it yet. */
  pagesSeen(salts: string): number;
  havingSeen(salts: string, pages: number): void;
}

/** The length of the text, then the checked pages, then the text. */
const seenAt = 8;
const textAt = 16;
const textBytes = 32_752;

const nothing = 0;
const beingTold = -1;

/** Creates the shared memory before the first check. */
export function makeShared(): SharedArrayBuffer {
  return new SharedArrayBuffer(textAt + textBytes);
}

/**
 * Reads the memory that all threads were started with, so that each of them knows immediately what another has found.
 */
export function sharedIn(memory: SharedArrayBuffer): Shared {
  const length = new Int32Array(memory, 0, 1);
  const seen = new BigInt64Array(memory, seenAt, 1);
  const text = new Uint8Array(memory, textAt);
  let overwritten: Error | null = null;

  return {
    get overwritten() {
      const bytes = overwritten === null ? Atomics.load(length, 0) : nothing;
      if (bytes > 0) overwritten = new Error(Buffer.from(text.subarray(0, bytes)).toString());
      return overwritten;
    },
    tell({ message }) {
      // The first report wins.
      if (Atomics.compareExchange(length, 0, nothing, beingTold) !== nothing) return;
      const bytes = Buffer.from(message).subarray(0, textBytes);
      text.set(bytes);
      Atomics.store(length, 0, bytes.length);
    },
    pagesSeen(salts) {
      const found = Atomics.load(seen, 0);
      return found >> 32n === logNumberOf(salts) ? Number(BigInt.asUintN(32, found)) : 0;
    },
    havingSeen: (salts, pages) => void Atomics.store(seen, 0, (logNumberOf(salts) << 32n) | BigInt(pages)),
  };
}

/**
 * Returns the first salt, which counts the restarts of the log. It is stored in one number with the pages, so that no
 * thread reads the pages of another log.
 */
function logNumberOf(salts: string): bigint {
  return BigInt.asIntN(32, BigInt(`0x${salts.slice(0, 8)}`));
}
