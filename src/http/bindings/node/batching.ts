import { beginRound, endRound } from "../../answered.ts";

/** How many answers wait for each other at most: so much more than this is not gained, and the first of them is wanted. */
const MOST_WAITING = 32;

/**
 * The requests that arrive in one turn of the event loop are answered one after another, and what came of them is sent one after
 * another. To answer takes a third of the time where no system call stands between two requests: each of them leaves the processor's
 * caches to the kernel, and what answers has to be fetched anew.
 */
export interface Batches {
  /** Answers behind everything that has arrived in this turn. It has the async context of whoever calls. */
  answer(answer: () => void): void;
  /** Sends together with what else is ready: at the latest in this turn. */
  send(send: () => void): void;
}

/** Of one server. */
export function makeBatches(): Batches {
  const ready: (() => void)[] = [];
  let answering = 0;
  let isScheduled = false;

  function sendAll(): void {
    isScheduled = false;
    try {
      for (let send = ready.shift(); send !== undefined; send = ready.shift()) send();
    } finally {
      // One that failed keeps nobody else's back.
      if (ready.length > 0) schedule();
    }
  }

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    process.nextTick(sendAll);
  }

  function run(answer: () => void): void {
    try {
      answer();
    } finally {
      if (--answering === 0) endTurn();
    }
  }

  function endTurn(): void {
    try {
      sendAll();
    } finally {
      endRound();
    }
  }

  return {
    answer(answer) {
      if (answering++ === 0) beginRound();
      setImmediate(run, answer);
    },
    send(send) {
      ready.push(send);
      if (answering === 0) schedule();
      else if (ready.length >= MOST_WAITING) sendAll();
    },
  };
}
