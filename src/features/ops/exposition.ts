import type { MetricFamily } from "../../core/measurement.ts";

/** The content type of `formatFamilies`. */
export const expositionType = "text/plain; version=0.0.4; charset=utf-8";

/** Formats metrics in Prometheus' text exposition format, version 0.0.4. */
export function formatFamilies(families: readonly MetricFamily[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, help, type, samples }) => {
      const lines = samples.map(([series, value]) => `${series} ${formatValue(value)}\n`);
      return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines.join("")}`;
    })
    .join("");
}

/**
 * Combines the metrics of several processes: adds the values of each series, or takes the largest value if the metric
 * declares `together: "max"`.
 */
export function mergeFamilies(familyLists: readonly (readonly MetricFamily[])[]): readonly MetricFamily[] {
  const merged = new Map<string, { readonly family: MetricFamily; readonly samples: Map<string, number> }>();
  for (const family of familyLists.flat()) {
    let into = merged.get(family.name);
    if (into === undefined) merged.set(family.name, (into = { family, samples: new Map() }));
    for (const [series, value] of family.samples) {
      const existing = into.samples.get(series);
      const both =
        existing === undefined ? value : family.together === "max" ? Math.max(existing, value) : existing + value;
      into.samples.set(series, both);
    }
  }
  return [...merged.values()].map(({ family, samples }) => ({ ...family, samples: [...samples] }));
}

/**
 * Returns the metrics that must be kept after their process has stopped: all except gauges. Without them, the sums over
 * all processes would decrease, and Prometheus takes a decrease for a restart.
 */
export function countersOf(families: readonly MetricFamily[]): readonly MetricFamily[] {
  return families.filter(({ type }) => type !== "gauge");
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", String.raw`\\`).replaceAll("\n", String.raw`\n`);
}

function formatValue(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  return String(value);
}
