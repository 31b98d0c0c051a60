import { problem, type Problem } from "../../problem/problem.ts";

/** A request that waits for something. */
export interface Waiting {
  /** Its body is on its way, for which bindings have limits of their own. */
  isArriving(): boolean;
  /** Answers it without what it waits for. */
  giveUp(): void;
}

/** How long code of one's own may take with a request, in seconds, where nobody says. */
export const HANDLER_TIMEOUT_SECONDS = 60;

/**
 * The requests that wait for something, and the end of those that wait in vain. Those that are answered at once are never among them. One timer
 * looks at all of them each second, and runs only while there are any.
 */
export class InFlight {
  readonly seconds: number;
  /** How many seconds each was seen waiting. */
  readonly #waiting = new Map<Waiting, number>();
  #timer: NodeJS.Timeout | null = null;

  constructor(seconds: number) {
    this.seconds = seconds;
  }

  get count(): number {
    return this.#waiting.size;
  }

  add(request: Waiting): void {
    this.#waiting.set(request, 0);
    this.#timer ??= setInterval(() => this.#look(), 1000).unref();
  }

  remove(request: Waiting): void {
    this.#waiting.delete(request);
  }

  #look(): void {
    if (this.#waiting.size === 0 && this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
    }
    for (const [request, seconds] of this.#waiting) {
      // The first second may have been a part of one.
      if (seconds >= this.seconds) request.giveUp();
      else this.#waiting.set(request, request.isArriving() ? 0 : seconds + 1);
    }
  }
}

/** Ends a request that has taken too long. */
export function tooLate(): Problem {
  return problem("unavailable", {
    detail: "This has taken too long, and was given up.",
    headers: [["Retry-After", "5"]],
  });
}

/** The fault of whoever is not done in time; null where nobody knows whose it is. */
export function notDone(what: string | null, seconds: number): Error {
  const error = new Error(
    `${what ?? "What the service itself waits for"} is not done after ${seconds} s, and is not waited for any longer: the request was answered with 503, and writes nothing from now on.`,
  );
  error.name = "TimeoutError";
  return error;
}
