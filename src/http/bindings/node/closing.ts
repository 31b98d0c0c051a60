import { once } from "node:events";
import type { Server } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";

/** How long the right moment to close the port is waited for, so that a storm of requests does not keep it open. */
const MOST_PATIENCE_MS = 1000;

/**
 * Closes the port, then what is idle after `idleSeconds`, then everything after `graceSeconds`.
 *
 * A server that closes an idle connection may do so while a request is on its way to it, and that request is lost. So the idle
 * ones stay open: whoever asks gets an answer that says `Connection: close`, and a proxy that keeps connections for less
 * than `idleSeconds` ends the others itself.
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
    // Opened ahead of a request that never came.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  });
  void after(graceSeconds, ended.signal, cutOff);
  await closePort(server);
  if (isOver) cutOff(); // those who came in between
  await closed;
  ended.abort();
  server.close(); // node:http still looks for slow connections every second
}

/** Does it when the time has come and what had arrived by then is read. */
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
 * Closes the port at a moment when nobody waits at it: those whom the kernel has told that they are connected, and whom nobody has
 * taken in yet, would be reset. Each turn of the event loop takes one in. The moment is right after a turn that took in nobody,
 * and had so little else to do that hardly anybody can have come meanwhile; what counts as little grows while it is waited for.
 * The idle connections stay, which `close()` of `node:http` would end.
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
  // Bun's server of node:http is none of node:net.
  const isOfNet: boolean = server instanceof NetServer;
  if (isOfNet) NetServer.prototype.close.call(server);
  else server.close();
}
