import { printOver } from "./output.ts";

const WIDTH = 30;
const EVERY_MS = 100;

/** Shows the progress of a long task. */
export interface Progress {
  /**
   * Shows how much is done, and a count of items. `done` and `total` have the same unit. `total` is null if it is
   * unknown.
   */
  report(done: number, total: number | null, count: number): void;
  end(): void;
}

/** Makes a progress bar on standard error if it is a terminal. Otherwise, shows nothing. */
export function makeProgress(label: string): Progress {
  if (!process.stderr.isTTY) return { report: () => undefined, end: () => undefined };
  let last = 0;
  return {
    report(done, total, count) {
      const now = performance.now();
      if (now - last < EVERY_MS) return;
      last = now;
      printOver(
        `${label} ${total === null ? "" : `${bar(Math.min(done / Math.max(total, 1), 1))} `}${count.toLocaleString("en")}`,
      );
    },
    end: () => printOver(""),
  };
}

function bar(part: number): string {
  const full = Math.round(part * WIDTH);
  return `[${"#".repeat(full)}${" ".repeat(WIDTH - full)}] ${String(Math.floor(part * 100)).padStart(3)} %`;
}
