/**
 * The samples of one metric, called a metric family in Prometheus. It is plain data, so a process can send it to
 * another process.
 */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** The way to combine the gauges of several processes. Default: the sum, as for counters and histograms. */
  readonly together?: "max";
  /** The values by their series: the name with its labels as text. */
  readonly samples: readonly Sample[];
}

export type Sample = readonly [series: string, value: number];

export type Labels = Readonly<Record<string, string>>;

/**
 * Returns a name with labels as text. The same series must always have the same text, so the calling code must always
 * pass the labels in the same order.
 */
export function seriesOf(name: string, labels: Labels = {}): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? name : `${name}{${pairs.join(",")}}`;
}

/** Returns a counter without labels. */
export function counter(name: string, help: string, count: number): MetricFamily {
  return { name, help, type: "counter", samples: [[name, count]] };
}

/** Returns a gauge with values by state. The value with the empty name has no label. */
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
