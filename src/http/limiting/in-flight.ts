import { problem, type Problem } from "../../core/problem/problem.ts";

/** A request that waits for something. */
interface Waiting {
  /** Where it stands among all that wait, from 0; null where it does not. */
  place: number | null;
  /** How many seconds it was seen waiting. */
  seconds: number;
  readonly way: Walking;
  giveUp(): void;
}

/** How far a request has come. Where its body is on its way, bindings have limits of their own. */
interface Walking {
  readonly exchange: { readonly phase: string; readonly writing: number } | null;
}

/** How long code of one's own may take with a request, in seconds, where nobody says. */
export const HANDLER_TIMEOUT_SECONDS = 60;

/** So much longer it may take where a write is on its way, which would come behind the answer. Stores have limits of their own below that. */
const WRITING_SECONDS = 15;

/**
 * The requests that wait for something, and the end of those that wait in vain. Those that are answered at once are never among them. One timer
 * looks at all of them each second, and runs only while there are any.
 */
export class InFlight {
  readonly seconds: number;
  /**
   * In no order. A Map or a Set would be made anew for every few requests, and what V8 has left behind of each leads to the next: so the
   * collector kept what had been answered, and took five times as long.
   */
  readonly #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(seconds: number) {
    this.seconds = seconds;
  }

  get count(): number {
    return this.#waiting.length;
  }

  /** `giveUp` answers it without what it waits for. */
  add(way: Walking, giveUp: () => void): Waiting {
    const request: Waiting = { place: this.#waiting.length, seconds: 0, way, giveUp };
    this.#waiting.push(request);
    this.#timer ??= setInterval(() => this.#look(), 1000).unref();
    return request;
  }

  remove(request: Waiting): void {
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
      const { exchange } = request.way;
      const patience = exchange !== null && exchange.writing > 0 ? WRITING_SECONDS : 0;
      if (exchange?.phase === "arriving") request.seconds = 0;
      // The first second may have been a part of one.
      else if (request.seconds >= this.seconds + patience) request.giveUp();
      else request.seconds++;
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
