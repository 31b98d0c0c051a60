import { isUint8Array } from "node:util/types";
import type { Weigh } from "../../core/call/call.ts";
import { describeType } from "../../core/checking/members.ts";
import { problem } from "../../core/problem/problem.ts";

/**
 * A body that is arriving. Its pieces are copied into one buffer, because a client may send single octets, and keeping
 * each piece would take a hundred times the memory.
 */
export class CollectedBody {
  readonly #maxBytes: number;
  /** The maximum final length. */
  readonly #endsAt: number;
  readonly #connectionBytes: number;
  readonly #weigh: Weigh;
  #content: Uint8Array = new Uint8Array();
  #size = 0;
  /** True after the first piece was copied. */
  #isOwn = false;

  /**
   * `connectionBytes` is the additional memory of a connection whose body arrives in pieces. Throws the problem
   * `content_too_large` if more than `maxBytes` are announced.
   */
  constructor(maxBytes: number, announcedBytes: number, weigh: Weigh = () => undefined, connectionBytes = 0) {
    this.#maxBytes = maxBytes;
    this.#weigh = weigh;
    this.#connectionBytes = connectionBytes;
    this.#endsAt = announcedBytes > 0 ? announcedBytes : maxBytes;
    if (announcedBytes > maxBytes) throw tooLarge(maxBytes);
  }

  /**
   * Adds a piece. Throws the problem `content_too_large` if the body is too large, or the problem of `weigh` if there
   * is too little memory. In both cases, the earlier pieces are dropped. Throws a `TypeError` if the piece is not
   * octets.
   */
  add(chunk: Uint8Array): void {
    if (!isUint8Array(chunk)) throw noOctets(chunk);
    const size = this.#size + chunk.length;
    try {
      if (size > this.#maxBytes) throw tooLarge(this.#maxBytes);
      if (this.#size === 0) this.#begin(chunk);
      else this.#append(chunk, size);
    } catch (error) {
      this.#content = new Uint8Array();
      throw error;
    }
    this.#size = size;
  }

  #begin(chunk: Uint8Array): void {
    this.#weigh(chunk.length);
    this.#content = chunk;
  }

  #append(chunk: Uint8Array, size: number): void {
    const room = this.#content.length;
    if (size > room) {
      const larger = Math.max(size, Math.min(2 * room, this.#endsAt));
      this.#weigh(larger - room + (this.#isOwn ? 0 : this.#connectionBytes));
      this.#content = grown(this.#content, larger);
      this.#isOwn = true;
    }
    this.#content.set(chunk, this.#size);
  }

  get bytes(): Uint8Array {
    return this.#content.subarray(0, this.#size);
  }
}

function grown(content: Uint8Array, length: number): Uint8Array {
  const larger = Buffer.allocUnsafeSlow(length);
  larger.set(content);
  return larger;
}

function tooLarge(maxBytes: number): Error {
  const most = maxBytes >= 1024 * 1024 ? `${maxBytes / 1024 / 1024} MiB` : `${maxBytes / 1024} KiB`;
  return problem("content_too_large", { detail: `The body is larger than ${most}.` });
}

/** Returns the error for a body that other code reads as text or replaces. The original octets are then lost. */
function noOctets(chunk: unknown): Error {
  return new TypeError(
    `The body of this request comes as ${describeType(chunk)}, not as octets. Do not call request.setEncoding() before the service, and let the stream of a Request give Uint8Array.`,
  );
}

/**
 * Returns the error for a body that other code has read before the service. Without this error, the service would wait
 * forever. `cure` is the fix for the log.
 */
export function bodyReadBefore(cure: string): Error {
  return new Error(`The body of this request was read before the service got the request. ${cure}`);
}
