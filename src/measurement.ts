/** Samples under one name: what Prometheus calls a metric family. Plain data, so that a process can tell another its own. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** How the gauges of several processes are told as one; they add up where it is left out, as counters and histograms do. */
  readonly together?: "max";
  /** Values by name and labels, as they are written. */
  readonly samples: readonly Sample[];
}

export type Sample = readonly [series: string, value: number];
