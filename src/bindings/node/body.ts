import type { IncomingMessage } from "node:http";
import type { Weigh } from "../../call/call.ts";
import { CollectedBody, readBefore } from "../../http/body/collecting.ts";
import { problem } from "../../problem/problem.ts";

const CURE =
  "Mount it before whatever parses bodies, such as express.json(), keep that from its paths, or let it leave the octets at request.rawBody.";

/** Node keeps what it read for OpenSSL for as long as the connection is open. */
const TLS_BYTES = 64 * 1024;

function besideBytes({ socket }: IncomingMessage): number {
  return "encrypted" in socket ? TLS_BYTES : 0;
}

/** Reads a body as it arrives; `begin` is told once nothing that is known of it speaks against that. What comes beyond the limits is left to whoever answers. */
export function readBody(
  request: IncomingMessage & { readonly rawBody?: unknown },
  maxBytes: number,
  weigh: Weigh | undefined,
  begin: () => void,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const collected = new CollectedBody(
      maxBytes,
      Number(request.headers["content-length"] ?? 0),
      weigh,
      besideBytes(request),
    );
    if (request.readableDidRead) {
      // Some who read before keep the octets beside what they made of them.
      if (!(request.rawBody instanceof Uint8Array)) throw readBefore(CURE);
      collected.add(request.rawBody);
      return resolve(collected.bytes);
    }
    // Read by somebody, and there was nothing in it.
    if (request.readableEnded) return resolve(collected.bytes);
    // The caller has gone; nobody will read the answer.
    if (request.destroyed) throw problem("request_timeout");
    begin();
    request.on("data", (chunk: Uint8Array) => {
      try {
        collected.add(chunk);
      } catch (error) {
        request.removeAllListeners("data").pause();
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    request.on("end", () => resolve(collected.bytes));
    request.on("error", () => reject(problem("request_timeout")));
    request.on("close", () => {
      if (!request.complete) reject(problem("request_timeout"));
    });
  });
}
