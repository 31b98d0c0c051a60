/**
 * What takes longer than a record goes behind all else that came in the same round of the event loop: whoever asks for little then waits for what
 * is under way when they come, and for nothing that came with them.
 */

/** How many servers have not answered yet what came in this round. */
let answering = 0;
const behind: (() => void)[] = [];

/** Tells that a server has something to answer in this round. */
export function beginRound(): void {
  answering++;
}

/** Tells that this server has answered and sent all of it. */
export function endRound(): void {
  if (--answering > 0) return;
  for (const go of behind.splice(0)) go();
}

/** Whether everything is answered that has come so far. */
export function isAllAnswered(): boolean {
  return answering === 0;
}

/** Calls when everything is answered that has come in this round: at once where that is so. */
export function whenAllAnswered(go: () => void): void {
  if (isAllAnswered()) go();
  else behind.push(go);
}
