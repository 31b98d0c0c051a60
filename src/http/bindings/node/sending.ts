import type { IncomingMessage, ServerResponse } from "node:http";
import type { Answer } from "../../answer/writing.ts";
import { endGently } from "./ending.ts";
import type { Peer } from "./peer.ts";
import { isStream, type OnStream } from "./streams.ts";
import { makeUnread, type WatchedSocket } from "./unread.ts";

/** The time limit for sending a response while its request is still arriving, in milliseconds. */
const SEND_LIMIT_MS = 30_000;

/** Counts the unread responses of the whole process, because all connections share its memory. */
const unread = makeUnread();

/** Receives the network address of a connection that was closed because too many responses waited for their readers. */
export type ReportUnread = (address: string) => void;

/**
 * Sends a response. Then closes the connection if the server is closing, or if a part of the request body is still
 * missing.
 */
export function send(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  closing: boolean,
  report: ReportUnread,
): void {
  if (!isStillComing(request)) return sendWhole(response, answer, closing, report);
  // The rest of a short body may arrive in this turn. If the whole body arrives, the connection stays open for the next
  // request.
  setImmediate(() => {
    const isCut = isStillComing(request);
    if (isCut && !isStream(request)) return sendAhead(request, response, answer);
    sendWhole(response, answer, closing, report);
    // Other requests share the connection. So only the rest of this request is refused (RFC 9113 §8.1).
    if (isCut && isStream(request)) request.stream.close();
  });
}

function sendWhole(
  response: ServerResponse,
  { status, headers, content }: Answer,
  closing: boolean,
  report: ReportUnread,
): void {
  if (isAnswered(response)) return;
  if (closing) headers.push("Connection", "close");
  response.writeHead(status, headers);
  if (content === null) return void response.end();
  const octets = Buffer.byteLength(content);
  response.end(content, chooseEncoding(content, octets));
  // A stream of HTTP/2 that was closed in the meantime has no socket.
  const socket = response.socket ?? null;
  if (socket !== null) unread.watch(isStream(response) ? ofStream(response.stream, socket, octets) : socket, report);
}

/**
 * Returns a stream of HTTP/2 in the form of a socket, to count its unread octets. The response waits in memory until
 * the client reads the stream, and is dropped if the stream is closed.
 */
function ofStream(stream: OnStream["stream"], socket: Peer, octets: number): WatchedSocket {
  const { remoteAddress, localAddress, destroyed } = socket;
  return {
    isStream: true,
    remoteAddress,
    localAddress,
    destroyed,
    // A stream counts the characters of a text, not its octets.
    writableLength: stream.writableLength === 0 ? 0 : octets,
    on: stream.on.bind(stream),
    destroy: () => stream.destroy(),
  } as WatchedSocket;
}

/** Returns true if other code has already answered the request, for example a middleware with its own timeout. */
function isAnswered({ headersSent }: ServerResponse): boolean {
  return headersSent;
}

/**
 * Returns the encoding for a text. For ASCII, `latin1` and `utf8` produce the same octets, and `latin1` is faster: for
 * `utf8`, Node reserves three times the memory and sends in the next turn of the event loop.
 */
function chooseEncoding(content: string | Uint8Array, octets: number): "latin1" | "utf8" {
  return typeof content === "string" && octets === content.length ? "latin1" : "utf8";
}

/**
 * Sends a response before the whole body has arrived. Does not wait for the rest of the body, because a refused client
 * could send forever.
 */
function sendAhead(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  if (isAnswered(response)) return;
  const { socket } = response;
  // The responses to earlier requests on this connection go first.
  if (socket === null) return void response.once("socket", () => sendAhead(request, response, answer));
  // A later request of this connection was unreadable, and its refusal has already closed the socket for writing.
  if (socket.writableEnded) return;
  const { status, headers, content } = answer;
  response.shouldKeepAlive = false;
  response.writeHead(status, headers);
  if (content === null || content.length === 0) response.flushHeaders();
  else response.write(content);
  endGently(socket, SEND_LIMIT_MS);
  // Drops the input that was already read.
  request.resume();
}

/**
 * Returns true if a part of the body is still missing. This runs for every request, so it does not use the parsed
 * header object of Node.
 */
function isStillComing({ complete, rawHeaders }: IncomingMessage): boolean {
  if (complete) return false;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 14 && name.toLowerCase() === "content-length") return rawHeaders[at + 1] !== "0";
    if (name.length === 17 && name.toLowerCase() === "transfer-encoding") return true;
  }
  return false;
}
