import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { ToldClient } from "../../../core/call/call.ts";
import { aFunction, optional, isObject, shown } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { otherCopyMistake } from "../../../core/copy.ts";
import type { RefusalReason } from "../../../core/observation.ts";
import type { Answer } from "../../answer/writing.ts";
import { NodeArrival } from "./arrival.ts";
import { makeBatches } from "./batching.ts";
import { peerOf } from "./peer.ts";
import { inLine } from "./pipelining.ts";
import { send } from "./sending.ts";
import { admitStream, isStream } from "./streams.ts";
import type { Responder } from "./unreadable.ts";

/** What a framework in front of the service knows. */
export interface RequestListenerOptions<Request extends AnyRequest> {
  /**
   * Who calls, as the framework has found out (Express: `request.ip` and `request.secure`). Where it is left out, it is the other end of
   * the connection, or whom the service's `trustedProxies` name.
   */
  readonly client?: (request: Request) => ToldClient;
}

/** Answers a request. With `next`, as frameworks give it, what is not the service's goes on to the next handler. */
export type Listen<Request extends AnyRequest> = (
  request: Request,
  response: AnyResponse,
  next?: (error?: unknown) => void,
) => void;

/** The requests of `node:http` and `node:http2`. */
type AnyRequest = IncomingMessage | Http2ServerRequest;
type AnyResponse = ServerResponse | Http2ServerResponse;

/** What is wrong with what has to be a service. */
export function serviceMistakes(service: unknown): readonly string[] {
  const other = otherCopyMistake(service);
  if (other !== null) return [`the service: ${other}`];
  return isObject(service) && typeof service["respond"] === "function"
    ? []
    : [`the service is ${shown(service)}; make one: await createService({ … })`];
}

const checks: ChecksOf<RequestListenerOptions<IncomingMessage>> = { client: optional(aFunction) };

/**
 * Makes a listener for a server of your own: `http.createServer` and `http2.createServer` take it, Express and NestJS `use` it. Throws `DeclarationError` for a
 * wrong option; what it gives throws `TypeError` where it is mounted at a prefix that the service's `basePath` does not have.
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

interface Standing<Request extends AnyRequest> extends RequestListenerOptions<Request> {
  /** Whether the server is closing: then every answer is the last of its connection. */
  readonly state?: { readonly closing: boolean };
}

const OPEN = { closing: false };

/** The same, for a server of our own. */
export function makeListener<Request extends AnyRequest>(
  service: Responder,
  { state = OPEN, client }: Standing<Request>,
): Listen<Request> {
  const refused = (reason: RefusalReason, address: string, detail: string): void =>
    service.observe?.({ kind: "refused", reason, address, detail });
  const tell = (address: string): void => refused("unread", address, "Too many answers wait for their readers.");
  const batches = makeBatches();
  const take = (request: IncomingMessage, response: ServerResponse, arrival: NodeArrival): void => {
    const reply = (answer: Answer): void => batches.send(() => send(request, response, answer, state.closing, tell));
    const respond = (): void => {
      const answer = service.respond(arrival);
      if (answer instanceof Promise) void answer.then(reply);
      else reply(answer);
    };
    // Node never ends a TLS connection that was reset in the turn in which it was asked, where the answer is written behind that.
    if (arrival.encrypted) respond();
    else batches.answer(respond);
  };
  return (asked, answer, next) => {
    const [request, response] = asOne(asked, answer);
    const target = targetFor(service, request);
    if (next !== undefined && service.serves?.(target) === false) return next();
    if (isStream(request) && !admitStream(request))
      return refused("streams", peerOf(request.socket), "Too many streams of one connection are open.");
    // Looked at now, where a framework hears of what its own function throws, and also of one who waits in line.
    const arrival = new NodeArrival(request, target, response, client && toldBy(client(asked)));
    if (response.socket === null && request.httpVersionMajor === 1)
      inLine(request.socket, response, () => take(request, response, arrival));
    else take(request, response, arrival);
  };
}

/** `node:http2` gives its requests and responses the members of those of `node:http` that are used here. */
function asOne(request: AnyRequest, response: AnyResponse): [IncomingMessage, ServerResponse] {
  return [request, response] as unknown as [IncomingMessage, ServerResponse];
}

/** What a function says that has nothing to say. The connection is not asked in its place: at its other end is a proxy, perhaps. */
const NOBODY: ToldClient = { address: undefined, encrypted: false };

function toldBy(told: unknown): ToldClient {
  return isObject(told) ? (told as unknown as ToldClient) : NOBODY;
}

/** What a framework keeps beside a request that it hands on: the whole address (Express, Connect), and the prefix that it took off. */
interface HandedOn extends IncomingMessage {
  readonly originalUrl?: string;
  readonly baseUrl?: string;
}

/** The base path counts from the root. */
function targetFor({ basePath = "" }: Responder, { url, originalUrl, baseUrl = "" }: HandedOn): string {
  // Express finds prefixes whatever their case.
  if (baseUrl !== "" && !`${basePath}/`.toLowerCase().startsWith(`${baseUrl}/`.toLowerCase()))
    throw new TypeError(
      `The service is mounted at ${baseUrl}, and its addresses begin with ${basePath === "" ? "/" : basePath}. Give it the prefix: createService({ basePath: ${JSON.stringify(baseUrl)} }).`,
    );
  return (basePath === "" ? undefined : originalUrl) ?? url!;
}
