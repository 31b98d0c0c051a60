import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Socket } from "node:net";
import type { ReportedClient } from "../../../core/call/call.ts";
import { aFunction, optional, isObject, shown } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { otherCopyMistake } from "../../../core/copy.ts";
import type { RefusalReason } from "../../../core/observation.ts";
import type { Answer } from "../../answer/writing.ts";
import { makeBatches } from "../../scheduling/batching.ts";
import { NodeArrival } from "./arrival.ts";
import { readPeerAddress } from "./peer.ts";
import { send } from "./sending.ts";
import { admitStream, isStream } from "./streams.ts";
import { keepTickShape } from "./tick-shape.ts";
import type { Responder } from "./unreadable.ts";

/** The options of a listener behind a framework. */
export interface RequestListenerOptions<Request extends AnyRequest> {
  /**
   * Returns the client's address, and whether its connection uses TLS, as the framework knows them (Express:
   * `request.ip` and `request.secure`). Default: the values of the connection, or those that one of the service's
   * `trustedProxies` reports.
   */
  readonly client?: (request: Request) => ReportedClient;
}

/**
 * Answers a request. With `next`, as in frameworks, a request for a target outside of the service goes to the next
 * handler.
 */
export type Listen<Request extends AnyRequest> = (
  request: Request,
  response: AnyResponse,
  next?: (error?: unknown) => void,
) => void;

/** The requests of `node:http` and `node:http2`. */
type AnyRequest = IncomingMessage | Http2ServerRequest;
type AnyResponse = ServerResponse | Http2ServerResponse;

/** Returns the mistakes in a value that must be a service. */
export function serviceMistakes(service: unknown): readonly string[] {
  const other = otherCopyMistake(service);
  if (other !== null) return [`the service: ${other}`];
  return isObject(service) && typeof service["respond"] === "function"
    ? []
    : [`the service is ${shown(service)}; make one: await createService({ … })`];
}

const checks: ChecksOf<RequestListenerOptions<IncomingMessage>> = { client: optional(aFunction) };

/**
 * Creates a listener for your own server: `http.createServer` and `http2.createServer` take it, Express and NestJS
 * `use` it. Throws `DeclarationError` for a wrong option. The listener throws `TypeError` if it is mounted at a prefix
 * with which the service's `basePath` does not begin.
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { createService } from "latchkey";
 * import { requestListener } from "latchkey/http";
 * import { sqliteStore } from "latchkey/stores";
 *
 * const service = await createService({ store: sqliteStore({ path: ":memory:" }) });
 * createServer(requestListener(service)).listen(8000, "127.0.0.1");
 * ```
 */
export function requestListener(service: Responder): Listen<AnyRequest>;
export function requestListener<Request extends AnyRequest = IncomingMessage>(
  service: Responder,
  options: RequestListenerOptions<Request>,
): Listen<Request>;
export function requestListener<Request extends AnyRequest = IncomingMessage>(
  service: Responder,
  options: RequestListenerOptions<Request> = {},
): Listen<Request> {
  requireOptions(options, checks, { of: "requestListener", more: serviceMistakes(service) });
  return makeListener(service, options);
}

interface InternalOptions<Request extends AnyRequest> extends RequestListenerOptions<Request> {
  /** True while the server is closing. Each response is then the last on its connection. */
  readonly state?: { readonly closing: boolean };
}

const OPEN = { closing: false };

/**
 * Creates the listener without checking the options. Our own server passes `state`, so that responses end their
 * connections while it closes.
 */
export function makeListener<Request extends AnyRequest>(
  service: Responder,
  { state = OPEN, client }: InternalOptions<Request>,
): Listen<Request> {
  const refused = (reason: RefusalReason, address: string, detail: string): void =>
    service.observe?.({ kind: "refused", reason, address, detail });
  const reportUnread = (address: string): void =>
    refused("unread", address, "Too many answers wait for their readers.");
  const batches = makeBatches();
  keepTickShape();
  const take = (request: IncomingMessage, response: ServerResponse, arrival: NodeArrival): void => {
    const reply = (answer: Answer): void =>
      batches.send(() => send(request, response, answer, state.closing, reportUnread));
    const respond = (): void => {
      const answer = service.respond(arrival);
      if (answer instanceof Promise) void answer.then(reply);
      else reply(answer);
    };
    // Over TLS, the response must be written in the turn of the event loop in which the request arrives. Otherwise Node
    // never closes a connection that is reset in that turn.
    if (arrival.encrypted) respond();
    else batches.answer(respond);
  };
  return (incoming, answer, next) => {
    const [request, response] = asOne(incoming, answer);
    const target = targetFor(service, request);
    if (next !== undefined && service.serves?.(target) === false) return next();
    if (isStream(request) && !admitStream(request))
      return refused("streams", readPeerAddress(request.socket), "Too many streams of one connection are open.");
    // The `client` option is called before the request waits for earlier requests. If it throws, the framework gets the
    // error.
    const arrival = new NodeArrival(request, target, response, client && reportedBy(client(incoming)));
    if (response.socket === null && request.httpVersionMajor === 1)
      answerInOrder(request.socket, response, () => take(request, response, arrival));
    else take(request, response, arrival);
  };
}

/** Returns both with the types of `node:http`. The objects of `node:http2` also have all members that are used here. */
function asOne(request: AnyRequest, response: AnyResponse): [IncomingMessage, ServerResponse] {
  return [request, response] as unknown as [IncomingMessage, ServerResponse];
}

/**
 * The client if the `client` option returns no object. The address of the connection is not used, because it may be the
 * address of a proxy.
 */
const UNKNOWN_CLIENT: ReportedClient = { address: undefined, encrypted: false };

function reportedBy(client: unknown): ReportedClient {
  return isObject(client) ? (client as unknown as ReportedClient) : UNKNOWN_CLIENT;
}

/**
 * The members that a framework adds to a request: the original URL (Express, Connect), and the prefix that it removed.
 */
interface FrameworkRequest extends IncomingMessage {
  readonly originalUrl?: string;
  readonly baseUrl?: string;
}

/**
 * Returns the target of a request. If the service has a base path, the target includes the prefix that a framework
 * removed.
 */
function targetFor({ basePath = "" }: Responder, { url, originalUrl, baseUrl = "" }: FrameworkRequest): string {
  // Express ignores case in prefixes.
  if (baseUrl !== "" && !`${basePath}/`.toLowerCase().startsWith(`${baseUrl}/`.toLowerCase()))
    throw new TypeError(
      `The service is mounted at ${baseUrl}, but its addresses begin with ${basePath === "" ? "/" : basePath}. Give it the prefix: createService({ basePath: ${JSON.stringify(baseUrl)} }).`,
    );
  return (basePath === "" ? undefined : originalUrl) ?? url!;
}

/**
 * The number of requests of one connection that are answered in one turn of the event loop. Answering them takes about
 * half a millisecond.
 */
const MOST_OF_A_TURN = 32;

/** The number of requests that may wait on one connection. With more, the connection is no longer read. */
const MOST_WAITING = 64;

interface PipelineCounts {
  waiting: number;
  answered: number;
}

const lines = new WeakMap<Socket, PipelineCounts>();

/**
 * Answers a request after the earlier requests of its connection. One packet can contain 2,000 requests. If all
 * requests were answered at the same time, the responses would wait in memory for a client that may never read. If all
 * requests were answered in one turn of the event loop, other clients would wait.
 */
function answerInOrder(socket: Socket, response: ServerResponse, answer: () => void): void {
  const line = lines.get(socket) ?? { waiting: 0, answered: 0 };
  lines.set(socket, line);
  if (++line.waiting === MOST_WAITING) socket.pause();
  response.once("socket", () => {
    if (--line.waiting === 0 && !socket.writableEnded) socket.resume();
    if (++line.answered % MOST_OF_A_TURN === 0) setImmediate(answer);
    else answer();
  });
}
