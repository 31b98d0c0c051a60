import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import type { Observer } from "../../../core/observation.ts";

const LOOK_MS = 1000;
/** How often it is said while it lasts. */
const SILENCE_MS = 60_000;

/**
 * Says when the process has no descriptor left. Whoever calls then is taken in and let go by libuv, which tells nobody; when descriptors are
 * free again, it takes in the next. Gives what ends it.
 */
export function watchDescriptors(observe: Observer): () => void {
  let toldAt = -Infinity;
  const look = (): void => {
    const error = attempt();
    if (error === null || performance.now() - toldAt < SILENCE_MS) return;
    toldAt = performance.now();
    const message =
      "No descriptor is left: new connections are closed unanswered. Raise the limit (ulimit -n, LimitNOFILE of systemd), or allow fewer connections.";
    observe({ kind: "notice", level: "error", message, error });
  };
  const timer = setInterval(look, LOOK_MS).unref();
  return () => clearInterval(timer);
}

/** Takes one, and gives it back. */
function attempt(): Error | null {
  try {
    closeSync(openSync(devNull, "r"));
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "EMFILE" || code === "ENFILE" ? (error as Error) : null;
  }
}
