import { problem } from "../../core/problem/problem.ts";

/** Counts the octets of arrived bodies, and of the records that were read for them, for all requests of a process. */
export interface HeldBodies {
  /** Creates the counter of one request. The holder is a user, or the network address of an unknown caller. */
  hold(holder: string): Hold;
}

/** The memory of one request. */
export interface Hold {
  /**
   * Counts bytes. Throws the problem `unavailable` if the holder or all holders together would exceed their limit, or
   * if the request is over.
   */
  readonly take: (bytes: number) => void;
  /**
   * Counts the octets of all records that an attempt of the request reads. A later attempt counts only what it reads in
   * addition.
   */
  takeRecords(bytes: number): void;
  /** Returns how many bytes of records the holder could read if this were its only request. */
  room(): number;
  /** Ends the request and releases its memory. */
  release(): void;
}

/** The limits for the memory of waiting bodies, in bytes. */
export interface HeldBodiesLimits {
  readonly ofAll: number;
  readonly ofOne: number;
}

const MEBIBYTE = 1024 * 1024;

/**
 * Limits the memory of bodies, because a client can keep many unfinished bodies in memory by sending them slowly. One
 * limit is for all clients together. Another limit is for each holder, so that one holder cannot use all of the memory.
 */
export function makeHeldBodies(
  { ofAll, ofOne }: HeldBodiesLimits = { ofAll: 64 * MEBIBYTE, ofOne: 8 * MEBIBYTE },
): HeldBodies {
  const heldBy = new Map<string, number>();
  let heldByAll = 0;
  return {
    hold(holder) {
      let held = 0;
      let records = 0;
      let isOver = false;
      const take = (bytes: number): void => {
        // The request is over, so this memory would never be released.
        if (isOver) throw problem("unavailable", { detail: "The request was answered before its body had arrived." });
        const ofHolder = (heldBy.get(holder) ?? 0) + bytes;
        if (ofHolder > ofOne || heldByAll + bytes > ofAll) throw tooMuch(ofHolder > ofOne);
        held += bytes;
        heldByAll += bytes;
        heldBy.set(holder, ofHolder);
      };
      return {
        take,
        takeRecords(bytes) {
          if (bytes <= records) return;
          take(bytes - records);
          records = bytes;
        },
        room: () => ofOne - held + records,
        release() {
          heldByAll -= held;
          const rest = (heldBy.get(holder) ?? 0) - held;
          if (rest > 0) heldBy.set(holder, rest);
          else heldBy.delete(holder);
          held = 0;
          isOver = true;
        },
      };
    },
  };
}

function tooMuch(ofOne: boolean): Error {
  return problem("unavailable", {
    detail: ofOne ? "Too many of your requests are being sent at once." : "Too many requests are being sent at once.",
    headers: [["Retry-After", "1"]],
  });
}
