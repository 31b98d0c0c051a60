import { objectWith } from "./checking/members.ts";
import type { Eventually } from "./eventually.ts";
import type { TraceContext } from "./headers/traceparent.ts";
import type { Observer } from "./observation.ts";

/** The facts of a request for its trace. */
export interface Traced {
  readonly method: string;
  readonly trace: TraceContext | null;
}

/** Traces requests and their parts. It never changes their result, and none of its spans contains a credential. */
export interface Tracer {
  /**
   * Runs a request. Its span contains all work that the request starts, even after the response. The observation of the
   * request ends the span.
   */
  request<T>(call: Traced, work: () => Eventually<T>): Eventually<T>;
  /** Runs a part of a request. Outside of a request, it only runs the work. */
  part<T>(name: string, facts: Readonly<Record<string, string>>, work: () => T): T;
  readonly observe: Observer;
}

/** Checks an option that must be a tracer. Returns the mistake, or null if there is none. */
export const aTracer = objectWith("the result of openTelemetry(), or null", "request", "part", "observe");

/** A traced request. */
interface Followed {
  readonly call: Traced;
  /** Receives the errors of the tracer. */
  observeFault(error: unknown): void;
}

/**
 * Runs a request with its tracer, exactly once. An error or a missing result of the tracer does not prevent the
 * response.
 */
export function traced<T>(tracer: Tracer, followed: Followed, work: () => Eventually<T>): Eventually<T> {
  let running: Eventually<T> | null = null;
  const runOnce = (): Eventually<T> => (running ??= work());
  try {
    const result: unknown = tracer.request(followed.call, runOnce);
    if (result instanceof Promise && result !== running) result.catch((error: unknown) => followed.observeFault(error));
  } catch (error) {
    followed.observeFault(error);
  }
  return runOnce();
}
