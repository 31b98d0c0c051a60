import type { Observation, Observer } from "../observation.ts";

/** What a process counts, as Prometheus reads it. */
export interface Metrics {
  readonly observe: Observer;
  /** The text exposition format, version 0.0.4. */
  format(): string;
}

/** A number that is asked for when somebody looks. */
export interface Gauge {
  readonly name: string;
  readonly help: string;
  read(): number;
}

/** Upper bounds of the latency histogram, in seconds. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Methods that are labels; whatever else a caller makes up is one. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** One route under one method. */
interface Series {
  readonly route: string;
  readonly method: string;
  readonly statuses: Map<number, number>;
  readonly buckets: number[];
  seconds: number;
  count: number;
}

/** Counts observations. Written here rather than with a library, because it runs on every request and is a few additions. */
export function makeMetrics(gauges: readonly Gauge[]): Metrics {
  const routes = new Map<string | null, Map<string, Series>>();
  const refusals = new Map<string, number>();
  let faults = 0;

  function takeRequest({ method, route, status, durationMs }: Extract<Observation, { kind: "request" }>): void {
    const series = seriesOf(route, METHODS.has(method) ? method : "other");
    const seconds = durationMs / 1000;
    let at = 0;
    while (at < BOUNDS.length && seconds > BOUNDS[at]!) at++;
    if (at < BOUNDS.length) series.buckets[at]!++;
    series.seconds += seconds;
    series.count++;
    add(series.statuses, status);
  }

  function seriesOf(route: string | null, method: string): Series {
    let methods = routes.get(route);
    if (methods === undefined) routes.set(route, (methods = new Map<string, Series>()));
    let series = methods.get(method);
    if (series === undefined) {
      // A path that is nobody's route is told by the caller; it must not become a label.
      series = {
        route: route ?? "none",
        method,
        statuses: new Map(),
        buckets: BOUNDS.map(() => 0),
        seconds: 0,
        count: 0,
      };
      methods.set(method, series);
    }
    return series;
  }

  return {
    observe(observation) {
      switch (observation.kind) {
        case "request":
          takeRequest(observation);
          break;
        case "credential_rejected":
          add(refusals, `scheme="${observation.scheme}",reason="${observation.reason}"`);
          break;
        case "fault":
          faults++;
          break;
        default:
      }
    },
    format() {
      const all = [...routes.values()].flatMap((methods) => [...methods.values()]);
      const lines = [
        ...family("latchkey_requests_total", "counter", "Requests answered.", all.flatMap(formatStatuses)),
        ...family(
          "latchkey_request_duration_seconds",
          "histogram",
          "Time from a request's head to its answer.",
          all.flatMap(formatLatencies),
        ),
        ...family(
          "latchkey_refusals_total",
          "counter",
          "Credentials refused.",
          [...refusals].map(([labels, count]) => `latchkey_refusals_total{${labels}} ${count}`),
        ),
        ...family("latchkey_faults_total", "counter", "Answers with status 500.", [`latchkey_faults_total ${faults}`]),
        ...gauges.flatMap(({ name, help, read }) => family(name, "gauge", help, [`${name} ${read()}`])),
      ];
      return `${lines.join("\n")}\n`;
    },
  };
}

function add<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function family(name: string, type: string, help: string, samples: readonly string[]): readonly string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples];
}

function formatStatuses({ method, route, statuses }: Series): readonly string[] {
  return [...statuses].map(
    ([status, count]) => `latchkey_requests_total{method="${method}",route="${route}",status="${status}"} ${count}`,
  );
}

/** Buckets are cumulative: each counts what the smaller ones count too. */
function formatLatencies({ method, route, buckets, seconds, count }: Series): readonly string[] {
  const name = "latchkey_request_duration_seconds";
  const labels = `method="${method}",route="${route}"`;
  let below = 0;
  const lines = buckets.map((own, at) => `${name}_bucket{${labels},le="${BOUNDS[at]}"} ${(below += own)}`);
  return [
    ...lines,
    `${name}_bucket{${labels},le="+Inf"} ${count}`,
    `${name}_sum{${labels}} ${seconds}`,
    `${name}_count{${labels}} ${count}`,
  ];
}
