import type { IncomingMessage } from "node:http";
import type { Weigh } from "../../../core/call/call.ts";
import type { Eventually } from "../../../core/eventually.ts";
import { problem } from "../../../core/problem/problem.ts";
import { CollectedBody, bodyReadBefore } from "../../body/collecting.ts";

const FIX =
  "Mount the service before body parsers such as express.json(), exclude its paths from them, or make them keep the octets in request.rawBody.";

/** The memory that Node reserves for the TLS input of an open connection. */
const TLS_BYTES = 64 * 1024;

function measureTLSBytes({ socket }: IncomingMessage): number {
  return "encrypted" in socket ? TLS_BYTES : 0;
}

/**
 * Reads a body: synchronously if all of it has arrived, otherwise while it arrives. Calls `begin` before it waits for
 * octets, and only if the earlier checks have passed. Stops reading at the limits. The code that sends the response
 * discards the unread rest.
 */
export function readBody(
  request: IncomingMessage & { readonly rawBody?: unknown },
  maxBytes: number,
  weigh: Weigh | undefined,
  begin: () => void,
): Eventually<Uint8Array> {
  const announced = Number(request.headers["content-length"] ?? 0);
  const collected = new CollectedBody(maxBytes, announced, weigh, measureTLSBytes(request));
  if (isReadElsewhere(request)) {
    // Some parsers keep the octets next to the parsed value.
    if (!(request.rawBody instanceof Uint8Array)) throw bodyReadBefore(FIX);
    collected.add(request.rawBody);
    return collected.bytes;
  }
  // Other code has read the body, and the body was empty.
  if (request.readableEnded) return collected.bytes;
  // The client has disconnected, so it will not read the response.
  if (request.destroyed || request.aborted) throw problem("request_timeout");
  if (hasArrived(request)) {
    const next = (): Uint8Array | null => request.read() as Uint8Array | null;
    for (let piece = next(); piece !== null; piece = next()) collected.add(piece);
    return collected.bytes;
  }
  begin();
  return awaitBody(request, collected);
}

/** Returns true if other code has read the body, or waits for `readable` to read it. A body can be read only once. */
function isReadElsewhere(request: IncomingMessage): boolean {
  return request.readableDidRead || request.listenerCount("readable") > 0;
}

/**
 * Returns true if the whole body has arrived. Returns false for HTTP/2, where `complete` is also true if the client has
 * disconnected.
 */
function hasArrived(request: IncomingMessage): boolean {
  return request.complete && !("stream" in request);
}

function awaitBody(request: IncomingMessage, collected: CollectedBody): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    // Other code may have paused the request, and may do it again. The limits still apply.
    const resume = (): void => void request.resume();
    const rejectAsTimeout = (): void => reject(problem("request_timeout"));
    request.on("data", (chunk: Uint8Array) => {
      try {
        collected.add(chunk);
      } catch (error) {
        request.off("pause", resume).removeAllListeners("data").pause();
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    request.on("pause", resume);
    request.on("end", () => resolve(collected.bytes));
    request.on("error", rejectAsTimeout);
    // An aborted stream of HTTP/2 ends as if the whole body had arrived.
    request.on("aborted", rejectAsTimeout);
    request.on("close", () => {
      if (!request.readableEnded) rejectAsTimeout();
    });
    resume();
  });
}
