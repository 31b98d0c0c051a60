import type { IncomingMessage, ServerResponse } from "node:http";
import type { Arrival, ReportedClient, Weigh } from "../../../core/call/call.ts";
import type { Eventually } from "../../../core/eventually.ts";
import { readBody } from "./body.ts";
import { readPeerAddress } from "./peer.ts";

/** A request of `node:http` in the form of the core. */
export class NodeArrival implements Arrival {
  readonly method: string;
  readonly target: string;
  readonly rawHeaders: readonly string[];
  readonly version?: string;
  readonly peer: string;
  readonly client: ReportedClient | undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse | null;

  /** `response` is null for `CONNECT`, which has no body. */
  constructor(request: IncomingMessage, target: string, response: ServerResponse | null, client?: ReportedClient) {
    this.#request = request;
    this.#response = response;
    this.method = request.method!;
    this.target = target.startsWith("/") ? target : originForm(target);
    this.rawHeaders = request.rawHeaders;
    // On HTTP/2, the stream provides the framing.
    if (!("stream" in request)) this.version = request.httpVersion;
    // Read immediately: a connection that is reset later no longer has an address.
    this.peer = readPeerAddress(request.socket);
    this.client = client;
  }

  get encrypted(): boolean {
    return "encrypted" in this.#request.socket;
  }

  readBody(maxBytes: number, weigh?: Weigh): Eventually<Uint8Array> {
    const response = this.#response;
    if (response === null) return new Uint8Array();
    return readBody(this.#request, maxBytes, weigh, () => {
      if (isAwaited(this.#request, response)) response.writeContinue();
    });
  }
}

/** Returns true if the caller waits for `100 Continue` (RFC 9110 §10.1.1), and `node:http` has not sent it. */
function isAwaited(
  { headers, complete, httpVersionMinor }: IncomingMessage,
  response: ServerResponse & { readonly _sent100?: boolean },
): boolean {
  const isExpected = !complete && httpVersionMinor === 1 && headers.expect?.toLowerCase() === "100-continue";
  return isExpected && response._sent100 !== true && !response.headersSent;
}

/** Returns the path of a target. A proxy may send an absolute URL (RFC 9112 §3.2.2). */
function originForm(target: string): string {
  const authority = /^https?:\/\/[^/?#]*/i.exec(target);
  if (authority === null) return target;
  const rest = target.slice(authority[0].length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}
