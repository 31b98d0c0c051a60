import type { Server } from "node:http";
import type { Socket } from "node:net";
import { formatNetwork, isTrusted, requireTrustedProxies } from "../../../core/call/trusted-proxies.ts";
import type { RefusalReason } from "../../../core/observation.ts";
import { endWith } from "./ending.ts";
import { readPeerAddress } from "./peer.ts";

/** The limits for open connections. */
export interface ConnectionLimits {
  readonly ofAll: number;
  /** For one address, which is a /64 for IPv6. 0 means no limit. */
  readonly ofOneAddress: number;
  /** Connections from these addresses are not counted per address, because they come from many callers. */
  readonly trustedProxies: readonly string[];
}

/** Receives each refusal of a connection, which never becomes a request: the reason, the address and a detail. */
export type ReportRefused = (reason: RefusalReason, address: string, detail: string) => void;

/**
 * The maximum number of refused connections that are open for their response. A further refused connection is closed
 * without a response.
 */
const MOST_TOLD = 500;

/**
 * Returns the sockets of a server, from their arrival until they are closed, with and without TLS. A socket beyond the
 * limits gets a response and never becomes a request.
 *
 * A client may reset its connection at any time, and an error event without a listener ends the process. `node:http`
 * listens only while it reads requests. It does not listen after a `CONNECT`, or on a socket that TLS has refused. So
 * this function adds a listener to each socket.
 */
export function admitSockets(
  server: Server,
  limits: ConnectionLimits,
  basePath: string,
  report: ReportRefused,
): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  const refused = new Set<Socket>();
  const ofAddress = new Map<string, number>();
  const trusted = requireTrustedProxies(limits.trustedProxies);

  /** Returns true if there is room for the socket, and counts the socket. */
  function admits(socket: Socket): boolean {
    const address = formatNetwork(readAddress(socket));
    const isCounted = limits.ofOneAddress > 0 && !isTrusted(trusted, readAddress(socket));
    const count = (ofAddress.get(address) ?? 0) + 1;
    if (isCounted && count > limits.ofOneAddress) return false;
    if (sockets.size >= limits.ofAll && !makeRoom(server, sockets)) return false;
    if (!isCounted) return true;
    ofAddress.set(address, count);
    socket.once("close", () => {
      const rest = ofAddress.get(address)! - 1;
      if (rest > 0) ofAddress.set(address, rest);
      else ofAddress.delete(address);
    });
    return true;
  }

  const refuse = (socket: Socket): void =>
    endWith(socket, "unavailable", {
      basePath,
      detail: "There are too many connections.",
      headers: [["Retry-After", "1"]],
    });

  insertListener(server, "connection", (socket, accept) => {
    socket.on("error", ignoreError);
    if (admits(socket)) {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
      return accept();
    }
    report("connections", readAddress(socket), "There are too many connections.");
    if (refused.size >= MOST_TOLD) return void socket.destroy();
    refused.add(socket);
    socket.once("close", () => refused.delete(socket));
    if ("setSecureContext" in server) accept();
    else refuse(socket);
  });
  insertListener(server, "secureConnection", (socket, accept) => {
    socket.on("error", ignoreError);
    // Over TLS, the response must wait for the handshake. After the handshake, the socket is another object.
    if ([...refused].some((below) => isSamePeer(below, socket))) refuse(socket);
    else accept();
  });
  // The default listener of node:https answers this error over HTTP, which is not possible before the handshake.
  server.removeAllListeners("tlsClientError");
  server.on("tlsClientError", (error: Error & { readonly code?: string }, socket: Socket) => {
    report("tls_handshake", readAddress(socket), error.code ?? error.message);
    socket.on("error", ignoreError).destroy();
  });
  return sockets;
}

/** Adds a listener that runs before the existing listeners. They run only if the new listener calls `accept`. */
function insertListener(server: Server, event: string, listener: (socket: Socket, accept: () => void) => void): void {
  const own = server.listeners(event);
  server.removeAllListeners(event);
  server.on(event, (socket: Socket) =>
    listener(socket, () => {
      for (const each of own) each.call(server, socket);
    }),
  );
}

/** Closes idle connections, so that there is room for active connections. Returns true if a connection was closed. */
function makeRoom(server: Server, sockets: ReadonlySet<Socket>): boolean {
  server.closeIdleConnections();
  for (const { destroyed } of sockets) if (destroyed) return true;
  return false;
}

function isSamePeer(one: Socket, other: Socket): boolean {
  return one.remotePort === other.remotePort && one.remoteAddress === other.remoteAddress;
}

function readAddress(socket: Socket): string {
  const peer = readPeerAddress(socket);
  return peer.startsWith("::ffff:") ? peer.slice("::ffff:".length) : peer;
}

/** Ignores the error. The socket is closed by then, and its users receive the close event. */
function ignoreError(): void {}
