import { performance } from "node:perf_hooks";
import { requireArguments } from "../../core/checking/options.ts";
import type { MetricFamily } from "../../core/measurement.ts";
import { Histogram } from "./histogram.ts";

/** The interval between checks of the event loop. Each check costs an idle process 0.15 ms. */
const intervalMs = 100;

/** Measures how long due work waits for the event loop, and how busy the event loop is. */
export interface EventLoopWatch {
  /** Starts the checks. Returns a function that stops them. */
  start(): () => void;
  read(): readonly MetricFamily[];
}

/**
 * Measures the event loop with a timer. The delay of the timer is the time that the loop was busy, and a request that
 * arrives then waits as long. `monitorEventLoopDelay` of Node would wake the process five times as often, and its
 * quantiles cannot be added across processes.
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
          help: "Delay of the event loop, measured ten times a second.",
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
