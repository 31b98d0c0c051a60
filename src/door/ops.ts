/**
 * Logs, measurements and traces.
 *
 * @module latchkey/ops
 */
import "./index.ts";

export type { Observation, Observer } from "../observation.ts";
export { watchEventLoop, type EventLoopWatch } from "../ops/event-loop.ts";
export { gauge, seriesOf, type MetricFamily } from "../measurement.ts";
export { countersOf, expositionType, formatFamilies, mergeFamilies } from "../ops/exposition.ts";
export { openTelemetry } from "../ops/tracing.ts";
export type { Traced, Tracer } from "../tracer.ts";
export { makeMetrics, type Metrics } from "../ops/metrics.ts";
export { processFamilies } from "../ops/process.ts";
export { logSink, type LogSink } from "../ops/log/log-sink.ts";
export { makeLog, type Log, type LogLevel } from "../ops/log/log.ts";
