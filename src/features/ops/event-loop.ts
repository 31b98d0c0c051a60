import { performance } from "node:perf_hooks";
import { requireArguments } from "../../core/checking/options.ts";
import type { MetricFamily } from "../../core/measurement.ts";
import { Histogram } from "./histogram.ts";

/** How often the event loop is looked at. Each look costs an idle process 0.15 ms. */
const intervalMs = 100;

/** How long what is due has to wait for the event loop, and how busy that is. */
export interface EventLoopWatch {
  /** Starts looking; gives what ends it. */
  start(): () => void;
  read(): readonly MetricFamily[];
}

/**
 * Looks by a timer, which is late by as long as the loop was busy: what a request waits that arrives at any moment. Not with
 * `monitorEventLoopDelay`, which wakes the process five times as often and whose quantiles cannot be added up over processes.
 */
export function watchEventLoop(): EventLoopWatch {
  requireArguments("watchEventLoop", arguments, {});
  const delay = new Histogram();

  return {
    start() {
      let last = performance.now();
      const timer = setInterval(() => {
        const now = performance.now();
        delay.record(Math.max(0, now - last - intervalMs) / 1000);
        last = now;
      }, intervalMs).unref();
      return () => clearInterval(timer);
    },
    read() {
      const { active, idle } = performance.eventLoopUtilization();
      const name = "latchkey_event_loop_seconds_total";
      return [
        {
          name: "latchkey_event_loop_delay_seconds",
          help: "How late the event loop was, looked at ten times a second.",
          type: "histogram",
          samples: delay.samples("latchkey_event_loop_delay_seconds"),
        },
        {
          name,
          help: "Time the event loop worked and time it waited.",
          type: "counter",
          samples: [
            [`${name}{state="active"}`, active / 1000],
            [`${name}{state="idle"}`, idle / 1000],
          ],
        },
      ];
    },
  };
}
