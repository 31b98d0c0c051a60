import type { Server } from "node:http";
import type { Socket } from "node:net";

/**
 * The sockets of a server, from when they come in until they are closed, with TLS and before it.
 *
 * Whoever calls may reset the connection at any moment, and `node:http` listens for that only while it reads requests: not after a
 * `CONNECT`, and not on what TLS has refused. An error that nobody listens for ends the process, so each has a listener of its own
 * from its first octet to its last.
 */
export function trackSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.prependListener("connection", (socket: Socket) => {
    socket.on("error", passOver);
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.prependListener("secureConnection", (socket: Socket) => void socket.on("error", passOver));
  // node:https hands it on to those who can answer over HTTP, which cannot be done here.
  server.removeAllListeners("tlsClientError");
  server.on("tlsClientError", (_error, socket: Socket) => void socket.on("error", passOver).destroy());
  return sockets;
}

/** The socket is closed by then, and whoever waits for it hears of that. */
function passOver(): void {}
