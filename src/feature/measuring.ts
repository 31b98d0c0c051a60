import { tooLate } from "../core/checking/at-once.ts";
import {
  isObject,
  isText,
  matching,
  membersMistakes,
  buildChoiceCheck,
  optional,
  describeType,
  text,
  type ValueCheck,
} from "../core/checking/members.ts";
import type { MetricFamily } from "../core/measurement.ts";
import type { Observer } from "../core/observation.ts";
import { describeFault } from "./failure.ts";

/**
 * Reads the metrics of custom code. `who` names this code in messages. `taken` are the names of metrics that are
 * already used.
 */
export type Measuring = (
  who: string,
  measure: () => readonly MetricFamily[],
  taken: Set<string>,
) => readonly MetricFamily[];

const members: Readonly<Record<keyof MetricFamily, ValueCheck>> = {
  name: matching(/^[a-zA-Z_:][\w:]*$/, "it has to be letters, digits and underscores, like books_total"),
  help: text,
  type: buildChoiceCheck("counter", "gauge", "histogram"),
  together: optional(buildChoiceCheck("max")),
  samples: (value) =>
    Array.isArray(value) && value.every(isSample)
      ? null
      : 'it has to be a list of pairs, like [[seriesOf("books_total", { shelf: "a" }), 7]]',
};

function isSample(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [series, count] = value as readonly unknown[];
  return isText(series) && /^[a-zA-Z_:][\w:]*(?:\{.*\})?$/.test(series) && typeof count === "number";
}

/**
 * Returns a reader that returns only the valid metrics. It reports each mistake once, because metrics are read again
 * and again.
 */
export function makeMeasuring(observe: Observer): Measuring {
  const reportedMistakes = new Set<string>();

  function reportOnce(message: string, thrown: { readonly error?: unknown } = {}, mistake = message): void {
    if (reportedMistakes.has(mistake)) return;
    reportedMistakes.add(mistake);
    observe({ kind: "notice", level: "error", message, ...thrown });
  }

  return (who, measure, taken) => {
    try {
      const result: unknown = measure();
      if (result instanceof Promise) return (reportOnce(tooLate(result, who).message), []);
      if (!Array.isArray(result))
        return (reportOnce(`${who} gave ${describeType(result)}; it has to give a list of families`), []);
      return result.filter((family: unknown, at): family is MetricFamily => {
        const mistake = mistakeIn(family, at, taken);
        if (mistake !== null) reportOnce(`${who} gave ${mistake}`);
        else taken.add((family as MetricFamily).name);
        return mistake === null;
      });
    } catch (error) {
      // Reported once for each `who`, because the error may have a different message each time.
      reportOnce(`${who} threw ${describeFault(error)}`, { error }, who);
      return [];
    }
  };
}

function mistakeIn(family: unknown, at: number, taken: ReadonlySet<string>): string | null {
  const place = `families[${at}]`;
  if (!isObject(family)) return `${place}, which is ${describeType(family)}, not a family`;
  const mistakes = membersMistakes(family, members);
  if (mistakes.length > 0) return `${place}: ${mistakes.join("; ")}`;
  const { name } = family as unknown as MetricFamily;
  return taken.has(name) ? `${place}: the family ${name} is there already; give it another name` : null;
}
