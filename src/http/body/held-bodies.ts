import { problem } from "../../core/problem/problem.ts";

/** Counts the octets of bodies that have arrived, and of records that were read for them, for all requests of a process. */
export interface HeldBodies {
  /** Counts for one holder: a user, or the address of nobody. */
  hold(holder: string): Hold;
}

/** What one request holds. */
export interface Hold {
  /** Throws the problem `unavailable` where it is too much, for this holder or for all, or the request is over. */
  readonly take: (bytes: number) => void;
  /** Returns how much the holder could still take if this were its only request, in bytes. */
  room(): number;
  /** The request is over. */
  release(): void;
}

/** What callers may keep waiting in memory, in bytes. */
export interface HeldBodiesLimits {
  readonly ofAll: number;
  readonly ofOne: number;
}

const MEBIBYTE = 1024 * 1024;

/** Bodies that are sent slowly cost nothing but memory, so that is what is limited: of all, and of one so that nobody keeps the others out. */
export function makeHeldBodies(
  { ofAll, ofOne }: HeldBodiesLimits = { ofAll: 64 * MEBIBYTE, ofOne: 8 * MEBIBYTE },
): HeldBodies {
  const heldBy = new Map<string, number>();
  let heldByAll = 0;
  return {
    hold(holder) {
      let held = 0;
      let isOver = false;
      return {
        take(bytes) {
          // Nobody would release it any more.
          if (isOver) throw problem("unavailable", { detail: "The request was answered before its body had arrived." });
          const ofHolder = (heldBy.get(holder) ?? 0) + bytes;
          if (ofHolder > ofOne || heldByAll + bytes > ofAll) throw tooMuch(ofHolder > ofOne);
          held += bytes;
          heldByAll += bytes;
          heldBy.set(holder, ofHolder);
        },
        room: () => ofOne - held,
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
