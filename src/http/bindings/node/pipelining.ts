import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** How many requests of one connection are answered before others run: about half a millisecond. */
const MOST_OF_A_TURN = 32;

/** How many requests may wait on one connection while it is still read. */
const MOST_WAITING = 64;

interface PipelineCounts {
  waiting: number;
  answered: number;
}

const lines = new WeakMap<Socket, PipelineCounts>();

/**
 * Answers a request when the earlier ones on its connection are answered. One packet can contain 2,000 requests: all
 * answers at once would wait in memory for a client that may never read, and one after another in one round of the
 * event loop would delay other clients.
 */
export function inLine(socket: Socket, response: ServerResponse, answer: () => void): void {
  const line = lines.get(socket) ?? { waiting: 0, answered: 0 };
  lines.set(socket, line);
  if (++line.waiting === MOST_WAITING) socket.pause();
  response.once("socket", () => {
    if (--line.waiting === 0 && !socket.writableEnded) socket.resume();
    if (++line.answered % MOST_OF_A_TURN === 0) setImmediate(answer);
    else answer();
  });
}
