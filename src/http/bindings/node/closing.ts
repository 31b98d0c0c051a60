import { once } from "node:events";
import type { Server } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";

/**
 * The longest wait for a moment without new connections, in milliseconds. Without this limit, a busy server would never
 * close its port.
 */
const MOST_PATIENCE_MS = 1000;

/**
 * Closes the port, then the idle connections after `idleSeconds`, then everything after `graceSeconds`.
 *
 * If a server closes an idle connection, a request may already be on its way, and is lost. So idle connections stay
 * open: the next request gets a response with `Connection: close`, and a proxy that keeps connections for less than
 * `idleSeconds` closes them itself.
 */
export async function closeServer(
  server: Server,
  sockets: ReadonlySet<Socket>,
  graceSeconds: number,
  idleSeconds: number,
): Promise<void> {
  const closed = once(server, "close");
  const ended = new AbortController();
  let isOver = false;
  const cutOff = (): void => {
    isOver = true;
    for (const socket of sockets) socket.destroy();
  };
  void after(Math.min(idleSeconds, graceSeconds), ended.signal, () => {
    server.closeIdleConnections();
    // These connections were opened in advance and have received no request.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  });
  void after(graceSeconds, ended.signal, cutOff);
  await closePort(server);
  if (isOver) cutOff(); // Connections that arrived after the end of the grace period, before the port was closed.
  await closed;
  ended.abort();
  server.close(); // stops the check for slow connections that node:http still runs every second
}

/** Calls `act` after a time, unless `signal` aborts first. Data that has arrived by then is read before the call. */
async function after(seconds: number, signal: AbortSignal, act: () => void): Promise<void> {
  try {
    await wait(seconds * 1000, undefined, { signal });
    await nextTurn();
    act();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/**
 * Closes the port at a moment when no new connection waits in its queue, because the kernel would reset a waiting
 * connection. Each turn of the event loop accepts one connection. So the queue is probably empty after a short turn
 * that accepted none. The longer this function waits, the longer a turn may be to count as short. Idle connections stay
 * open, although `close()` of `node:http` would close them.
 */
async function closePort(server: Server): Promise<void> {
  let arrived = true;
  server.on("connection", () => (arrived = true));
  const startedAt = performance.now();
  for (let before = startedAt, isQuiet = false; !isQuiet;) {
    arrived = false;
    await nextTurn();
    const now = performance.now();
    const waitedMs = now - startedAt;
    isQuiet = (!arrived && now - before < 0.02 + waitedMs / 1000) || waitedMs > MOST_PATIENCE_MS;
    before = now;
  }
  // Bun's server of node:http is not a server of node:net.
  const isOfNet: boolean = server instanceof NetServer;
  if (isOfNet) NetServer.prototype.close.call(server);
  else server.close();
}
