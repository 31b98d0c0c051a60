import type { Change, Outcome } from "../../store.ts";
import type { Table } from "../schema/table.ts";

/** Why a change was not made. */
export type Refusal = Extract<Outcome, { readonly change: number }>;

/** The rule of a table that a change has broken, as a driver reads it from the error of its database. */
export type BrokenRule =
  /** A value that another row has; `column` is null where nobody can say which. */
  | { readonly rule: "unique"; readonly column: string | null }
  /** A reference: `column` leads to no row, or rows of `holder` lead to what was to be removed. They are asked for where they count. */
  | { readonly rule: "reference"; column(): BrokenColumn | null; holder(): string }
  /** Any rule that a table may have which was there before. */
  | { readonly rule: "own"; readonly column: string | null }
  /** A value has no room where the database has to keep it, as in an index. */
  | { readonly rule: "room"; readonly column: string | null };

/** The column of a reference, and for a `link` the place of the id. */
export type BrokenColumn = string | { readonly column: string; readonly place: number };

/** What becomes of a change that has broken a rule; null where it is a fault of the program: tables of ours have no rules of their own. */
export function refusalOf(
  broken: BrokenRule,
  { existing }: Table,
  change: Pick<Change, "kind">,
  at: number,
): Refusal | null {
  const unfit = (column: string | null): Refusal | null =>
    existing === null ? null : { kind: "unfit", change: at, column };
  switch (broken.rule) {
    case "unique":
      if (broken.column === null && existing === null) return null;
      return { kind: "taken", change: at, column: broken.column };
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
