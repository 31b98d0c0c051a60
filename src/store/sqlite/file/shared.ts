/** What the threads of a process tell each other of a database that they have open. */
export interface Shared {
  /** That somebody has overwritten it; null where none of them has found that. */
  readonly overwritten: Error | null;
  /** Tells the others why nothing of it is to be believed any more. */
  tell(overwritten: Error): void;
  /** How many pages of the log with these salts were found in their places; 0 where none of them has looked at it yet. */
  pagesSeen(salts: string): number;
  havingSeen(salts: string, pages: number): void;
}

/** The length of the text, then which pages were seen, then the text. */
const seenAt = 8;
const textAt = 16;
const textBytes = 32_752;

const nothing = 0;
const beingTold = -1;

/** What is shared before anybody has looked. */
export function makeShared(): SharedArrayBuffer {
  return new SharedArrayBuffer(textAt + textBytes);
}

/** What is in the memory that all threads were started with: so all of them know at once what one has found. */
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
      // Whoever comes first is believed.
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

/** The first of the salts counts how often the log has begun anew. Both stand in one number with the pages, so that nobody finds those of another log. */
function logNumberOf(salts: string): bigint {
  return BigInt.asIntN(32, BigInt(`0x${salts.slice(0, 8)}`));
}
