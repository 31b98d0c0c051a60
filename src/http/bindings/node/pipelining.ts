import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** How much one connection has done for it before others have their turn: half a millisecond's worth. */
const MOST_OF_A_TURN = 32;

/** How many requests may wait on one connection while more of it is read. */
const MOST_WAITING = 64;

interface Line {
  waiting: number;
  answered: number;
}

const lines = new WeakMap<Socket, Line>();

/**
 * Answers a request when those before it on its connection have been. One packet can ask for 2,000 answers: all at once they would
 * wait in memory for a reader who never comes, and one behind another in one round of the event loop others would wait for them.
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
