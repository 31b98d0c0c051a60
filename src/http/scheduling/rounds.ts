import type { Eventually } from "../../core/eventually.ts";
import { isAllAnswered, whenAllAnswered } from "./answered.ts";

/**
 * A round is one pass of the event loop. Callers that read pages of lists in a loop can fill every round, and a request
 * for one record would wait for all of these pages. So while there are also other requests, a round reads only one
 * page, after all its other requests. A new request then waits for at most one page. While all requests are for pages,
 * they are read without this limit, because one round for each page costs a third more.
 */

/** The number of pages that are read one per round, after a request that was not for a page. */
const REMEMBERED_PAGES = 1000;

let requests = 0;
let pages = 0;
/** The number of requests that were not for a page. */
let others = 0;
/** The remaining number of pages that are read one per round. */
let shared = 0;

const waiting: (() => void)[] = [];
let hasPage = false;

/** Counts a request of any kind. */
export function countRequest(): void {
  requests++;
}

/** Reads a page. While there are other requests too, waits for a round that has not read a page yet. */
export function readInRound<T>(read: () => Eventually<T>): Eventually<T> {
  pages++;
  if (requests - pages > others) shared = REMEMBERED_PAGES;
  else if (shared > 0) shared--;
  others = requests - pages;
  if (waiting.length === 0) {
    if (shared === 0 || (!hasPage && isAllAnswered())) return read();
    whenAllAnswered(callNext);
  }
  return new Promise<void>((resolve) => waiting.push(resolve)).then(() => {
    try {
      return read();
    } finally {
      // A page from the cache does not count, so the round may read the next page.
      callNext();
    }
  });
}

/** Reports that this round of the event loop has read its page. */
export function countPage(): void {
  if (hasPage) return;
  hasPage = true;
  setImmediate(next);
}

function next(): void {
  hasPage = false;
  whenAllAnswered(callNext);
}

function callNext(): void {
  if (hasPage) return;
  const called = waiting.splice(0, shared === 0 ? waiting.length : 1);
  for (const go of called) go();
}
