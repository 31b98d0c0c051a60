import type { Arrival, Weigh } from "../../../core/call/call.ts";
import type { Eventually } from "../../../core/eventually.ts";
import { problem } from "../../../core/problem/problem.ts";
import type { Answer } from "../../answer/writing.ts";
import { CollectedBody, bodyReadBefore } from "../../body/collecting.ts";

/** The facts that a Fetch `Request` does not contain. */
export interface FetchInfo {
  /**
   * The address of the other end of the connection (`info.remoteAddr.hostname` in Deno, `server.requestIP(request)` in
   * Bun). Null if it is unknown. Then no request counts as local: Basic is refused over cleartext, and all callers
   * share one limit for wrong passwords and for bodies.
   */
  readonly peer: string | null;
}

/** The time limit for a body, in seconds, the same as in our own listener. Some runtimes have no limit. */
const REQUEST_SECONDS = 30;

/** Answers a Fetch `Request` (Fetch standard §5.3) through a service. */
export async function fetchThrough(
  respond: (arrival: Arrival) => Eventually<Answer>,
  request: Request,
  info: FetchInfo,
): Promise<Response> {
  const url = new URL(request.url);
  const answer = await respond({
    method: request.method,
    target: url.pathname + url.search,
    rawHeaders: flatten(request.headers),
    // JavaScript callers without types may leave out `peer`.
    peer: (info as FetchInfo | undefined)?.peer ?? "unknown",
    encrypted: url.protocol === "https:",
    readBody: (maxBytes, weigh) => readBody(request, maxBytes, weigh),
  });
  const headers = new Headers();
  for (let at = 0; at < answer.headers.length; at += 2) headers.append(answer.headers[at]!, answer.headers[at + 1]!);
  return new Response(answer.content as string | Uint8Array<ArrayBuffer> | null, { status: answer.status, headers });
}

function flatten(headers: Headers): string[] {
  const flat: string[] = [];
  for (const [name, value] of headers) flat.push(name, value);
  return flat;
}

async function readBody(request: Request, maxBytes: number, weigh?: Weigh): Promise<Uint8Array> {
  if (request.bodyUsed || request.body?.locked === true)
    throw bodyReadBefore("Pass the Request before its body is read, or pass a clone().");
  const collected = new CollectedBody(maxBytes, Number(request.headers.get("content-length") ?? 0), weigh);
  if (request.body !== null) await collect(request.body, collected);
  return collected.bytes;
}

/**
 * Reads a body. If the client disconnects, the error does not matter, because no client reads the response. A time
 * limit stops a body that never ends.
 */
async function collect(body: ReadableStream<Uint8Array>, collected: CollectedBody): Promise<void> {
  const reader = body.getReader();
  // Not awaited, because the sender may take a while to react.
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  const gone = (): never => {
    throw problem("request_timeout");
  };
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    cancel();
  }, REQUEST_SECONDS * 1000);
  try {
    for (let read = await reader.read().catch(gone); !read.done; read = await reader.read().catch(gone))
      collected.add(read.value);
    if (isLate) gone();
  } catch (error) {
    cancel();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
