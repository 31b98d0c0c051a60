import type { Server } from "node:http";
import type { Socket } from "node:net";
import { formatNetwork, isTrusted, requireTrustedProxies } from "../../../core/call/trusted-proxies.ts";
import type { RefusalReason } from "../../../core/observation.ts";
import { endWith } from "./ending.ts";
import { peerOf } from "./peer.ts";

/** How many may be connected. */
export interface ConnectionLimits {
  readonly ofAll: number;
  /** Of one address, which is a /64 of IPv6; 0: any number. */
  readonly ofOneAddress: number;
  /** Behind them are many callers, so they are not counted as one. */
  readonly trustedProxies: readonly string[];
}

/** Hears what was refused before it became a request: why, and where it came from. */
export type TellRefused = (reason: RefusalReason, address: string, detail: string) => void;

/** How many are told at once that there is no room, rather than closed without a word. */
const MOST_TOLD = 500;

/**
 * The sockets of a server, from when they come in until they are closed, with TLS and before it; those beyond the limits are told so,
 * and never become anybody's request.
 *
 * Whoever calls may reset the connection at any moment, and `node:http` listens for that only while it reads requests: not after a
 * `CONNECT`, and not on what TLS has refused. An error that nobody listens for ends the process, so each has a listener of its own
 * from its first octet to its last.
 */
export function admitSockets(
  server: Server,
  limits: ConnectionLimits,
  basePath: string,
  tell: TellRefused,
): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  const refused = new Set<Socket>();
  const ofAddress = new Map<string, number>();
  const trusted = requireTrustedProxies(limits.trustedProxies);

  /** Counts it where there is room. */
  function admits(socket: Socket): boolean {
    const address = formatNetwork(addressOf(socket));
    const isCounted = limits.ofOneAddress > 0 && !isTrusted(trusted, addressOf(socket));
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

  inFrontOf(server, "connection", (socket, accept) => {
    socket.on("error", passOver);
    if (admits(socket)) {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
      return accept();
    }
    tell("connections", addressOf(socket), "There are too many connections.");
    if (refused.size >= MOST_TOLD) return void socket.destroy();
    refused.add(socket);
    socket.once("close", () => refused.delete(socket));
    if ("setSecureContext" in server) accept();
    else refuse(socket);
  });
  inFrontOf(server, "secureConnection", (socket, accept) => {
    socket.on("error", passOver);
    // Over TLS the answer has to wait for the handshake, and the socket is another one by then.
    if ([...refused].some((below) => isSamePeer(below, socket))) refuse(socket);
    else accept();
  });
  // node:https hands it on to those who can answer over HTTP, which cannot be done here.
  server.removeAllListeners("tlsClientError");
  server.on("tlsClientError", (error: Error & { readonly code?: string }, socket: Socket) => {
    tell("tls_handshake", addressOf(socket), error.code ?? error.message);
    socket.on("error", passOver).destroy();
  });
  return sockets;
}

/** Puts itself before those who listen already; they hear of it only where `accept` is called. */
function inFrontOf(server: Server, event: string, listener: (socket: Socket, accept: () => void) => void): void {
  const own = server.listeners(event);
  server.removeAllListeners(event);
  server.on(event, (socket: Socket) =>
    listener(socket, () => {
      for (const each of own) each.call(server, socket);
    }),
  );
}

/** Connections on which nobody asks keep nobody out who does. */
function makeRoom(server: Server, sockets: ReadonlySet<Socket>): boolean {
  server.closeIdleConnections();
  for (const { destroyed } of sockets) if (destroyed) return true;
  return false;
}

function isSamePeer(one: Socket, other: Socket): boolean {
  return one.remotePort === other.remotePort && one.remoteAddress === other.remoteAddress;
}

function addressOf(socket: Socket): string {
  const peer = peerOf(socket);
  return peer.startsWith("::ffff:") ? peer.slice("::ffff:".length) : peer;
}

/** The socket is closed by then, and whoever waits for it hears of that. */
function passOver(): void {}
