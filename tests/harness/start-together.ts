import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/**
 * The first lines of a script (`--input-type=module`). The process waits here until `startTogether` lets all processes
 * continue. It needs an `ipc` channel to its parent.
 */
export const waitForOthers = `
  process.send("ready");
  const at = await new Promise((resolve) => process.once("message", resolve));
  process.disconnect();
  while (Date.now() < at);`;

/** Lets processes that begin with `waitForOthers` continue at the same time, when all of them are ready. */
export async function startTogether(processes: readonly ChildProcess[]): Promise<void> {
  await Promise.all(
    processes.map(async (each) => {
      const [said] = (await Promise.race([once(each, "message"), once(each, "exit")])) as [unknown];
      if (said !== "ready") throw new Error(`A process ended with ${String(said)} before the start.`);
    }),
  );
  const at = Date.now() + 50;
  for (const each of processes) each.send(at);
}
