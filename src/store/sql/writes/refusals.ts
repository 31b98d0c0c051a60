import type { Change, Outcome } from "../../store.ts";
import type { Table } from "../schema/table.ts";

/** The reason why a change was refused. */
export type Refusal = Extract<Outcome, { readonly change: number }>;

/** The rule that a change violates, as a driver reads it from the database error. */
export type BrokenRule =
  /** Another row has this value. `column` is null if it is unknown, and `columns` are those of a declared set. */
  | { readonly rule: "unique"; readonly column: string | null; readonly columns?: readonly string[] }
  /**
   * A reference. `column` returns the column that refers to no row. `holder` returns the table whose rows refer to the
   * row to delete. Both are called only if needed.
   */
  | { readonly rule: "reference"; column(): BrokenColumn | null; holder(): string }
  /** Any rule of an existing table, for example a CHECK constraint or a trigger. */
  | { readonly rule: "own"; readonly column: string | null }
  /** A value is too long for the database, for example for an index. */
  | { readonly rule: "room"; readonly column: string | null };

/** The column of a reference. For a `link`, also the index of the id. */
export type BrokenColumn = string | { readonly column: string; readonly place: number };

/**
 * Returns the refusal of a change that violates a rule. Returns null for a rule of one of the store's own tables that
 * only a fault of the program can violate.
 */
export function findRefusal(
  broken: BrokenRule,
  { existing }: Table,
  change: Pick<Change, "kind">,
  at: number,
): Refusal | null {
  const unfit = (column: string | null): Refusal | null =>
    existing === null ? null : { kind: "unfit", change: at, column };
  switch (broken.rule) {
    case "unique":
      return broken.columns === undefined
        ? { kind: "taken", change: at, column: broken.column }
        : { kind: "taken", change: at, column: null, columns: broken.columns };
    case "reference": {
      if (change.kind === "delete" || change.kind === "deleteAll")
        return { kind: "referenced", change: at, collection: existing === null ? broken.holder() : "other records" };
      const column = broken.column();
      if (column === null) return unfit(null);
      return { kind: "dangling", change: at, ...(typeof column === "string" ? { column } : column) };
    }
    case "own":
      return unfit(broken.column);
    case "room":
      return { kind: "unfit", change: at, column: broken.column };
  }
}
