/** Samples under one name: what Prometheus calls a metric family. Plain data, so that a process can tell another its own. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** How the gauges of several processes are told as one; they add up where it is left out, as counters and histograms do. */
  readonly together?: "max";
  /** Values by name and labels, as they are written. */
  readonly samples: readonly Sample[];
}

export type Sample = readonly [series: string, value: number];

export type Labels = Readonly<Record<string, string>>;

/** A name with labels. The order of the labels is the caller's: the same series has to be the same text. */
export function seriesOf(name: string, labels: Labels = {}): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? name : `${name}{${pairs.join(",")}}`;
}

/** A counter without labels. */
export function counter(name: string, help: string, count: number): MetricFamily {
  return { name, help, type: "counter", samples: [[name, count]] };
}

/** A gauge of values by state; the one under the empty name has no label. */
export function gauge(name: string, help: string, states: Readonly<Record<string, number>>): MetricFamily {
  const samples = Object.entries(states).map(
    ([state, value]) => [seriesOf(name, state === "" ? {} : { state }), value] as const,
  );
  return { name, help, type: "gauge", samples };
}

function escapeLabel(value: string): string {
  return value
    .replaceAll("\\", String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll("\n", String.raw`\n`);
}
