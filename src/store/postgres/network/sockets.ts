import { once } from "node:events";
import { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** How long a server may take to say goodbye, in milliseconds. */
const goodbyeMs = 1000;

/** The sockets of a store. */
export interface Sockets {
  /** For a connection to come. */
  make(): Socket;
  /** Resolves when all are closed. A server that hangs must not keep the process: its sockets are cut off. */
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
      await Promise.race([closing, sleep(goodbyeMs)]);
      for (const socket of open) socket.destroy();
    },
  };
}
