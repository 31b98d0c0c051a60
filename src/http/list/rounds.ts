import type { Eventually } from "../../core/eventually.ts";
import { isAllAnswered, whenAllAnswered } from "../answered.ts";

/**
 * Whoever asks for pages in a loop fills every round of the event loop with them, and whoever asks for one record waits for all that came before. So
 * while others ask as well, a round has one page, and it goes behind all else that came in this round: whoever comes meanwhile waits for that one
 * and for no other. While all ask for pages, they are read as they come: with a round for each they cost a third more.
 */

/** For so many pages it is remembered that somebody has asked for something else. */
const REMEMBERED_PAGES = 1000;

let requests = 0;
let pages = 0;
/** How many requests were none for a page. */
let others = 0;
/** For so many pages more others go between them. */
let shared = 0;

const waiting: (() => void)[] = [];
let hasPage = false;

/** Tells that a request has come, whatever it asks for. */
export function countRequest(): void {
  requests++;
}

/** Reads a page when this round of the event loop has a place for it. */
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
      // One that was remembered leaves its place to the next.
      callNext();
    }
  });
}

/** Tells that this round of the event loop has its page. */
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
