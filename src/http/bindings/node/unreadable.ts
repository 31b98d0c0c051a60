import { METHODS, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Arrival } from "../../../core/call/call.ts";
import { after, type Eventually } from "../../../core/eventually.ts";
import type { Observer } from "../../../core/observation.ts";
import type { ProblemCode } from "../../../core/problem/catalogue.ts";
import type { Answer } from "../../answer/writing.ts";
import { MAX_REQUEST_LINE_BYTES } from "../../limits.ts";
import { endWith, endWithAnswer } from "./ending.ts";
import { peerOf } from "./peer.ts";

/** What can answer: a service. */
export interface Responder {
  respond(arrival: Arrival): Eventually<Answer>;
  /** Whether something of it stands at a target; at all of them where it is left out. */
  serves?(target: string): boolean;
  /** Hears what was refused before it was a request. */
  readonly observe?: Observer | null;
  /** The path below which it stands; the root where it is left out. */
  readonly basePath?: string;
}

interface ParseError extends Error {
  readonly code?: string;
  readonly reason?: string;
  readonly rawPacket?: Uint8Array;
  /** Where in the packet the parser gave up. */
  readonly bytesParsed?: number;
}

/**
 * Answers what could not be read as a request, as HTTP allows, and closes the connection. A method that Node's parser does not
 * know is one like any other: whether the path is there and what it offers, the service tells.
 */
export function refuseUnreadable(error: ParseError, socket: Duplex, service: Responder): void {
  // What comes behind it is as unreadable, and closing on it would take the answer with it.
  if (refused.has(socket)) return;
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  refused.add(socket);
  inTurn(socket, () => refuse(error, socket, service));
}

const refused = new WeakSet<Duplex>();

/** What `node:http` keeps beside a socket: the answer whose turn it is. */
export interface HoldsMessage {
  readonly _httpMessage?: ServerResponse | null;
}

/** Waits until the requests before it are answered, for answers are told apart by their order (RFC 9112 §9.3.2). */
export function inTurn(socket: Duplex & HoldsMessage, act: () => void): void {
  const before = socket._httpMessage;
  // A request that is not complete is the unreadable one; it may have its answer already.
  if (before === undefined || before === null) act();
  else if (before.req.complete) before.once("close", () => inTurn(socket, act));
  else if (before.headersSent) socket.destroy();
  else act();
}

function refuse(error: ParseError, socket: Duplex, service: Responder): void {
  if (!socket.writable) return void socket.destroy();
  const { basePath = "" } = service;
  const unknown = findUnknownMethod(error);
  if (unknown === null) observe(error, socket as Socket, service);
  if (unknown === null) return endWith(socket, codeOf(error), { basePath });
  const arrival: Arrival = {
    ...unknown,
    peer: peerOf(socket as Socket),
    encrypted: "encrypted" in socket,
    readBody: async () => new Uint8Array(),
  };
  void after(service.respond(arrival), (answer) => endWithAnswer(socket, answer));
}

/** One that is a request already is told of when it is answered. */
function observe(error: ParseError, socket: Socket & HoldsMessage, service: Responder): void {
  const isRequest = socket._httpMessage !== undefined && socket._httpMessage !== null;
  if (isRequest && error.code === "ERR_HTTP_REQUEST_TIMEOUT") return;
  const reason = error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? "headers_timeout" : "unreadable";
  service.observe?.({
    kind: "refused",
    reason,
    address: peerOf(socket),
    detail: error.reason ?? error.code ?? "unknown",
  });
}

/** The head of a request of which the parser did not know the method; null where its first line is no request line. */
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

/** The header fields at the beginning of a text, names and values in turn; none where one is malformed, or not all are there. */
function fieldsIn(text: string): string[] {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return [];
  const fields = text
    .slice(0, end)
    .split("\r\n")
    .map((line) => /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t\x20-\x7e\x80-\xff]*)$/.exec(line));
  return fields.includes(null) ? [] : fields.flatMap((field) => [field![1]!, field![2]!.trim()]);
}

function codeOf({ code, reason, rawPacket }: ParseError): ProblemCode {
  // With two lengths nobody knows where it ends; with one that is not read here, only we do not.
  if (code === "HPE_INVALID_TRANSFER_ENCODING" && reason?.includes("Content-Length") !== true) return "not_implemented";
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "request_timeout";
  if (code !== "HPE_HEADER_OVERFLOW") return "malformed";
  const packet = Buffer.from(rawPacket ?? []).toString("latin1");
  const lineEnd = packet.indexOf("\r\n");
  const line = lineEnd === -1 ? packet : packet.slice(0, lineEnd);
  // The packet is the last of several perhaps: what has white space in it is then a header field, and no target.
  const isTarget = /^([A-Z-]+ )?\S*( HTTP\/1\.\d)?$/.test(line);
  return isTarget && (lineEnd === -1 || lineEnd > MAX_REQUEST_LINE_BYTES) ? "uri_too_long" : "headers_too_large";
}
