import { setPriority } from "node:os";

/** Lets other threads go first, where there are fewer cores than threads: at 5 this one has a third of the share of the thread that answers, at 19 a fiftieth. */
export function giveWay(niceness: number): void {
  // On Linux this is about the calling thread alone; elsewhere it would be about the process.
  if (process.platform !== "linux") return;
  try {
    setPriority(niceness);
  } catch {
    // Not allowed here; nothing depends on it.
  }
}
