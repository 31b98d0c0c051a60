import type { IncomingMessage, ServerResponse } from "node:http";
import type { Answer } from "../../answer/writing.ts";
import { endGently } from "./ending.ts";
import type { Peer } from "./peer.ts";
import { isStream, type OnStream } from "./streams.ts";
import { makeUnread, type Counted } from "./unread.ts";

/** How long an answer may take to leave whose request is still coming in. */
const LEAVING_MS = 30_000;

/** Of the whole process: so much is one memory. */
const unread = makeUnread();

/** Hears of a connection that was closed because too many answers waited for their readers: its network. */
export type TellUnread = (address: string) => void;

/** Sends an answer, and closes the connection behind it where the server is closing or the rest of the request is not wanted. */
export function send(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  closing: boolean,
  tell: TellUnread,
): void {
  if (!isStillComing(request)) return sendWhole(response, answer, closing, tell);
  // What came together with the head may be the whole body, and then the connection is as good as before.
  setImmediate(() => {
    const isCut = isStillComing(request);
    if (isCut && !isStream(request)) return sendAhead(request, response, answer);
    sendWhole(response, answer, closing, tell);
    // Others share its connection: what is still coming is refused of this request alone (RFC 9113 §8.1).
    if (isCut && isStream(request)) request.stream.close();
  });
}

function sendWhole(
  response: ServerResponse,
  { status, headers, content }: Answer,
  closing: boolean,
  tell: TellUnread,
): void {
  if (isAnswered(response)) return;
  if (closing) headers.push("Connection", "close");
  response.writeHead(status, headers);
  if (content === null) return void response.end();
  const octets = Buffer.byteLength(content);
  response.end(content, encodingOf(content, octets));
  // On a stream of HTTP/2 that has been closed in the meantime there is none.
  const socket = response.socket ?? null;
  if (socket !== null) unread.watch(isStream(response) ? ofStream(response.stream, socket, octets) : socket, tell);
}

/** An answer on a stream of HTTP/2 waits for the reader of that stream, and goes with it. */
function ofStream(stream: OnStream["stream"], socket: Peer, octets: number): Counted {
  const { remoteAddress, localAddress, destroyed } = socket;
  return {
    isStream: true,
    remoteAddress,
    localAddress,
    destroyed,
    // A stream counts the characters of a text.
    writableLength: stream.writableLength === 0 ? 0 : octets,
    on: stream.on.bind(stream),
    destroy: () => stream.destroy(),
  } as Counted;
}

/** Somebody in front of the service has answered meanwhile, such as one who gives requests a time of their own. */
function isAnswered({ headersSent }: ServerResponse): boolean {
  return headersSent;
}

/** Text of ASCII alone is the same bytes in both encodings, and Node copies it: in UTF-8 it makes room for three times as much and leaves it to the next turn. */
function encodingOf(content: string | Uint8Array, octets: number): "latin1" | "utf8" {
  return typeof content === "string" && octets === content.length ? "latin1" : "utf8";
}

/** Answers before the body is there, which is not waited for: whoever is refused could send for ever. */
function sendAhead(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  if (isAnswered(response)) return;
  const { socket } = response;
  // The answers to what was asked before on this connection go first.
  if (socket === null) return void response.once("socket", () => sendAhead(request, response, answer));
  // What came next could not be read, and that has been answered.
  if (socket.writableEnded) return;
  const { status, headers, content } = answer;
  response.shouldKeepAlive = false;
  response.writeHead(status, headers);
  if (content === null || content.length === 0) response.flushHeaders();
  else response.write(content);
  endGently(socket, LEAVING_MS);
  // What has been read of it already is nobody's.
  request.resume();
}

/** Asked of every request, so without the headers that Node makes an object of. */
function isStillComing({ complete, rawHeaders }: IncomingMessage): boolean {
  if (complete) return false;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 14 && name.toLowerCase() === "content-length") return rawHeaders[at + 1] !== "0";
    if (name.length === 17 && name.toLowerCase() === "transfer-encoding") return true;
  }
  return false;
}
