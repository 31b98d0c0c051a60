import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * The number of requests of one connection that are answered in one turn of the event loop. Answering them takes about
 * half a millisecond.
 */
const MOST_OF_A_TURN = 32;

/** The number of requests that may wait on one connection. With more, the connection is no longer read. */
const MOST_WAITING = 64;

interface PipelineCounts {
  waiting: number;
  answered: number;
}

const lines = new WeakMap<Socket, PipelineCounts>();

/**
 * Answers a request after the earlier requests of its connection. One packet can contain 2,000 requests. If all
 * requests were answered at the same time, the responses would wait in memory for a client that may never read. If all
 * requests were answered in one turn of the event loop, other clients would wait.
 */
export function answerInOrder(socket: Socket, response: ServerResponse, answer: () => void): void {
  const line = lines.get(socket) ?? { waiting: 0, answered: 0 };
  lines.set(socket, line);
  if (++line.waiting === MOST_WAITING) socket.pause();
  response.once("socket", () => {
    if (--line.waiting === 0 && !socket.writableEnded) socket.resume();
    if (++line.answered % MOST_OF_A_TURN === 0) setImmediate(answer);
    else answer();
  });
}
