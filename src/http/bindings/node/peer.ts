import type { Socket } from "node:net";

/**
 * The address on the other end of a connection; `unix` for a local socket, and `unknown` where it cannot be told any more: of a
 * caller who has reset the connection nothing is known, and nobody may be taken for a local proxy for being gone.
 */
export function peerOf(connection: Peer): string {
  const { remoteAddress } = connection;
  if (remoteAddress !== undefined) return remoteAddress;
  // A local socket has no address on either end; what TCP has accepted keeps its own, even where the other end has gone.
  return connection.destroyed || connection.localAddress !== undefined ? "unknown" : "unix";
}

/** What of a connection is looked at. */
export type Peer = Pick<Socket, "remoteAddress" | "localAddress" | "destroyed">;
