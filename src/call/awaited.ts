import type { Eventually } from "../eventually.ts";
import type { Call } from "./call.ts";

const whose = new WeakMap<Call, string>();

/** A promise that code of somebody's own has given. For as long as it is not settled, it is known for what the request waits. */
export function awaited<T>(call: Call, what: string | (() => string), given: Eventually<T>): Eventually<T> {
  if (!(given instanceof Promise)) return given;
  whose.set(call, typeof what === "string" ? what : what());
  return given.finally(() => whose.delete(call));
}

/** For whose promise a request waits; null where it is none that is known. */
export function awaitedBy(call: Call): string | null {
  return whose.get(call) ?? null;
}
