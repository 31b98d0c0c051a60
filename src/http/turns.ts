import { setImmediate } from "node:timers/promises";
import type { ReceivedBody } from "./facts.ts";

/** Reading, checking and writing so much take milliseconds each; what is smaller is not worth a turn. */
const LARGE_BYTES = 64 * 1024;

/** Lets others have their turn between two steps with a large body, so that nobody waits for all of them (contract, section 8). */
export function giveWay(body: Pick<ReceivedBody, "bytes"> | null): Promise<void> | undefined {
  return body !== null && body.bytes.length > LARGE_BYTES ? setImmediate() : undefined;
}
