import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { isFromAnotherSite } from "../auth/cross-site.ts";
import { preferredCoding, type Coding } from "../headers/accept-encoding.ts";
import type { Reply } from "./call.ts";
import type { Exchange } from "./exchange.ts";

/** What a compressed answer saves is less than it costs below this. */
const LEAST_BYTES = 1024;

const gzipInThreadPool = promisify(gzip);
const brotliInThreadPool = promisify(brotliCompress);

/** Whether a body of this size and type is sent in the coding that the caller prefers, so that the answer depends on `Accept-Encoding`. */
export function isCompressible({ service }: Exchange, reply: Reply, bytes: number, mediaType: string): boolean {
  return (
    bytes >= LEAST_BYTES &&
    service.compression &&
    // How much a secret shrinks beside text that somebody else chose tells what it is (BREACH).
    reply.cache !== "no-store" &&
    TEXTUAL.test(mediaType) &&
    !(reply.headers ?? []).some(([name]) => name.toLowerCase() === "content-encoding")
  );
}

/** The coding for a compressible body; null: as it is. */
export function codingFor(exchange: Exchange): Coding | null {
  const { call, service } = exchange;
  const header = call.list("accept-encoding");
  const coding = header === undefined ? null : preferredCoding(header);
  if (coding === null) return null;
  // Another site that makes a browser ask with its user's credential could measure the answer and learn what it says.
  const isAskedByOthers = exchange.ambient && isFromAnotherSite(call, service.sameSiteOrigins);
  return isAskedByOthers ? null : coding;
}

/** Compresses in the thread pool: the event loop has others to answer. */
export function compress(content: string | Uint8Array, coding: Coding): Promise<Uint8Array> {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  // One buffer that nearly always suffices, so that the work goes to the pool once.
  const chunkSize = Math.max(LEAST_BYTES, bytes.length >> 1);
  if (coding === "gzip") return gzipInThreadPool(bytes, { chunkSize });
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 4,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return brotliInThreadPool(bytes, { chunkSize, params });
}

// What is text: pictures and archives are compressed already.
const TEXTUAL = /^text\/|[/+](?:json|xml|yaml|javascript)\b/;
