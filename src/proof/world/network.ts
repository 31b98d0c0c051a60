import { Socket as DatagramSocket } from "node:dgram";
import { Socket } from "node:net";

/** Refuses every connection of this process to another program, and drops every datagram. */
export interface RefusedNetwork {
  /** Returns the addresses to which code has connected since the last call. */
  take(): readonly string[];
  /** Allows connections again. */
  end(): void;
}

/** Refuses connections from now on: those of hooks, actions and features. */
export function refuseConnections(): RefusedNetwork {
  const tried: string[] = [];
  const connect = Object.getOwnPropertyDescriptor(Socket.prototype, "connect")!;
  const send = Object.getOwnPropertyDescriptor(DatagramSocket.prototype, "send")!;
  Object.defineProperty(Socket.prototype, "connect", {
    ...connect,
    value(this: Socket, ...options: readonly unknown[]): Socket {
      tried.push(formatAddress(options));
      process.nextTick(() => this.destroy(new Error("latchkey prove refuses connections")));
      return this;
    },
  });
  // A sender does not learn whether a datagram arrives, so its code is tried to the end.
  Object.defineProperty(DatagramSocket.prototype, "send", { ...send, value: drop });
  return {
    take: () => tried.splice(0),
    end() {
      Object.defineProperty(Socket.prototype, "connect", connect);
      Object.defineProperty(DatagramSocket.prototype, "send", send);
    },
  };
}

function drop(...sent: readonly unknown[]): void {
  const done = sent.at(-1);
  if (typeof done === "function") process.nextTick(done, null, 0);
}

function formatAddress(options: readonly unknown[]): string {
  const [first, second] = Array.isArray(options[0]) ? (options[0] as readonly unknown[]) : options;
  if (typeof first === "object" && first !== null) {
    const { host, port, path } = first as { readonly host?: unknown; readonly port?: unknown; readonly path?: unknown };
    return typeof path === "string" ? path : `${typeof host === "string" ? host : "localhost"}:${String(port)}`;
  }
  return typeof first === "number" ? `${typeof second === "string" ? second : "localhost"}:${first}` : String(first);
}
