import type { Socket } from "node:net";

/**
 * Returns the address of the other end of a connection. Returns `unix` for a local socket, and `unknown` if the
 * connection is reset. A caller with an unknown address must not count as a local proxy.
 */
export function readPeerAddress(connection: Peer): string {
  const { remoteAddress } = connection;
  if (remoteAddress !== undefined) return remoteAddress;
  // A local socket has no address on either end. A TCP socket keeps its own address, even after the other end has
  // disconnected.
  return connection.destroyed || connection.localAddress !== undefined ? "unknown" : "unix";
}

/** The used members of a connection. */
export type Peer = Pick<Socket, "remoteAddress" | "localAddress" | "destroyed">;
