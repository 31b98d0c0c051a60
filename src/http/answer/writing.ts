import { hash } from "node:crypto";
import type { Body, Call, Reply } from "../../core/call/call.ts";
import { isUnsafe } from "../../core/call/cross-site.ts";
import { describeType } from "../../core/checking/members.ts";
import { after, type Eventually } from "../../core/eventually.ts";
import { valueOfJSON } from "../../core/exact-numbers.ts";
import type { Coding } from "../../core/headers/accept-encoding.ts";
import { MAX_ISSUES, problem, type Problem } from "../../core/problem/problem.ts";
import type { Route } from "../declarations/routes.ts";
import { readAccept } from "../formats/accept.ts";
import { negotiateProblem } from "../formats/negotiate.ts";
import type { ServiceCore } from "../request/core.ts";
import type { Exchange } from "../request/exchange.ts";
import { acceptFields } from "../request/facts.ts";
import type { Format } from "../request/format.ts";
import type { View } from "../request/view.ts";
import { LARGE_BYTES, takeTurn } from "../scheduling/slices.ts";
import { codingFor, compress, isCompressible } from "./compressing.ts";
import { checkPreconditions, hasPreconditions } from "./conditional.ts";
import { inPreferredLength } from "./preferences.ts";
import { tagIn, tagsInCodings } from "./tags.ts";

/** A finished response, ready for a binding to send. */
export interface Answer {
  readonly status: number;
  /** Each name is followed by its value. */
  readonly headers: string[];
  /** Null if there is no content. Also null for HEAD, which has the same header fields as GET. */
  readonly content: string | Uint8Array | null;
}

// A response of the API is data. A browser must not guess its type, run it, frame it, or send a referrer from it.
const API_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** The HSTS value of a year for this host only, because its subdomains may not support TLS. */
export const HSTS = "max-age=31536000";

/** Returns the additional facts about a reply that a format may use, such as the links of a page. */
type ViewOf = (reply: Reply) => View;

/** Writes a reply in the negotiated format and coding. Synchronous if nothing is compressed. */
export function writeReply(exchange: Exchange, original: Reply, createView: ViewOf): Eventually<Answer> {
  const reply = exchange.preferences === null ? original : inPreferredLength(exchange, original);
  if (reply.body === undefined) return writeContent(exchange, reply, null);
  const { call, format } = exchange;
  const content = writeBody(reply, reply.body, format, createView);
  const late = content instanceof Promise ? call.awaiting(`The format ${format.mediaType}`, content) : content;
  return after(late, (written) => writeContent(exchange, reply, requireContent(written, format)));
}

function writeContent(exchange: Exchange, original: Reply, content: string | Uint8Array | null): Eventually<Answer> {
  const { call, format } = exchange;
  const reply = exchange.showsSecret ? { ...original, cache: "no-store" as const } : original;
  const type = reply.body?.kind === "raw" ? reply.body.type : formatContentType(format.mediaType, format);
  const bytes = content === null ? 0 : Buffer.byteLength(content);
  const variesByCoding = isCompressible(exchange, reply, bytes, type);
  const coding = variesByCoding ? codingFor(exchange) : null;
  const isShown = !isUnsafe(call.method) && reply.status === 200 && content !== null && reply.cache !== "no-store";
  const state = findStateTag(reply, format, content) ?? (isShown ? contentTag(content) : null);
  const tag = state === null ? null : tagIn(state, coding);
  if (isShown && hasPreconditions(call)) {
    const weighed = checkPreconditions(call, [tag!, ...tagsInCodings(state!)]);
    if (weighed.kind === "failed") throw problem("precondition_failed");
    if (weighed.kind === "not_modified") return finished(exchange, notModified(reply, weighed.tag, variesByCoding));
  }
  const written: Written = { reply, content, type, bytes, coding: null, variesByCoding, tag };
  if (coding === null) return finished(exchange, written);
  return compress(content!, coding, isForEveryone(exchange, reply)).then((compressed) =>
    finished(exchange, { ...written, content: compressed, bytes: compressed.length, coding }),
  );
}

/** Returns true for a reply that is the same for all callers and has a `max-age`, for example a document or a page. */
function isForEveryone({ endpoint }: Exchange, { cache, maxAgeSeconds, body }: Reply): boolean {
  return endpoint.access === "open" && cache === "public" && maxAgeSeconds !== undefined && body?.kind === "raw";
}

/** A reply with its written body. */
interface Written {
  readonly reply: Reply;
  readonly content: string | Uint8Array | null;
  readonly type: string;
  readonly bytes: number;
  readonly coding: Coding | null;
  /** True if the response depends on `Accept-Encoding`. */
  readonly variesByCoding: boolean;
  readonly tag: string | null;
}

function notModified(reply: Reply, tag: string, variesByCoding: boolean): Written {
  return { reply: { ...reply, status: 304 }, content: null, type: "", bytes: 0, coding: null, variesByCoding, tag };
}

function finished(exchange: Exchange, written: Written): Answer {
  return compose(exchange.call, written.reply.status, written.content, buildHeaders(exchange, written));
}

/** Returns the ETag of the reply in its format, without the coding. Returns null if the reply has no ETag. */
function findStateTag({ tag, body }: Reply, format: Format, content: string | Uint8Array | null): string | null {
  if (typeof tag !== "string") return null;
  if (body?.kind === "raw") return tag;
  return (format.tagged === undefined || content === null ? tag : contentTag(content)) + format.tagSuffix;
}

/** Returns the reply without its body, for a caller who may write but not read. 200 becomes 204. */
export function withoutBody({ body: _body, tag: _tag, status, headers = [], ...reply }: Reply): Reply {
  const retained = headers.filter(([name]) =>
    /^(?:location|set-cookie|idempotency-replayed|preference-applied)$/i.test(name),
  );
  return { ...reply, status: status === 200 ? 204 : status, headers: retained };
}

/**
 * Returns an ETag computed from the content, for content without a revision. It is the start of a digest: long enough
 * to distinguish contents, too short to prove their integrity.
 */
export function contentTag(content: string | Uint8Array): string {
  return hash("sha1", content, "base64url").slice(0, 16);
}

function writeBody(reply: Reply, body: Body, format: Format, createView: ViewOf): Eventually<string | Uint8Array> {
  if (body.kind === "raw") return body.content;
  if (body.kind === "json" && format.writeJSON !== undefined) return format.writeJSON(body.json);
  if (body.kind === "data") return format.write(body, createView(reply));
  const { json } = body;
  return after(json.length > LARGE_BYTES ? takeTurn() : undefined, () =>
    format.write({ ...body, value: valueOfJSON(json) }, createView(reply)),
  );
}

/** Throws a fault if a custom format returns a value other than a text or bytes. */
function requireContent(content: string | Uint8Array, { mediaType }: Format): string | Uint8Array {
  if (typeof content === "string" || content instanceof Uint8Array) return content;
  throw new TypeError(`The format ${mediaType} wrote ${describeType(content)}; it has to be a text or bytes`);
}

function formatContentType(mediaType: string, { charset }: Format): string {
  // JSON and XML define their encoding themselves (RFC 8259 §8.1).
  return charset === undefined || !mediaType.startsWith("text/") ? mediaType : `${mediaType}; charset=${charset}`;
}

function buildHeaders(exchange: Exchange, written: Written): string[] {
  const { call } = exchange;
  const { reply, content, type, bytes, coding, tag } = written;
  const headers: string[] = [];
  if (content !== null) headers.push("Content-Type", type, "Content-Length", String(bytes));
  else if (reply.status !== 204 && reply.status !== 304) headers.push("Content-Length", "0");
  if (coding !== null) headers.push("Content-Encoding", coding);
  // `Vary` cannot name a query parameter, so the response to a URL with a credential must not be stored in a shared
  // cache.
  const isPublic = reply.cache === "public" && !exchange.identityWasRead && exchange.query === call.query;
  if (isPublic)
    headers.push(
      "Cache-Control",
      reply.maxAgeSeconds === undefined ? "public, no-cache" : `public, max-age=${reply.maxAgeSeconds}`,
    );
  else headers.push("Cache-Control", reply.cache === "no-store" ? "no-store" : "private, no-cache");
  const vary = formatVary(exchange, written, isPublic);
  if (vary !== "") headers.push("Vary", vary);
  if (tag !== null) headers.push("ETag", tag);
  // A shared cache may store the response, so it must not contain a request id that the caller chose.
  const isAnybodys = isPublic || (exchange.endpoint.access === "open" && exchange.endpoint.method === "GET");
  const requestId = isAnybodys ? call.requireOwnRequestId() : call.requestId;
  const policy =
    reply.contentSecurityPolicy ?? (reply.body?.kind === "raw" ? undefined : exchange.format.contentSecurityPolicy);
  pushCommon(headers, requestId, {
    hsts: strictTransport(exchange.service, call),
    policy,
    isPage: content !== null && type.startsWith("text/html"),
  });
  if (exchange.followed.length > 0) headers.push("Preference-Applied", exchange.followed.join(", "));
  if (reply.headers !== undefined) for (const [name, value] of reply.headers) headers.push(name, value);
  return headers;
}

/**
 * Returns the request header fields that the response depends on: the fields of the negotiation, the fields with
 * credentials if they were read, and the fields that the reply names.
 */
function formatVary({ endpoint, service: { schemeSet } }: Exchange, written: Written, isPublic: boolean): string {
  const { vary: named = "" } = written.reply;
  const vary = !written.variesByCoding ? named : named === "" ? "Accept-Encoding" : `Accept-Encoding, ${named}`;
  const credentialsDecided = !isPublic && endpoint.access !== "open";
  const accept = credentialsDecided ? schemeSet.varyWithAccept : "Accept";
  const common = endpoint.produces === undefined ? accept : credentialsDecided ? schemeSet.vary : "";
  return common === "" || vary === "" ? common + vary : `${common}, ${vary}`;
}

/** The rules of a response for browsers. */
interface BrowserRules {
  readonly hsts: string | null;
  /** The Content-Security-Policy. Default: a browser may run and load nothing. */
  readonly policy?: string | undefined;
  /**
   * True for a page. Its forms need the policy `same-origin`: with `no-referrer`, browsers send `Origin: null`.
   * Default: false.
   */
  readonly isPage?: boolean;
}

/** Adds the header fields of every response: the request id, and the rules for browsers. */
export function pushCommon(
  headers: string[],
  requestId: string,
  { hsts, policy = API_POLICY, isPage = false }: BrowserRules,
): void {
  headers.push(
    "X-Request-Id",
    requestId,
    "X-Content-Type-Options",
    "nosniff",
    "Referrer-Policy",
    isPage ? "same-origin" : "no-referrer",
    "Content-Security-Policy",
    policy,
  );
  if (hsts !== null) headers.push("Strict-Transport-Security", hsts);
}

/** Returns the value of `Strict-Transport-Security`, which makes a browser stay on TLS. Returns null without TLS. */
function strictTransport({ hsts }: Pick<ServiceCore, "hsts">, { client }: Call): string | null {
  if (!client.encrypted) return null;
  return hsts === "subdomains" ? `${HSTS}; includeSubDomains` : HSTS;
}

function compose(call: Call, status: number, content: string | Uint8Array | null, headers: string[]): Answer {
  return { status, headers, content: call.method === "HEAD" ? null : content };
}

/** Writes a problem document (RFC 9457). Default format: the format that the caller prefers. */
export function writeProblem(
  service: ServiceCore,
  call: Call,
  reportedProblem: Problem,
  createView: () => View,
  format = negotiateProblem(readAccept(call, service.formats), service.formats),
): Eventually<Answer> {
  const document = {
    type: `${service.basePath}/problems/${reportedProblem.code}`,
    title: reportedProblem.title,
    status: reportedProblem.status,
    detail: reportedProblem.detail,
    code: reportedProblem.code,
    request_id: call.requestId,
    ...(reportedProblem.issues.length === 0 ? {} : { errors: reportedProblem.issues.slice(0, MAX_ISSUES) }),
    ...reportedProblem.extensions,
  };
  const written = format.writeProblem(document, createView());
  return after(
    call.awaiting(() => `The format ${format.mediaType}`, written),
    (content) => sendProblem(service, call, reportedProblem, { format, content: requireContent(content, format) }),
  );
}

function sendProblem(
  service: ServiceCore,
  call: Call,
  reportedProblem: Problem,
  { format, content }: { readonly format: Format; readonly content: string | Uint8Array },
): Answer {
  const headers = [
    "Content-Type",
    formatContentType(format.problemMediaType, format),
    "Content-Length",
    String(Buffer.byteLength(content)),
    "Cache-Control",
    "no-store",
    "Vary",
    service.schemeSet.varyWithAccept,
  ];
  pushCommon(headers, call.requestId, {
    hsts: strictTransport(service, call),
    policy: format.contentSecurityPolicy,
    isPage: format.hasForms === true,
  });
  for (const [name, value] of reportedProblem.headers)
    if (name !== "WWW-Authenticate" || format.asksInPlaceOf?.(value) !== true) headers.push(name, value);
  return compose(call, reportedProblem.status, content, headers);
}

/** Writes the response to OPTIONS with the methods of a path. The request needs no credentials. */
export function writeOptions(service: ServiceCore, call: Call, route: Route): Answer {
  const headers = ["Allow", route.allow];
  for (const [method, field] of acceptFields) {
    const consumes = route.methods.get(method)?.consumes;
    if (consumes !== undefined) headers.push(field, consumes.join(", "));
  }
  headers.push("Cache-Control", "no-store");
  pushCommon(headers, call.requestId, { hsts: strictTransport(service, call) });
  return compose(call, 204, null, headers);
}
