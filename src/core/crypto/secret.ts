import { createHmac, hash, hkdfSync, timingSafeEqual } from "node:crypto";
import { inspect } from "node:util";
import { unseen } from "../checking/members.ts";
import { made, otherCopyMistake } from "../copy.ts";

/**
 * A value that must not be seen. However it is printed it reads `[secret]`.
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

  /** `older` are those that went before it, the newest first: what was made with them still holds. */
  constructor(value: string | Uint8Array, older: readonly Secret[] = []) {
    const given: unknown = value;
    if (typeof given !== "string" && !(given instanceof Uint8Array))
      throw new TypeError(
        `A secret is a text or bytes; what is given is ${given === undefined ? "missing" : `of type ${typeof given}`}.`,
      );
    this.#bytes = Buffer.from(value as string);
    this.#older = older;
  }

  /** Whether the other is the same, in a time that tells neither content nor length. */
  equals(other: string | Uint8Array): boolean {
    return timingSafeEqual(digest(this.#bytes), digest(other));
  }

  /** A key for one purpose. Different purposes give keys that tell nothing of each other (HKDF-SHA-256, RFC 5869). */
  derive(purpose: string, bytes = 32): Buffer {
    return Buffer.from(hkdfSync("sha256", this.#bytes, "latchkey", purpose, bytes));
  }

  /** The same of this secret, which makes what is new, and of each older one, which verifies what is there. Never empty. */
  deriveEach(purpose: string): readonly Buffer[] {
    return [this, ...this.#older].map((each) => each.derive(purpose));
  }

  /** The same of the oldest: for what is compared with what is stored and cannot be told apart. It stays when a new secret comes. */
  deriveOldest(purpose: string): Buffer {
    return this.deriveEach(purpose).at(-1)!;
  }

  /** How many bytes the shortest has of it and the older ones: whatever one of them signed is believed. */
  get leastBytes(): number {
    return Math.min(this.#bytes.length, ...this.#older.map(({ leastBytes }) => leastBytes));
  }

  /** The bytes themselves. Whoever calls this answers for where they go. */
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

/** What a service's secret is too short from, in bytes: what it signs is worth what it costs to guess it (NIST SP 800-107). */
const LEAST_BYTES = 32;

/** What is wrong with an option that has to be a secret; null where nothing is. */
export const aSecret = unseen((value) =>
  value instanceof Secret ? null : (otherCopyMistake(value) ?? "it has to be a secret: new Secret(…)"),
);

/** What is wrong with the secret of a service, with the cure. */
export function secretMistakes(secret: unknown): readonly string[] {
  if (secret === undefined) return [];
  if (!(secret instanceof Secret)) return [otherCopyMistake(secret) ?? "secret is none; write secret: new Secret(…)"];
  if (secret.leastBytes >= LEAST_BYTES) return [];
  return [
    `the secret has fewer than ${LEAST_BYTES} bytes, so that it could be guessed; make one with: openssl rand -base64 48`,
  ];
}

/** HMAC-SHA-256. */
export function hmac(key: Uint8Array, data: string | Uint8Array): Buffer {
  return createHmac("sha256", key).update(data).digest();
}

/**
 * HMAC-SHA-256 under one key, for what is signed in every request. The result is a text with a character for each byte. RFC 2104 by two digests,
 * since `createHmac` makes an object each time that costs more than the digests, and more again when it is collected.
 */
export function signing(key: Uint8Array): (data: string) => string {
  const outer = padded(key, 0x5c, DIGEST_BYTES);
  const inner = padded(key, 0x36, USUAL_BYTES);
  return (data) => {
    // No character of UTF-16 has more than three bytes in UTF-8.
    const most = BLOCK_BYTES + 3 * data.length;
    const bytes = most <= inner.length ? inner : padded(key, 0x36, 3 * data.length);
    const length = BLOCK_BYTES + bytes.write(data, BLOCK_BYTES);
    outer.write(hash("sha256", bytes.subarray(0, length), "latin1"), BLOCK_BYTES, "latin1");
    return hash("sha256", outer, "latin1");
  };
}

/** How many bytes SHA-256 takes at once, and how many it gives. */
const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
/** What is longer gets room of its own. */
const USUAL_BYTES = 4096;

/** The key, filled up to a block with zeros and altered by `byte`, and room for what is signed. */
function padded(key: Uint8Array, byte: number, room: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES + room);
  block.set(key.length > BLOCK_BYTES ? digest(key) : key);
  for (let at = 0; at < BLOCK_BYTES; at++) block[at]! ^= byte;
  return block;
}

/** SHA-256. */
export function digest(data: string | Uint8Array): Buffer {
  return hash("sha256", data, "buffer");
}

/** Whether two byte strings are the same, in constant time; different lengths are told apart at once. */
export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
