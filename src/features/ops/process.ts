import type { MetricFamily } from "../../core/measurement.ts";

/** Returns the metrics of the process, with the names that every Prometheus library uses. */
export function processFamilies(): readonly MetricFamily[] {
  const { user, system } = process.cpuUsage();
  return [
    {
      name: "process_cpu_seconds_total",
      help: "User and system CPU time spent.",
      type: "counter",
      samples: [["process_cpu_seconds_total", (user + system) / 1e6]],
    },
    {
      name: "process_resident_memory_bytes",
      help: "Memory that the process holds.",
      type: "gauge",
      samples: [["process_resident_memory_bytes", process.memoryUsage.rss()]],
    },
    {
      name: "process_start_time_seconds",
      help: "Start time of the process, in seconds since 1970; with several processes, the start time of the newest one.",
      type: "gauge",
      together: "max",
      samples: [["process_start_time_seconds", startedAt]],
    },
  ];
}

// Computed only once, because rounding errors could change the value, and Prometheus takes a changed start time for a
// restart.
const startedAt = Math.round(performance.timeOrigin) / 1000;
