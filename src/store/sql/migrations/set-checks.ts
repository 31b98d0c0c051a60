import type { Collection, Column, StoredRecord, Value } from "../../store.ts";
import type { Source } from "./source.ts";

/** The reason of a misfit in a unique set, and the fix. */
export const whySetTwice =
  "is a unique set, but some records have the same values. Change or delete all but one of each";

/** Checks the new values of a unique set row by row, if the program computes some of them. */
export interface SetCheck {
  readonly set: readonly string[];
  /** Returns true if an earlier row has the same values. */
  isTaken(row: StoredRecord): boolean;
}

/** Returns the checks of the unique sets of which the program computes a value. */
export function createSetChecks(
  { columns, uniques = [] }: Collection,
  sources: ReadonlyMap<string, Source>,
): readonly SetCheck[] {
  return uniques.flatMap((set): SetCheck[] => {
    const members = set.map((name) => columns.find((column) => column.name === name)!);
    const kinds = members.map(({ name }) => sources.get(name)!.kind);
    if (!kinds.includes("program") || kinds.includes("sql") || kinds.includes("unknown")) return [];
    const seen = new Set<string>();
    return [
      {
        set,
        isTaken(row) {
          const values = members.map((column) => computeNew(column, sources.get(column.name)!, row));
          if (values.includes(null)) return false;
          const text = JSON.stringify(values);
          if (seen.has(text)) return true;
          seen.add(text);
          return false;
        },
      },
    ];
  });
}

/** Returns the new value of a row. Returns null if there is none: the check of the column reports it. */
function computeNew(column: Column, source: Source, row: StoredRecord): Value {
  if (source.kind === "same") return row[source.from] ?? null;
  if (source.kind !== "program") return column.default ?? null;
  try {
    return source.compute(row);
  } catch {
    return null;
  }
}
