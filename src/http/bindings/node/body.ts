import type { IncomingMessage } from "node:http";
import type { Weigh } from "../../../core/call/call.ts";
import type { Eventually } from "../../../core/eventually.ts";
import { problem } from "../../../core/problem/problem.ts";
import { CollectedBody, readBefore } from "../../body/collecting.ts";

const CURE =
  "Mount it before whatever parses bodies, such as express.json(), keep that from its paths, or let it leave the octets at request.rawBody.";

/** Node keeps what it read for OpenSSL for as long as the connection is open. */
const TLS_BYTES = 64 * 1024;

function besideBytes({ socket }: IncomingMessage): number {
  return "encrypted" in socket ? TLS_BYTES : 0;
}

/**
 * Reads a body: at once where all of it has come, else as it arrives. `begin` is told before something is waited for, once nothing that is known of it
 * speaks against that. What comes beyond the limits is left to whoever answers.
 */
export function readBody(
  request: IncomingMessage & { readonly rawBody?: unknown },
  maxBytes: number,
  weigh: Weigh | undefined,
  begin: () => void,
): Eventually<Uint8Array> {
  const announced = Number(request.headers["content-length"] ?? 0);
  const collected = new CollectedBody(maxBytes, announced, weigh, besideBytes(request));
  if (isOthers(request)) {
    // Some who read before keep the octets beside what they made of them.
    if (!(request.rawBody instanceof Uint8Array)) throw readBefore(CURE);
    collected.add(request.rawBody);
    return collected.bytes;
  }
  // Read by somebody, and there was nothing in it.
  if (request.readableEnded) return collected.bytes;
  // The caller has gone; nobody will read the answer.
  if (request.destroyed || request.aborted) throw problem("request_timeout");
  if (isThere(request)) {
    const next = (): Uint8Array | null => request.read() as Uint8Array | null;
    for (let piece = next(); piece !== null; piece = next()) collected.add(piece);
    return collected.bytes;
  }
  begin();
  return arriving(request, collected);
}

/** Somebody has read of it, or waits to: what is read by hand comes to nobody else. */
function isOthers(request: IncomingMessage): boolean {
  return request.readableDidRead || request.listenerCount("readable") > 0;
}

/** All of it has come. On a stream of HTTP/2 that is also said where the caller has gone. */
function isThere(request: IncomingMessage): boolean {
  return request.complete && !("stream" in request);
}

function arriving(request: IncomingMessage, collected: CollectedBody): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    // Whoever stands in front may have stopped it, and may do so again. What comes is kept within limits.
    const goOn = (): void => void request.resume();
    const gone = (): void => reject(problem("request_timeout"));
    request.on("data", (chunk: Uint8Array) => {
      try {
        collected.add(chunk);
      } catch (error) {
        request.off("pause", goOn).removeAllListeners("data").pause();
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    request.on("pause", goOn);
    request.on("end", () => resolve(collected.bytes));
    request.on("error", gone);
    // A stream of HTTP/2 that is broken off ends as if all of it had come.
    request.on("aborted", gone);
    request.on("close", () => {
      if (!request.readableEnded) gone();
    });
    goOn();
  });
}
