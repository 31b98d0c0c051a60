import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Arrival } from "../../../core/call/call.ts";
import { after, type Eventually } from "../../../core/eventually.ts";
import type { Observer } from "../../../core/observation.ts";
import type { ProblemCode } from "../../../core/problem/catalogue.ts";
import type { Answer } from "../../answer/writing.ts";
import { MAX_REQUEST_LINE_BYTES } from "../../limits.ts";
import { endWith, endWithAnswer } from "./ending.ts";
import { METHODS } from "./http-module.ts";
import { readPeerAddress } from "./peer.ts";

/** Answers requests: a service. */
export interface Responder {
  respond(arrival: Arrival): Eventually<Answer>;
  /** Returns true if the service has something at a target. Without this method, it serves all targets. */
  serves?(target: string): boolean;
  /** Receives the refusals of connections, and of requests that cannot be parsed. */
  readonly observe?: Observer | null;
  /** The path below which the service is mounted. Default: the root. */
  readonly basePath?: string;
}

interface ParseError extends Error {
  readonly code?: string;
  readonly reason?: string;
  readonly rawPacket?: Uint8Array;
  /** The position in the packet at which the parser stopped. */
  readonly bytesParsed?: number;
}

/**
 * Answers a request that Node's parser refuses, and closes the connection. A request with a method that the parser does
 * not know goes to the service, which decides whether the path exists and which methods it has.
 */
export function refuseUnreadable(error: ParseError, socket: Duplex, service: Responder): void {
  // Later input is unreadable too, and closing the socket now would destroy the response.
  if (refused.has(socket)) return;
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  refused.add(socket);
  afterEarlierAnswers(socket, () => refuse(error, socket, service));
}

const refused = new WeakSet<Duplex>();

/** The member that `node:http` adds to a socket: the current response. */
export interface HoldsMessage {
  readonly _httpMessage?: ServerResponse | null;
}

/**
 * Waits until the earlier requests of the connection are answered, because a client assigns responses by their order
 * (RFC 9112 §9.3.2).
 */
export function afterEarlierAnswers(socket: Duplex & HoldsMessage, act: () => void): void {
  const before = socket._httpMessage;
  // The current message may be the unreadable request itself.
  if (before === undefined || before === null) act();
  else if (before.req.complete) before.once("close", () => afterEarlierAnswers(socket, act));
  else if (before.headersSent) socket.destroy();
  else act();
}

function refuse(error: ParseError, socket: Duplex, service: Responder): void {
  if (!socket.writable) return void socket.destroy();
  const { basePath = "" } = service;
  const unknown = findUnknownMethod(error);
  if (unknown === null) observe(error, socket as Socket, service);
  if (unknown === null) return endWith(socket, chooseCode(error), { basePath });
  const arrival: Arrival = {
    ...unknown,
    peer: readPeerAddress(socket as Socket),
    encrypted: "encrypted" in socket,
    readBody: async () => new Uint8Array(),
  };
  void after(service.respond(arrival), (answer) => endWithAnswer(socket, answer));
}

/**
 * Reports the refusal, except a timeout after Node has parsed the head: the service reports that request with its
 * response.
 */
function observe(error: ParseError, socket: Socket & HoldsMessage, service: Responder): void {
  const isRequest = socket._httpMessage !== undefined && socket._httpMessage !== null;
  if (isRequest && error.code === "ERR_HTTP_REQUEST_TIMEOUT") return;
  const reason = error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? "headers_timeout" : "unreadable";
  service.observe?.({
    kind: "refused",
    reason,
    address: readPeerAddress(socket),
    detail: error.reason ?? error.code ?? "unknown",
  });
}

/**
 * Returns the head of a request with a method that the parser does not know. Returns null if its first line is not a
 * request line.
 */
function findUnknownMethod({
  code,
  rawPacket,
  bytesParsed = 0,
}: ParseError): Pick<Arrival, "method" | "target" | "rawHeaders"> | null {
  if (code !== "HPE_INVALID_METHOD" || rawPacket === undefined) return null;
  const packet = Buffer.from(rawPacket).toString("latin1");
  let start = bytesParsed;
  while (start > 0 && /[A-Za-z-]/.test(packet[start - 1]!)) start--;
  const head = packet.slice(start);
  const line = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\/[\x21-\x7e]*) HTTP\/1\.[01]\r\n/.exec(head);
  if (line === null || METHODS.includes(line[1]!)) return null;
  return { method: line[1]!, target: line[2]!, rawHeaders: fieldsIn(head.slice(line[0].length)) };
}

/**
 * Returns the header fields at the start of a text, as alternating names and values. Returns an empty list if a field
 * is malformed, or if the end of the header section is missing.
 */
function fieldsIn(text: string): string[] {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return [];
  const fields = text
    .slice(0, end)
    .split("\r\n")
    .map((line) => /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t\x20-\x7e\x80-\xff]*)$/.exec(line));
  return fields.includes(null) ? [] : fields.flatMap((field) => [field![1]!, field![2]!.trim()]);
}

function chooseCode({ code, reason, rawPacket }: ParseError): ProblemCode {
  // Two different lengths make the end of the message ambiguous. An unknown transfer coding is only not supported here.
  if (code === "HPE_INVALID_TRANSFER_ENCODING" && reason?.includes("Content-Length") !== true) return "not_implemented";
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "request_timeout";
  if (code !== "HPE_HEADER_OVERFLOW") return "malformed";
  const packet = Buffer.from(rawPacket ?? []).toString("latin1");
  const lineEnd = packet.indexOf("\r\n");
  const line = lineEnd === -1 ? packet : packet.slice(0, lineEnd);
  // The packet may be a later packet of the request. Text with white space is then a part of a header field, and not of
  // the target.
  const isTarget = /^([A-Z-]+ )?\S*( HTTP\/1\.\d)?$/.test(line);
  return isTarget && (lineEnd === -1 || lineEnd > MAX_REQUEST_LINE_BYTES) ? "uri_too_long" : "headers_too_large";
}
