import { objectWith } from "./checking/members.ts";
import type { Eventually } from "./eventually.ts";
import type { TraceContext } from "./headers/traceparent.ts";
import type { Observer } from "./observation.ts";

/** What a request tells of the trace it stands in. */
export interface Traced {
  readonly method: string;
  readonly trace: TraceContext | null;
}

/** Follows requests through their parts. Nothing that it does changes what happens, and none of its spans shows a credential. */
export interface Tracer {
  /** Runs a request: whatever happens meanwhile, and in its name later, is a part of it. It ends with the observation of the request. */
  request<T>(call: Traced, work: () => Eventually<T>): Eventually<T>;
  /** Runs a part of a request; outside of one, runs it and no more. */
  part<T>(name: string, facts: Readonly<Record<string, string>>, work: () => T): T;
  readonly observe: Observer;
}

/** What is wrong with an option that has to be one; null where nothing is. */
export const aTracer = objectWith("what openTelemetry() gives, or null", "request", "part", "observe");

/** A request that is followed. */
interface Followed {
  readonly call: Traced;
  /** Hears what the tracer throws. */
  observeFault(error: unknown): void;
}

/** Runs a request under its tracer, and once, whatever that does: what it throws, gives or leaves out keeps nobody from an answer. */
export function traced<T>(tracer: Tracer, followed: Followed, work: () => Eventually<T>): Eventually<T> {
  let going: Eventually<T> | null = null;
  const go = (): Eventually<T> => (going ??= work());
  try {
    const given: unknown = tracer.request(followed.call, go);
    if (given instanceof Promise && given !== going) given.catch((error: unknown) => followed.observeFault(error));
  } catch (error) {
    followed.observeFault(error);
  }
  return go();
}
