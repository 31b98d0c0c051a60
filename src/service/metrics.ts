import { performance } from "node:perf_hooks";
import { administrator, defineEndpoint, makeMetrics, type Endpoint, type Metrics } from "../index.ts";

/** The counts of this process; with several workers each has its own. */
export function serviceMetrics(): Metrics {
  return makeMetrics([
    {
      name: "process_resident_memory_bytes",
      help: "Memory that the process holds.",
      read: () => process.memoryUsage.rss(),
    },
    { name: "process_uptime_seconds", help: "How long the process has run.", read: () => process.uptime() },
    {
      name: "latchkey_event_loop_utilization",
      help: "Share of the time in which the event loop was busy, since the start.",
      read: () => performance.eventLoopUtilization().utilization,
    },
  ]);
}

/** `GET /metrics`, for administrators. */
export function metricsEndpoint(metrics: Metrics): Endpoint {
  return defineEndpoint({
    method: "GET",
    path: "/metrics",
    access: administrator,
    query: "ignored",
    produces: "text/plain",
    documentation: {
      summary: "Counts and latencies, for Prometheus",
      tag: "system",
      responses: { 200: { description: "Prometheus' text format.", schema: { type: "string" } } },
    },
    handle: () => ({
      status: 200,
      cache: "no-store",
      body: { kind: "raw", type: "text/plain; version=0.0.4; charset=utf-8", content: metrics.format() },
    }),
  });
}
