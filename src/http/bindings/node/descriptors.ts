import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import type { Observer } from "../../../core/observation.ts";

const LOOK_MS = 1000;
/** The interval between log entries while no descriptor is free, in milliseconds. */
const SILENCE_MS = 60_000;

/**
 * Logs when the process has no file descriptors left. In that state, libuv accepts new connections and closes them
 * silently. When a descriptor is free again, libuv accepts the next connection normally. Returns a function that stops
 * the check.
 */
export function watchDescriptors(observe: Observer): () => void {
  let reportedAt = -Infinity;
  const look = (): void => {
    const error = attempt();
    if (error === null || performance.now() - reportedAt < SILENCE_MS) return;
    reportedAt = performance.now();
    const message =
      "No file descriptor is free: new connections are closed without an answer. Raise the limit (ulimit -n, LimitNOFILE of systemd), or allow fewer connections.";
    observe({ kind: "notice", level: "error", message, error });
  };
  const timer = setInterval(look, LOOK_MS).unref();
  return () => clearInterval(timer);
}

/** Opens a descriptor and closes it. Returns the error if none is left. */
function attempt(): Error | null {
  try {
    closeSync(openSync(devNull, "r"));
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "EMFILE" || code === "ENFILE" ? (error as Error) : null;
  }
}
