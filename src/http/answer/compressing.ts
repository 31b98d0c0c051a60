import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Reply } from "../../core/call/call.ts";
import { isFromAnotherSite } from "../../core/call/cross-site.ts";
import { preferredCoding, type Coding } from "../../core/headers/accept-encoding.ts";
import type { Exchange } from "../request/exchange.ts";

/** The smallest body that is compressed, in bytes. Compressing a smaller body costs more than it saves. */
const LEAST_BYTES = 1024;

const gzipInThreadPool = promisify(gzip);
const brotliInThreadPool = promisify(brotliCompress);

/** Returns true if a body of this size and type may be compressed. The response then depends on `Accept-Encoding`. */
export function isCompressible({ service }: Exchange, reply: Reply, bytes: number, mediaType: string): boolean {
  return (
    bytes >= LEAST_BYTES &&
    service.compression &&
    // If an attacker can choose text next to a secret, the compressed size reveals the secret (BREACH).
    reply.cache !== "no-store" &&
    TEXTUAL.test(mediaType) &&
    !(reply.headers ?? []).some(([name]) => name.toLowerCase() === "content-encoding")
  );
}

/** Returns the coding for a compressible body. Null: no coding. */
export function codingFor(exchange: Exchange): Coding | null {
  const { call, service } = exchange;
  const header = call.list("accept-encoding");
  const coding = header === undefined ? null : preferredCoding(header);
  // If many responses already wait for compression, sending the body uncompressed is faster.
  if (coding === null || waiting.length >= MOST_WAITING) return null;
  // A page of another site can make a browser send a request with the user's credential. From the compressed size, the
  // page could guess the content of the response.
  const isAskedByOthers = exchange.ambient && isFromAnotherSite(call, service.sameSiteOrigins);
  return isAskedByOthers ? null : coding;
}

/**
 * Compresses in the thread pool, so that the event loop can answer other requests. A response that is the same for
 * every caller is compressed once and cached.
 */
export function compress(content: string | Uint8Array, coding: Coding, isForEveryone: boolean): Promise<Uint8Array> {
  if (!isForEveryone) return inTurn(() => compressNow(content, coding));
  const ofThis = typeof content === "string" ? remembered : resolveCache(content);
  const key = typeof content === "string" ? `${coding} ${content}` : coding;
  const cached = ofThis.get(key);
  if (cached !== undefined) return cached;
  const compressed = inTurn(() => compressNow(content, coding));
  if (ofThis.size >= MOST_REMEMBERED) ofThis.delete(ofThis.keys().next().value!);
  ofThis.set(key, compressed);
  compressed.catch(() => ofThis.delete(key));
  return compressed;
}

/**
 * The maximum number of cached documents and pages. A service has only a few responses that are the same for every
 * caller.
 */
const MOST_REMEMBERED = 32;
const remembered = new Map<string, Promise<Uint8Array>>();
/** The compressed form of constant bytes, cached until the bytes are garbage collected. */
const bytesRemembered = new WeakMap<Uint8Array, Map<string, Promise<Uint8Array>>>();

function resolveCache(bytes: Uint8Array): Map<string, Promise<Uint8Array>> {
  const cache = bytesRemembered.get(bytes) ?? new Map<string, Promise<Uint8Array>>();
  bytesRemembered.set(bytes, cache);
  return cache;
}

// The maximum number of compressions at the same time. Passwords are hashed in the same thread pool, which has four
// threads by default.
const MOST_AT_ONCE = 2;
const MOST_WAITING = 64;
const waiting: (() => void)[] = [];
let atOnce = 0;

async function inTurn(work: () => Promise<Uint8Array>): Promise<Uint8Array> {
  if (atOnce < MOST_AT_ONCE) atOnce++;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) atOnce--;
    else next();
  }
}

function compressNow(content: string | Uint8Array, coding: Coding): Promise<Uint8Array> {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  // The output nearly always fits in half the size of the input. Then zlib needs only one buffer, and uses the thread
  // pool only once.
  const chunkSize = Math.max(LEAST_BYTES, bytes.length >> 1);
  if (coding === "gzip") return gzipInThreadPool(bytes, { chunkSize });
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 4,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return brotliInThreadPool(bytes, { chunkSize, params });
}

// The media types with text. Images and archives are already compressed.
const TEXTUAL = /^text\/|[/+](?:json|xml|yaml|javascript)\b/;
