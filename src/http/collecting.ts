import { problem } from "../problem/problem.ts";
import type { Weigh } from "./call.ts";

/**
 * A body as it arrives. Octets are copied together: a caller may send them one at a time, and a piece of its own for each would take
 * a hundred times its size.
 */
export class CollectedBody {
  readonly #maxBytes: number;
  readonly #weigh: Weigh;
  #content: Uint8Array = new Uint8Array();
  #size = 0;

  /** Throws the problem `content_too_large` where more than `maxBytes` are announced. */
  constructor(maxBytes: number, announcedBytes: number, weigh: Weigh = () => undefined) {
    this.#maxBytes = maxBytes;
    this.#weigh = weigh;
    if (announcedBytes > maxBytes) throw tooLarge(maxBytes);
  }

  /** Throws the problem `content_too_large`, or that of `weigh`; what had come is forgotten then. */
  add(chunk: Uint8Array): void {
    const size = this.#size + chunk.length;
    try {
      if (size > this.#maxBytes) throw tooLarge(this.#maxBytes);
      this.#weigh(chunk.length);
    } catch (error) {
      this.#content = new Uint8Array();
      throw error;
    }
    if (this.#size === 0) this.#content = chunk;
    else {
      if (size > this.#content.length) this.#content = grown(this.#content.subarray(0, this.#size), size);
      this.#content.set(chunk, this.#size);
    }
    this.#size = size;
  }

  get bytes(): Uint8Array {
    return this.#content.subarray(0, this.#size);
  }
}

function grown(content: Uint8Array, atLeast: number): Uint8Array {
  const larger = Buffer.allocUnsafeSlow(Math.max(atLeast, 2 * content.length));
  larger.set(content);
  return larger;
}

function tooLarge(maxBytes: number): Error {
  const most = maxBytes >= 1024 * 1024 ? `${maxBytes / 1024 / 1024} MiB` : `${maxBytes / 1024} KiB`;
  return problem("content_too_large", { detail: `The body is larger than ${most}.` });
}

/** A fault of whoever put the service behind something that reads bodies: it would wait for what never comes. `cure` is for the log. */
export function readBefore(cure: string): Error {
  return new Error(`The body of this request was read before Latchkey was asked, and is gone. ${cure}`);
}
