import type { IncomingMessage } from "node:http";
import { problem } from "../../problem/problem.ts";

/** Reads a body as it arrives. Beyond `maxBytes` the rest is let go by, so that the caller can still read the answer. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    if (Number(request.headers["content-length"] ?? 0) > maxBytes) {
      request.resume();
      reject(problem("content_too_large"));
      return;
    }
    const chunks: Uint8Array[] = [];
    let size = 0;
    request.on("data", (chunk: Uint8Array) => {
      size += chunk.length;
      if (size > maxBytes) {
        chunks.length = 0;
        reject(problem("content_too_large"));
      } else {
        chunks.push(chunk);
      }
    });
    request.on("end", () =>
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, Math.min(size, maxBytes))),
    );
    // The caller has gone; nobody will read the answer.
    request.on("error", () => reject(problem("request_timeout")));
    request.on("close", () => {
      if (!request.complete) reject(problem("request_timeout"));
    });
  });
}
