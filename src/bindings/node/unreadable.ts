import { randomUUID } from "node:crypto";
import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import { json } from "../../http/formats/json.ts";
import { MAX_REQUEST_LINE_BYTES } from "../../http/limits.ts";
import { pushCommon } from "../../http/writing.ts";
import type { ProblemCode } from "../../problem/catalogue.ts";
import { problem, type ProblemOptions } from "../../problem/problem.ts";

interface ParseError extends Error {
  readonly code?: string;
  readonly rawPacket?: Uint8Array;
}

/** Answers what could not be read as a request, as HTTP allows, and closes the connection. */
export function refuseUnreadable(error: ParseError, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) socket.destroy();
  else endWith(socket, codeOf(error));
}

function codeOf({ code, rawPacket }: ParseError): ProblemCode {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "request_timeout";
  if (code !== "HPE_HEADER_OVERFLOW") return "malformed";
  const lineEnd = rawPacket === undefined ? 0 : Buffer.from(rawPacket).indexOf("\r\n");
  return lineEnd === -1 || lineEnd > MAX_REQUEST_LINE_BYTES ? "uri_too_long" : "headers_too_large";
}

/** Beyond `most` connections a new one is told so, and closed. */
export function limitConnections(server: Server, most: number): void {
  let open = 0;
  server.prependListener("connection", (socket: Duplex) => {
    open++;
    socket.once("close", () => open--);
    if (open > most) endWith(socket, "unavailable", { headers: [["Retry-After", "1"]] });
  });
}

function endWith(socket: Duplex, code: ProblemCode, options?: ProblemOptions): void {
  const told = problem(code, options);
  const requestId = randomUUID();
  const content = json.writeProblem({
    type: `/problems/${code}`,
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
  pushCommon(headers, requestId, "encrypted" in socket);
  headers.push("Date", new Date().toUTCString(), "Connection", "close", ...told.headers.flat());
  let head = `HTTP/1.1 ${told.status} ${told.title}\r\n`;
  for (let at = 0; at < headers.length; at += 2) head += `${headers[at]!}: ${headers[at + 1]!}\r\n`;
  socket.end(`${head}\r\n${content}`);
}
