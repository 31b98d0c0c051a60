/**
 * A round is one pass of the event loop. Longer work runs after all other requests of its round are answered. So a
 * small request may wait for work that is already running, but not for large requests that arrived together with it.
 */

/** The number of servers with unanswered requests of this round. */
let answering = 0;
const waiting: (() => void)[] = [];

/** Reports that a server has requests to answer in this round. */
export function beginRound(): void {
  answering++;
}

/** Reports that this server has sent all its responses. */
export function endRound(): void {
  if (--answering > 0) return;
  for (const go of waiting.splice(0)) go();
}

/** Returns true if all requests of this round are answered. */
export function isAllAnswered(): boolean {
  return answering === 0;
}

/**
 * Calls a function when all requests of this round are answered. Calls the function immediately if they are already
 * answered.
 */
export function whenAllAnswered(go: () => void): void {
  if (isAllAnswered()) go();
  else waiting.push(go);
}
