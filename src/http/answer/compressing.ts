import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Reply } from "../../core/call/call.ts";
import { isFromAnotherSite } from "../../core/call/cross-site.ts";
import { preferredCoding, type Coding } from "../../core/headers/accept-encoding.ts";
import type { Exchange } from "../exchange.ts";

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
  // Where many wait already, the body as it is arrives sooner.
  if (coding === null || waiting.length >= MOST_WAITING) return null;
  // Another site that makes a browser ask with its user's credential could measure the answer and learn what it says.
  const isAskedByOthers = exchange.ambient && isFromAnotherSite(call, service.sameSiteOrigins);
  return isAskedByOthers ? null : coding;
}

/** Compresses in the thread pool: the event loop has others to answer. What everyone gets is compressed once. */
export function compress(content: string | Uint8Array, coding: Coding, isForEveryone: boolean): Promise<Uint8Array> {
  if (!isForEveryone) return inTurn(() => compressNow(content, coding));
  const ofThis = typeof content === "string" ? remembered : rememberedOf(content);
  const key = typeof content === "string" ? `${coding} ${content}` : coding;
  const known = ofThis.get(key);
  if (known !== undefined) return known;
  const compressed = inTurn(() => compressNow(content, coding));
  if (ofThis.size >= MOST_REMEMBERED) ofThis.delete(ofThis.keys().next().value!);
  ofThis.set(key, compressed);
  compressed.catch(() => ofThis.delete(key));
  return compressed;
}

/** The documents and pages of a service, of which there are few and which anybody may ask for. */
const MOST_REMEMBERED = 32;
const remembered = new Map<string, Promise<Uint8Array>>();
/** What is sent as the same bytes each time is known by them, as long as somebody has them. */
const bytesRemembered = new WeakMap<Uint8Array, Map<string, Promise<Uint8Array>>>();

function rememberedOf(bytes: Uint8Array): Map<string, Promise<Uint8Array>> {
  const known = bytesRemembered.get(bytes) ?? new Map<string, Promise<Uint8Array>>();
  bytesRemembered.set(bytes, known);
  return known;
}

// Passwords are hashed in the same pool, which has four threads where nobody says otherwise.
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
