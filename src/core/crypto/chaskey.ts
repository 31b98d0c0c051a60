/** Four words of 32 bits. */
export type Words = readonly [number, number, number, number];

/**
 * Chaskey-12 (ISO/IEC 29192-6), a MAC with a key of 128 bits, for messages whose length is a multiple of 16 bytes. It
 * is implemented here, because every read of a record computes a MAC: a block takes about 20 ns here, but a call into
 * OpenSSL takes a microsecond.
 */
export class Chaskey {
  readonly #key: Words;
  /** The key for a message with a complete last block. */
  readonly #closing: Words;
  readonly #state = new Int32Array(4);

  constructor(key: Words) {
    this.#key = key;
    this.#closing = doubled(key);
  }

  /** Starts a message. */
  begin(): void {
    const [a, b, c, d] = this.#key;
    this.#state[0] = a;
    this.#state[1] = b;
    this.#state[2] = c;
    this.#state[3] = d;
  }

  /** Adds a block that is not the last one. */
  add(a: number, b: number, c: number, d: number): void {
    mix(this.#state, a, b, c, d);
    permute(this.#state);
  }

  /**
   * Adds the last block and returns the MAC. The result is always the same array, and the next message overwrites it.
   */
  end(a: number, b: number, c: number, d: number): Int32Array {
    const [w, x, y, z] = this.#closing;
    mix(this.#state, a ^ w, b ^ x, c ^ y, d ^ z);
    permute(this.#state);
    mix(this.#state, w, x, y, z);
    return this.#state;
  }
}

function mix(state: Int32Array, a: number, b: number, c: number, d: number): void {
  state[0]! ^= a;
  state[1]! ^= b;
  state[2]! ^= c;
  state[3]! ^= d;
}

function permute(state: Int32Array): void {
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  for (let round = 0; round < 12; round++) {
    a = (a + b) | 0;
    c = (c + d) | 0;
    b = rotated(b, 5) ^ a;
    d = rotated(d, 8) ^ c;
    a = (rotated(a, 16) + d) | 0;
    c = (c + b) | 0;
    b = rotated(b, 7) ^ c;
    d = rotated(d, 13) ^ a;
    c = rotated(c, 16);
  }
  state[0] = a;
  state[1] = b;
  state[2] = c;
  state[3] = d;
}

function rotated(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

/** Returns the key times two in GF(2^128), as in CMAC. */
function doubled([a, b, c, d]: Words): Words {
  const shifted = (word: number, below: number): number => (word << 1) | (below >>> 31);
  return [shifted(a, 0) ^ (d >>> 31 === 1 ? 0x87 : 0), shifted(b, a), shifted(c, b), shifted(d, c)];
}
