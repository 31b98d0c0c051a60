import { seriesOf, type Labels, type Sample } from "../../core/measurement.ts";

/**
 * The upper bounds, in seconds: those of Prometheus' own libraries, and smaller ones, because most requests are faster.
 */
const bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A histogram of durations. */
export class Histogram {
  readonly #buckets = bounds.map(() => 0);
  #seconds = 0;
  #count = 0;

  record(seconds: number): void {
    let at = 0;
    while (at < bounds.length && seconds > bounds[at]!) at++;
    if (at < bounds.length) this.#buckets[at]!++;
    this.#seconds += seconds;
    this.#count++;
  }

  /** Returns the samples. Buckets are cumulative: each includes the counts of the smaller ones. */
  samples(name: string, labels: Labels = {}): readonly Sample[] {
    let below = 0;
    return [
      ...this.#buckets.map((own, at): Sample => [
        seriesOf(`${name}_bucket`, { ...labels, le: String(bounds[at]) }),
        (below += own),
      ]),
      [seriesOf(`${name}_bucket`, { ...labels, le: "+Inf" }), this.#count],
      [seriesOf(`${name}_sum`, labels), this.#seconds],
      [seriesOf(`${name}_count`, labels), this.#count],
    ];
  }
}
