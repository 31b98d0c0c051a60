import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { ProblemCode } from "../../../core/problem/catalogue.ts";
import { problem, type ProblemOptions } from "../../../core/problem/problem.ts";
import { HSTS, pushCommon, type Answer } from "../../answer/writing.ts";
import { json } from "../../formats/json.ts";

/** How long a connection that is to be closed stays open for one who may still be sending, and has not read the answer. */
const LINGER_MS = 1000;

/** How much of what is still sent is read, in bytes: enough for those who had begun before the answer was on its way. */
const MOST_PASSED_BYTES = 64 * 1024;

interface EndOptions extends ProblemOptions<{}> {
  /** Where the pages of problems stand. */
  readonly basePath: string;
}

/** Answers with a problem on a socket that no request owns, and closes it. */
export function endWith(socket: Duplex, code: ProblemCode, { basePath, ...options }: EndOptions): void {
  const told = problem(code, options);
  const requestId = randomUUID();
  const content = json.writeProblem({
    type: `${basePath}/problems/${code}`,
    title: told.title,
    status: told.status,
    detail: told.detail,
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
  pushCommon(headers, requestId, "encrypted" in socket ? HSTS : null);
  headers.push("Cross-Origin-Resource-Policy", "same-origin");
  headers.push(...told.headers.flat());
  endWithAnswer(socket, { status: told.status, headers, content });
}

/** Writes an answer on a socket that no request owns, and closes it. */
export function endWithAnswer(socket: Duplex, { status, headers, content }: Answer): void {
  const all = [...headers, "Date", new Date().toUTCString(), "Connection", "close"];
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
  for (let at = 0; at < all.length; at += 2) head += `${all[at]!}: ${all[at + 1]!}\r\n`;
  socket.write(`${head}\r\n`, "latin1");
  if (content !== null) socket.write(content);
  endGently(socket);
}

/**
 * Closes a connection behind an answer, whoever may still be sending. A socket that is closed with octets unread is reset, which can
 * take the answer with it: so our half is closed first, a little is still read and thrown away, and the rest waits a moment for the
 * caller to go. `forAnswerMs` is how long the answer itself may take to leave; without it, it has left as soon as it is written.
 */
export function endGently(socket: Duplex, forAnswerMs = 0): void {
  pass(socket, MOST_PASSED_BYTES);
  const giveUp = (): void => void socket.destroy();
  // Over TLS the end of one who has gone already may never be told.
  let timer = setTimeout(giveUp, LINGER_MS + forAnswerMs).unref();
  socket.once("close", () => clearTimeout(timer));
  socket.end(() => {
    clearTimeout(timer);
    if (!socket.destroyed) timer = setTimeout(giveUp, LINGER_MS).unref();
  });
}

/** Nobody else reads it from now on. */
function pass(socket: Duplex, bytes: number): void {
  let left = bytes;
  socket.removeAllListeners("data");
  socket.on("data", (chunk: Uint8Array) => {
    left -= chunk.length;
    if (left <= 0) stopReading(socket);
  });
  socket.resume();
}

/** A socket that is only paused reads once more, and keeps what came: with a thousand of them that is 64 MiB of what nobody wants. */
function stopReading(socket: Duplex & { readonly _handle?: { readStop?(): void } | null }): void {
  socket.pause();
  socket._handle?.readStop?.();
}
