import type { Eventually } from "../../eventually.ts";
import type { Arrival } from "../../http/call.ts";
import type { Answer } from "../../http/writing.ts";
import { problem } from "../../problem/problem.ts";

/** What a Fetch `Request` does not tell. */
export interface FetchInfo {
  /** The caller's address; unknown where it is left out, and then nothing is trusted for coming from this machine. */
  readonly peer?: string;
}

/** Answers a Fetch `Request` (Fetch standard §5.3) through a service. */
export async function fetchThrough(
  respond: (arrival: Arrival) => Eventually<Answer>,
  request: Request,
  info: FetchInfo = {},
): Promise<Response> {
  const url = new URL(request.url);
  const answer = await respond({
    method: request.method,
    target: url.pathname + url.search,
    rawHeaders: flatten(request.headers),
    peer: info.peer ?? "unknown",
    encrypted: url.protocol === "https:",
    readBody: (maxBytes) => readBody(request, maxBytes),
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

async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw problem("content_too_large");
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > maxBytes) throw problem("content_too_large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
