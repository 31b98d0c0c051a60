import type { Worker } from "node:worker_threads";

/** Hears what a thread of ours says, by a member that all its messages have: Node says things of its own over the same port (`node --watch`). */
export function hear<T extends object>(
  worker: Worker,
  members: readonly string[],
  receive: (message: T) => void,
): void {
  worker.on("message", (message: T) => {
    if (members.some((member) => member in message)) receive(message);
  });
}
