import { createHmac, hash, hkdfSync, timingSafeEqual } from "node:crypto";
import { inspect } from "node:util";
import { unseen } from "../checking/members.ts";
import { made, otherCopyMistake } from "../copy.ts";

/**
 * A value that must not be seen. Every way to print it shows `[secret]`.
 *
 * @example
 * ```ts
 * import { Secret } from "latchkey";
 *
 * const secret = new Secret(process.env["SECRET"]!);
 * console.log(secret); // [secret]
 * console.log(secret.equals("a guess"));
 * ```
 */
export class Secret {
  static {
    made(this.prototype);
  }

  readonly #bytes: Buffer;
  readonly #older: readonly Secret[];

  /** `older` are the earlier secrets, the newest first. Values that were made with them stay valid. */
  constructor(value: string | Uint8Array, older: readonly Secret[] = []) {
    const input: unknown = value;
    if (typeof input !== "string" && !(input instanceof Uint8Array))
      throw new TypeError(
        `A secret is a text or bytes; this one is ${input === undefined ? "missing" : `of type ${typeof input}`}.`,
      );
    this.#bytes = Buffer.from(value as string);
    this.#older = older;
  }

  /** Returns true if `other` equals the secret. The duration of the comparison reveals neither content nor length. */
  equals(other: string | Uint8Array): boolean {
    return timingSafeEqual(digest(this.#bytes), digest(other));
  }

  /**
   * Derives a key for one purpose. Keys for different purposes reveal nothing about each other (HKDF-SHA-256, RFC
   * 5869).
   */
  derive(purpose: string, bytes = 32): Buffer {
    return Buffer.from(hkdfSync("sha256", this.#bytes, "latchkey", purpose, bytes));
  }

  /**
   * Derives the key for one purpose from this secret and from each older one. The first key is for new values. All keys
   * verify existing values. Never empty.
   */
  deriveEach(purpose: string): readonly Buffer[] {
    return [this, ...this.#older].map((each) => each.derive(purpose));
  }

  /**
   * Derives the key for one purpose from the oldest secret, for stored values that do not record which secret made
   * them. The key stays the same when a new secret is added.
   */
  deriveOldest(purpose: string): Buffer {
    return this.deriveEach(purpose).at(-1)!;
  }

  /**
   * The number of bytes of the shortest secret, including the older secrets, because a signature with any of them is
   * accepted.
   */
  get leastBytes(): number {
    return Math.min(this.#bytes.length, ...this.#older.map(({ leastBytes }) => leastBytes));
  }

  /** Returns the bytes. The caller is responsible for them. */
  reveal(): Buffer {
    return this.#bytes;
  }

  toString(): string {
    return "[secret]";
  }

  toJSON(): string {
    return "[secret]";
  }

  [inspect.custom](): string {
    return "[secret]";
  }
}

/**
 * The minimum length of a service's secret, in bytes. A signature is only as strong as the cost to guess its secret
 * (NIST SP 800-107).
 */
const LEAST_BYTES = 32;

/** Checks an option that must be a secret. */
export const aSecret = unseen((value) =>
  value instanceof Secret ? null : (otherCopyMistake(value) ?? "it has to be a secret: new Secret(…)"),
);

/** Returns the mistakes in the secret of a service, with the fix. */
export function secretMistakes(secret: unknown): readonly string[] {
  if (secret === undefined) return [];
  if (!(secret instanceof Secret))
    return [otherCopyMistake(secret) ?? "secret is not a Secret; write secret: new Secret(…)"];
  if (secret.leastBytes >= LEAST_BYTES) return [];
  return [
    `the secret has fewer than ${LEAST_BYTES} bytes, so it could be guessed; make one with: openssl rand -base64 48`,
  ];
}

/** Computes HMAC-SHA-256. */
export function hmac(key: Uint8Array, data: string | Uint8Array): Buffer {
  return createHmac("sha256", key).update(data).digest();
}

/**
 * Returns a function that computes HMAC-SHA-256 with one key, for signatures in every request. The result is a text
 * with one character for each byte. The function computes two digests (RFC 2104), because the object of `createHmac`
 * takes more time than both digests, and also slows down garbage collection.
 */
export function signing(key: Uint8Array): (data: string) => string {
  const outer = padded(key, 0x5c, DIGEST_BYTES);
  const inner = padded(key, 0x36, USUAL_BYTES);
  return (data) => {
    // A UTF-16 code unit has at most three bytes in UTF-8.
    const most = BLOCK_BYTES + 3 * data.length;
    const bytes = most <= inner.length ? inner : padded(key, 0x36, 3 * data.length);
    const length = BLOCK_BYTES + bytes.write(data, BLOCK_BYTES);
    outer.write(hash("sha256", bytes.subarray(0, length), "latin1"), BLOCK_BYTES, "latin1");
    return hash("sha256", outer, "latin1");
  };
}

/** The block size and the output size of SHA-256, in bytes. */
const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
/** Longer data gets a separate buffer. */
const USUAL_BYTES = 4096;

/** Returns the key, padded with zeros to a block and combined with `byte`, and room for the data. */
function padded(key: Uint8Array, byte: number, room: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES + room);
  block.set(key.length > BLOCK_BYTES ? digest(key) : key);
  for (let at = 0; at < BLOCK_BYTES; at++) block[at]! ^= byte;
  return block;
}

/** Computes SHA-256. */
export function digest(data: string | Uint8Array): Buffer {
  return hash("sha256", data, "buffer");
}

/** Returns true if two byte strings are the same, in constant time. Different lengths return at once. */
export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
