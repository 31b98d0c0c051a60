import assert from "node:assert/strict";

/** A metric family as a scraper reads it. */
export interface ScrapedFamily {
  readonly help: string;
  readonly type: string;
  readonly samples: readonly ScrapedSample[];
}

export interface ScrapedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const help = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ((?:[^\\\n]|\\\\|\\n)*)$/;
const type = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)$/;
const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([+-]?(?:Inf|NaN|(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?))$/;
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(?:,(?=.)|$)/y;

/**
 * Reads Prometheus' text format, version 0.0.4. Refuses everything that a strict reader may refuse, including invalid
 * names and contradictory histograms.
 */
export function readExposition(text: string): ReadonlyMap<string, ScrapedFamily> {
  const families = new Map<string, ScrapedFamily & { samples: ScrapedSample[] }>();
  const series = new Set<string>();
  let current = "";
  const lines = text.split("\n");
  assert.equal(lines.pop(), "", "the text ends with a line feed");
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    const begun = help.exec(line);
    if (begun !== null) {
      current = begun[1]!;
      const typed = type.exec(lines[++at] ?? "");
      assert.equal(typed?.[1], current, `no TYPE follows: ${line}`);
      assert.equal(families.has(current), false, `a family in two places: ${current}`);
      families.set(current, { help: begun[2]!, type: typed?.[2] ?? "", samples: [] });
      continue;
    }
    const found = sample.exec(line);
    assert.ok(found !== null && current !== "", `not a sample: ${line}`);
    const [, name = "", labels = "", value = ""] = found;
    const key = line.slice(0, line.lastIndexOf(" "));
    assert.equal(series.has(key), false, `a series twice: ${key}`);
    series.add(key);
    families.get(current)!.samples.push({ name, labels: readLabels(labels), value: readValue(value) });
  }
  for (const [name, family] of families) check(name, family);
  return families;
}

/** Returns the value of one series. 0 if it does not exist. */
export function readMetric(
  families: ReadonlyMap<string, ScrapedFamily>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const family = families.get(name) ?? families.get(name.replace(/_(?:bucket|sum|count)$/, ""));
  const found = (family?.samples ?? []).filter(
    (each) => each.name === name && Object.entries(labels).every(([key, value]) => each.labels[key] === value),
  );
  return found.reduce((sum, { value }) => sum + value, 0);
}

function readLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  label.lastIndex = 0;
  while (label.lastIndex < text.length) {
    const found = label.exec(text);
    assert.ok(found !== null, `not labels: ${text}`);
    const [, name = "", value = ""] = found;
    assert.equal(name in labels, false, `a label twice: ${text}`);
    labels[name] = value.replaceAll(/\\([\\"n])/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
  }
  return labels;
}

function readValue(text: string): number {
  return text.endsWith("Inf") ? (text.startsWith("-") ? -Infinity : Infinity) : Number(text);
}

function check(name: string, { type: kind, samples }: ScrapedFamily): void {
  assert.ok(samples.length > 0, `${name} has no samples`);
  if (kind === "counter") {
    assert.match(name, /_total$/);
    for (const { value } of samples) assert.ok(value >= 0, `${name} is ${value}`);
  } else {
    assert.doesNotMatch(name, /_total$/);
  }
  if (kind === "histogram") return checkHistogram(name, samples);
  for (const each of samples) assert.equal(each.name, name, `a sample under another family's name`);
}

function checkHistogram(name: string, samples: readonly ScrapedSample[]): void {
  const groups = Map.groupBy(samples, ({ labels }) => JSON.stringify({ ...labels, le: undefined }));
  for (const group of groups.values()) {
    const buckets = group.filter((each) => each.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) => readValue(labels["le"]!.replace("+", "")));
    const [sum, count, ...more] = group.filter((each) => each.name !== `${name}_bucket`);
    assert.deepEqual([sum?.name, count?.name, more], [`${name}_sum`, `${name}_count`, []]);
    assert.equal(bounds.at(-1), Infinity, `${name} has no +Inf`);
    assert.equal(buckets.at(-1)!.value, count!.value);
    for (let at = 1; at < buckets.length; at++) {
      assert.ok(bounds[at]! > bounds[at - 1]!, `${name}: the bounds do not rise`);
      assert.ok(buckets[at]!.value >= buckets[at - 1]!.value, `${name}: the buckets are not cumulative`);
    }
  }
}
