import { closeSync, openSync } from "node:fs";
import type { RequestListener, Server, ServerOptions } from "node:http";
import type { ServerOptions as TlsServerOptions, Server as TlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { devNull } from "node:os";
import { proxyList } from "../../../core/call/trusted-proxies.ts";
import { DeclarationError } from "../../../core/checking/declaration-error.ts";
import { buildObjectCheck, optional, text, wholeFrom } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import type { Observer } from "../../../core/observation.ts";
import { MAX_HEADER_BYTES, MAX_REQUEST_LINE_BYTES } from "../../limits.ts";
import { NodeArrival } from "./arrival.ts";
import { closeServer } from "./closing.ts";
import { endWithAnswer } from "./ending.ts";
import { createServer } from "./http-module.ts";
import { makeListener, serviceMistakes } from "./request-listener.ts";
import { admitSockets } from "./sockets.ts";
import { afterEarlierAnswers, refuseUnreadable, type HoldsMessage, type Responder } from "./unreadable.ts";

/** The options of a listener. */
export interface ListenOptions {
  /** The address to listen on. Default: `127.0.0.1`. */
  readonly host?: string;
  /** The port. 0 picks a free port. */
  readonly port: number;
  /**
   * The maximum number of open connections of one address, which is a /64 for IPv6. 0 means no limit. Default: 1000.
   */
  readonly connectionsPerAddress?: number;
  /**
   * Addresses, CIDR ranges or `unix` whose connections are not counted per address, because they come from many
   * callers.
   */
  readonly trustedProxies?: readonly string[];
  /** The maximum number of all open connections. Default: 10,000. */
  readonly connections?: number;
  /** The time limit for the header fields of a request, in seconds. Default: 10. */
  readonly headersSeconds?: number;
  /** The time limit for a whole request, in seconds. Default: 30. */
  readonly requestSeconds?: number;
  /**
   * How long a connection stays open without a request, in seconds. Also the time that a client may take without
   * reading its response. A reverse proxy should close its idle connections earlier. Default: 65.
   */
  readonly idleSeconds?: number;
  /** Serves HTTPS with this certificate chain and key, in PEM. */
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
  tls: optional(buildObjectCheck(tlsMembers, "it has to be { cert, key }, both in PEM")),
};

/** A service on a socket. */
export interface Listener {
  /** The URL of the listener: `http://127.0.0.1:8000`. */
  readonly url: string;
  readonly port: number;
  /**
   * Sets the certificate for new connections. Open connections keep their certificate. Throws if the listener does not
   * serve HTTPS, or if OpenSSL refuses the certificate.
   */
  renewCertificate(tls: { readonly cert: string; readonly key: string }): void;
  /** Returns the number of open connections. */
  connections(): number;
  /**
   * Stops accepting connections, finishes running requests within `graceSeconds` (10), and closes. Idle connections
   * stay open for `idleSeconds` (0.25), so that a request on its way gets a response. Behind a proxy that keeps
   * connections, use a longer time than the idle time of the proxy.
   */
  close(graceSeconds?: number, idleSeconds?: number): Promise<void>;
}

const MAX_CONNECTIONS = 10_000;
const MAX_CONNECTIONS_OF_ONE = 1000;
const IDLE_SECONDS = 65;

function buildLimits({
  headersSeconds = 10,
  requestSeconds = 30,
  idleSeconds = IDLE_SECONDS,
}: ListenOptions): ServerOptions {
  return {
    ...limits,
    // Node requires a limit for the whole request that is not smaller than the limit for its header fields.
    headersTimeout: Math.min(headersSeconds, requestSeconds) * 1000,
    requestTimeout: requestSeconds * 1000,
    keepAliveTimeout: idleSeconds * 1000,
  };
}

const limits: ServerOptions = {
  // Twice the limits, so that larger requests reach the pipeline, which knows which of the two limits is exceeded.
  maxHeaderSize: 2 * (MAX_HEADER_BYTES + MAX_REQUEST_LINE_BYTES),
  connectionsCheckingInterval: 1000,
  requireHostHeader: false, // the pipeline checks the `Host` header field
};

/**
 * Serves over HTTP/1.1. Rejects if the address is not available. Rejects with `DeclarationError` if an option is wrong.
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
      ? createServer(buildLimits(options), answer)
      : await createTlsServer({ ...buildLimits(options), ...secured(tls), handshakeTimeout: 10_000 }, answer).catch(
          refuseTLS,
        );
  server.maxHeadersCount = 0; // the pipeline counts the header fields and refuses too many
  // A client that closes its end for writing still waits for its response. Without this option, Node closes the
  // connection, and the client gets no response to a write. TLS always closes both ends.
  if (tls === undefined) Object.assign(server, { httpAllowHalfOpen: true });
  server.on("clientError", (error, socket) => refuseUnreadable(error, socket, service));
  // Node itself would answer a request with `Expect`, if no listener did: it sends 100 before any check, refuses the
  // request, or does not answer.
  server.on("checkContinue", answer);
  server.on("checkExpectation", answer);
  server.on("connect", (request, socket) => {
    afterEarlierAnswers(socket, () => {
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
    service.observe?.({ kind: "notice", level: "error", message: "The server could not accept a connection.", error }),
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

/**
 * Closes connections whose client does not read the response, because the unread response takes memory. A connection
 * whose response is not ready yet stays open.
 */
function endStalled(server: Server, idleSeconds: number): void {
  server.timeout = idleSeconds * 1000;
  server.on("timeout", (socket: Socket & HoldsMessage) => {
    const answer = socket._httpMessage ?? null;
    if (answer === null || answer.writableEnded || socket.writableLength > 0) socket.destroy();
  });
}

/**
 * Returns all TLS options. If a renewed certificate came without one of them, Node would set that option to its
 * default.
 */
function secured({ cert, key }: { readonly cert: string; readonly key: string }) {
  return { cert, key, minVersion: "TLSv1.2" } as const;
}

/** Loads node:https only if needed. Most services are behind a proxy that terminates TLS. */
async function createTlsServer(options: TlsServerOptions, answer: RequestListener): Promise<Server> {
  const https = await import("node:https");
  return https.createServer(options, answer);
}

const LOOK_MS = 1000;
/** The interval between log entries while no descriptor is free, in milliseconds. */
const SILENCE_MS = 60_000;

/**
 * Logs when the process has no file descriptors left. In that state, libuv accepts new connections and closes them
 * silently. When a descriptor is free again, libuv accepts the next connection normally. Returns a function that stops
 * the check.
 */
function watchDescriptors(observe: Observer): () => void {
  let reportedAt = -Infinity;
  const look = (): void => {
    const error = attempt();
    if (error === null || performance.now() - reportedAt < SILENCE_MS) return;
    reportedAt = performance.now();
    const message =
      "No file descriptor is free: new connections are closed without an answer. Raise the limit (ulimit -n, LimitNOFILE of systemd), or allow fewer connections.";
    observe({ kind: "notice", level: "error", message, error });
  };
  const timer = setInterval(look, LOOK_MS).unref();
  return () => clearInterval(timer);
}

/** Opens a descriptor and closes it. Returns the error if none is left. */
function attempt(): Error | null {
  try {
    closeSync(openSync(devNull, "r"));
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "EMFILE" || code === "ENFILE" ? (error as Error) : null;
  }
}
