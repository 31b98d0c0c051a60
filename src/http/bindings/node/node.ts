import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import type { ServerOptions as TlsServerOptions, Server as TlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { proxyList } from "../../../core/call/trusted-proxies.ts";
import { DeclarationError } from "../../../core/checking/declaration-error.ts";
import { objectOf, optional, text, wholeFrom } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { MAX_HEADER_BYTES, MAX_REQUEST_LINE_BYTES } from "../../limits.ts";
import { NodeArrival } from "./arrival.ts";
import { closeServer } from "./closing.ts";
import { watchDescriptors } from "./descriptors.ts";
import { endWithAnswer } from "./ending.ts";
import { makeListener, serviceMistakes } from "./request-listener.ts";
import { admitSockets } from "./sockets.ts";
import { inTurn, refuseUnreadable, type HoldsMessage, type Responder } from "./unreadable.ts";

/** Where a service listens, and on which terms. */
export interface ListenOptions {
  /** `127.0.0.1` where it is left out. */
  readonly host?: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** How many connections one address may hold open, which is a /64 of IPv6; 1000 where it is left out, 0: any number. */
  readonly connectionsPerAddress?: number;
  /** Addresses, CIDR ranges or `unix` whose connections are not counted: many callers stand behind them. */
  readonly trustedProxies?: readonly string[];
  /** How many connections there may be in all; 10,000 where it is left out. */
  readonly connections?: number;
  /** How long the header fields of a request may take to arrive; 10 where it is left out. */
  readonly headersSeconds?: number;
  /** How long a whole request may take to arrive; 30 where it is left out. */
  readonly requestSeconds?: number;
  /** How long a connection stays open on which nobody asks or reads; 65 where it is left out. Longer than a proxy in front keeps them. */
  readonly idleSeconds?: number;
  /** Serve HTTPS: certificate chain and key, in PEM. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

const tlsMembers: ChecksOf<NonNullable<ListenOptions["tls"]>> = { cert: text, key: text };
const checks: ChecksOf<ListenOptions> = {
  host: optional(text),
  port: wholeFrom(0, 65_535),
  connectionsPerAddress: optional(wholeFrom(0)),
  connections: optional(wholeFrom(1)),
  headersSeconds: optional(wholeFrom(1, 3600)),
  requestSeconds: optional(wholeFrom(1, 3600)),
  idleSeconds: optional(wholeFrom(1, 3600)),
  trustedProxies: optional(proxyList),
  tls: optional(objectOf(tlsMembers, "it has to be { cert, key }, both in PEM")),
};

/** A service on a socket. */
export interface Listener {
  /** Where it listens: `http://127.0.0.1:8000`. */
  readonly url: string;
  readonly port: number;
  /** New connections get this certificate; those that are there keep theirs. Throws where it is no HTTPS, or OpenSSL refuses them. */
  renewCertificate(tls: { readonly cert: string; readonly key: string }): void;
  /** How many are connected. */
  connections(): number;
  /**
   * Stops accepting, finishes what is in flight within `graceSeconds` (10), and closes. Connections on which nobody asks stay
   * open for `idleSeconds` (0.25), so that a request that is on its way is answered; behind a proxy that keeps connections,
   * longer than that keeps them.
   */
  close(graceSeconds?: number, idleSeconds?: number): Promise<void>;
}

const MAX_CONNECTIONS = 10_000;
const MAX_CONNECTIONS_OF_ONE = 1000;
const IDLE_SECONDS = 65;

function limitsOf({
  headersSeconds = 10,
  requestSeconds = 30,
  idleSeconds = IDLE_SECONDS,
}: ListenOptions): ServerOptions {
  return {
    ...limits,
    // Node asks for the whole to take no less than its beginning.
    headersTimeout: Math.min(headersSeconds, requestSeconds) * 1000,
    requestTimeout: requestSeconds * 1000,
    keepAliveTimeout: idleSeconds * 1000,
  };
}

const limits: ServerOptions = {
  // Twice the limits, so that what is beyond them reaches the pipeline, which knows which of the two it is.
  maxHeaderSize: 2 * (MAX_HEADER_BYTES + MAX_REQUEST_LINE_BYTES),
  connectionsCheckingInterval: 1000,
  requireHostHeader: false, // the pipeline asks for it, and answers
};

/**
 * Serves over HTTP/1.1. Rejects where the address cannot be had, with `DeclarationError` for a wrong option.
 *
 * @example
 * ```ts
 * import { createService, listen } from "latchkey";
 * import { sqliteStore } from "latchkey/stores";
 *
 * const service = await createService({ store: sqliteStore({ path: ":memory:" }) });
 * const listener = await listen(service, { host: "127.0.0.1", port: 0 });
 * console.log(listener.url);
 * ```
 */
export async function listen(service: Responder, options: ListenOptions): Promise<Listener> {
  requireOptions(options, checks, { of: "listen", more: serviceMistakes(service) });
  const { host = "127.0.0.1", port, tls } = options;
  const state = { closing: false };
  const answer = makeListener(service, { state });
  const server =
    tls === undefined
      ? createServer(limitsOf(options), answer)
      : await createTlsServer({ ...limitsOf(options), ...secured(tls), handshakeTimeout: 10_000 }, answer).catch(
          refuseTLS,
        );
  server.maxHeadersCount = 0; // the pipeline counts them, and answers
  // Whoever says that nothing more will come waits for what was asked: Node would close at once, and a write be done without a word. What
  // TLS ends is ended both ways.
  if (tls === undefined) Object.assign(server, { httpAllowHalfOpen: true });
  server.on("clientError", (error, socket) => refuseUnreadable(error, socket, service));
  // Left to themselves these are answered without a word of ours, with 100 before anybody has looked, and not at all.
  server.on("checkContinue", answer);
  server.on("checkExpectation", answer);
  server.on("connect", (request, socket) => {
    inTurn(socket, () => {
      const done = service.respond(new NodeArrival(request, request.url!, null));
      if (done instanceof Promise) void done.then((late) => endWithAnswer(socket, late));
      else endWithAnswer(socket, done);
    });
  });
  const {
    connections = MAX_CONNECTIONS,
    connectionsPerAddress = MAX_CONNECTIONS_OF_ONE,
    trustedProxies = [],
  } = options;
  const sockets = admitSockets(
    server,
    { ofAll: connections, ofOneAddress: connectionsPerAddress, trustedProxies },
    service.basePath ?? "",
    (reason, address, detail) => service.observe?.({ kind: "refused", reason, address, detail }),
  );
  endStalled(server, options.idleSeconds ?? IDLE_SECONDS);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const { observe = null } = service;
  if (observe !== null) server.once("close", watchDescriptors(observe));
  server.on("error", (error) =>
    service.observe?.({ kind: "notice", level: "error", message: "A connection could not be taken in.", error }),
  );
  const address = server.address() as AddressInfo;
  const name = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return {
    url: `${tls === undefined ? "http" : "https"}://${name}:${address.port}`,
    port: address.port,
    renewCertificate(renewed) {
      if (!("setSecureContext" in server)) throw new TypeError("This listener serves no HTTPS.");
      (server as TlsServer).setSecureContext(secured(renewed));
    },
    connections: () => sockets.size,
    close(graceSeconds = 10, idleSeconds = 0.25) {
      state.closing = true;
      return closeServer(server, sockets, graceSeconds, idleSeconds);
    },
  };
}

function refuseTLS(error: unknown): never {
  throw new DeclarationError([
    `listen: OpenSSL refuses the certificate or the key (${error instanceof Error ? error.message : String(error)}); tls takes both as PEM, and the key has to be that of the certificate`,
  ]);
}

/** Closes what nobody reads: an answer waits in memory for its reader. One that is still being made keeps its connection. */
function endStalled(server: Server, idleSeconds: number): void {
  server.timeout = idleSeconds * 1000;
  server.on("timeout", (socket: Socket & HoldsMessage) => {
    const answer = socket._httpMessage ?? null;
    if (answer === null || answer.writableEnded || socket.writableLength > 0) socket.destroy();
  });
}

/** A renewed certificate comes with all of it: what is left out would fall back to Node's own. */
function secured({ cert, key }: { readonly cert: string; readonly key: string }) {
  return { cert, key, minVersion: "TLSv1.2" } as const;
}

/** Loaded only where it is used: most stand behind a proxy that ends TLS. */
async function createTlsServer(options: TlsServerOptions, answer: RequestListener): Promise<Server> {
  const https = await import("node:https");
  return https.createServer(options, answer);
}
