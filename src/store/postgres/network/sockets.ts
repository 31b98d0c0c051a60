import { once } from "node:events";
import { Socket } from "node:net";

/** The longest wait until the server closes a connection, in milliseconds. */
const goodbyeMs = 1000;

/** The sockets of a store. */
export interface Sockets {
  /** Creates the socket of a new connection. */
  make(): Socket;
  /**
   * Resolves when all sockets are closed. Destroys sockets that the server does not close in time, because they would
   * keep the process alive.
   */
  closed(): Promise<void>;
}

export function makeSockets(): Sockets {
  const open = new Set<Socket>();
  return {
    make() {
      const socket = new Socket();
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      return socket;
    },
    async closed() {
      const closing = Promise.all([...open].map((socket) => once(socket, "close").catch(() => undefined)));
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, goodbyeMs);
      await Promise.race([closing, late]);
      // A timer that still runs would keep the process alive.
      clearTimeout(timer);
      for (const socket of open) socket.destroy();
    },
  };
}
