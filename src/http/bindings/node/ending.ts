import { randomUUID } from "node:crypto";
import type { Duplex } from "node:stream";
import type { ProblemCode } from "../../../core/problem/catalogue.ts";
import { problem, type ProblemOptions } from "../../../core/problem/problem.ts";
import { HSTS, pushCommon, type Answer } from "../../answer/writing.ts";
import { json } from "../../formats/json.ts";
import { STATUS_CODES } from "./http-module.ts";

/**
 * How long a connection stays open after the response, in milliseconds. In this time, the client can finish sending and
 * read the response.
 */
const LINGER_MS = 1000;

/**
 * The maximum number of bytes that are read after the response. Enough for a client that started to send before the
 * response.
 */
const MOST_PASSED_BYTES = 64 * 1024;

interface EndOptions extends ProblemOptions<{}> {
  /** The path below which the problem pages are. */
  readonly basePath: string;
}

/** Sends a problem on a socket without a request, and closes it. */
export function endWith(socket: Duplex, code: ProblemCode, { basePath, ...options }: EndOptions): void {
  const reportedProblem = problem(code, options);
  const requestId = randomUUID();
  const content = json.writeProblem({
    type: `${basePath}/problems/${code}`,
    title: reportedProblem.title,
    status: reportedProblem.status,
    detail: reportedProblem.detail,
    code,
    request_id: requestId,
  });
  const headers = [
    "Content-Type",
    json.problemMediaType,
    "Content-Length",
    String(Buffer.byteLength(content)),
    "Cache-Control",
    "no-store",
  ];
  pushCommon(headers, requestId, { hsts: "encrypted" in socket ? HSTS : null });
  headers.push("Cross-Origin-Resource-Policy", "same-origin");
  headers.push(...reportedProblem.headers.flat());
  endWithAnswer(socket, { status: reportedProblem.status, headers, content });
}

/** Sends a response on a socket without a request, and closes it. */
export function endWithAnswer(socket: Duplex, { status, headers, content }: Answer): void {
  const all = [...headers, "Date", new Date().toUTCString(), "Connection", "close"];
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
  for (let at = 0; at < all.length; at += 2) head += `${all[at]!}: ${all[at + 1]!}\r\n`;
  socket.write(`${head}\r\n`, "latin1");
  if (content !== null) socket.write(content);
  endGently(socket);
}

/**
 * Closes a connection after a response, also if the client is still sending. A socket that is closed with unread input
 * sends a reset, and a reset can destroy the response. So this function first closes the connection for writing only.
 * Then it reads and drops a little input, and waits a moment for the client to close the connection. `forAnswerMs` is
 * the time for sending the response. Default: 0, for a response that was sent already.
 */
export function endGently(socket: Duplex, forAnswerMs = 0): void {
  dropInput(socket, MOST_PASSED_BYTES);
  const giveUp = (): void => void socket.destroy();
  // Over TLS, a client that has already disconnected may never be reported as closed.
  let timer = setTimeout(giveUp, LINGER_MS + forAnswerMs).unref();
  socket.once("close", () => clearTimeout(timer));
  socket.end(() => {
    clearTimeout(timer);
    if (!socket.destroyed) timer = setTimeout(giveUp, LINGER_MS).unref();
  });
}

/** Drops the input. No other code reads the socket from now on. */
function dropInput(socket: Duplex, bytes: number): void {
  let left = bytes;
  socket.removeAllListeners("data");
  socket.on("data", (chunk: Uint8Array) => {
    left -= chunk.length;
    if (left <= 0) stopReading(socket);
  });
  socket.resume();
}

/** Stops reading. A socket that is only paused reads once more and stores the data: 64 MiB for a thousand sockets. */
function stopReading(socket: Duplex & { readonly _handle?: { readStop?(): void } | null }): void {
  socket.pause();
  socket._handle?.readStop?.();
}
