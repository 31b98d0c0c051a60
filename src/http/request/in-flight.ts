import { problem, type Problem } from "../../core/problem/problem.ts";

/** A waiting request. */
interface WaitingRequest {
  /** Its index in the list of waiting requests. Null if it was removed. */
  place: number | null;
  /** The number of consecutive checks, one per second, in which the request was waiting. */
  seconds: number;
  readonly state: RequestState;
  giveUp(): void;
}

/**
 * The state of a request. While its body arrives (`phase` is `arriving`), only the time limits of the binding apply.
 */
interface RequestState {
  readonly exchange: { readonly phase: string; readonly writing: number } | null;
}

/** The default time limit for custom code in a request, in seconds. */
export const HANDLER_TIMEOUT_SECONDS = 60;

/**
 * The additional time while the store is writing, because the caller should learn the outcome. Stores have shorter
 * limits.
 */
const WRITING_SECONDS = 15;

/**
 * The requests that wait for a promise. Ends requests that have waited too long. A request that is answered
 * synchronously is never in the list. One timer checks the whole list each second. It runs only while a request waits.
 */
export class InFlight {
  readonly seconds: number;
  /**
   * An array in no particular order. V8 replaces the table of a Map or a Set after a few requests, and each old table
   * points to the new table. With a Map or a Set, answered requests stayed in memory, and garbage collection took five
   * times as long.
   */
  readonly #waiting: WaitingRequest[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(seconds: number) {
    this.seconds = seconds;
  }

  get count(): number {
    return this.#waiting.length;
  }

  /** Adds a request. `giveUp` answers it without the result that it waits for. */
  add(state: RequestState, giveUp: () => void): WaitingRequest {
    const request: WaitingRequest = { place: this.#waiting.length, seconds: 0, state, giveUp };
    this.#waiting.push(request);
    this.#timer ??= setInterval(() => this.#look(), 1000).unref();
    return request;
  }

  remove(request: WaitingRequest): void {
    const { place } = request;
    if (place === null) return;
    request.place = null;
    const last = this.#waiting.pop()!;
    if (last === request) return;
    this.#waiting[place] = last;
    last.place = place;
  }

  #look(): void {
    if (this.#waiting.length === 0 && this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
    }
    for (const request of this.#waiting.slice()) {
      const { exchange } = request.state;
      const patience = exchange !== null && exchange.writing > 0 ? WRITING_SECONDS : 0;
      if (exchange?.phase === "arriving") request.seconds = 0;
      // The check compares before it counts, because the first second may have been only a part of a second.
      else if (request.seconds >= this.seconds + patience) request.giveUp();
      else request.seconds++;
    }
  }
}

/** Returns the problem for a request that has taken too long. */
export function tooLate(): Problem {
  return problem("unavailable", {
    detail: "The request took too long and was cancelled.",
    headers: [["Retry-After", "5"]],
  });
}

/** Returns the fault of code that was too slow. `what` names the code. Null if the code is unknown. */
export function notDone(what: string | null, seconds: number): Error {
  const error = new Error(
    `${what ?? "The service's own code"} has not finished after ${seconds} s: the request was answered with 503, and cannot write any more.`,
  );
  error.name = "TimeoutError";
  return error;
}
