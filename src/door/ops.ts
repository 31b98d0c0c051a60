/**
 * Logs, metrics and traces.
 *
 * @module latchkey/ops
 */
import "./index.ts";

export type { Observation, Observer } from "../core/observation.ts";
export { watchEventLoop, type EventLoopWatch } from "../features/ops/event-loop.ts";
export { gauge, seriesOf, type MetricFamily } from "../core/measurement.ts";
export { countersOf, expositionType, formatFamilies, mergeFamilies } from "../features/ops/exposition.ts";
export { openTelemetry } from "../features/ops/tracing.ts";
export type { Traced, Tracer } from "../core/tracer.ts";
export { makeMetrics, type Metrics } from "../features/ops/metrics.ts";
export { processFamilies } from "../features/ops/process.ts";
export { logSink, type LogSink } from "../features/ops/log/log-sink.ts";
export { makeLog, type Log, type LogLevel } from "../features/ops/log/log.ts";
