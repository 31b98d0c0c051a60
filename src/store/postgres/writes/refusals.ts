import { indexNameOf, shadowOf } from "../../sql/names.ts";
import type { Table } from "../../sql/schema/table.ts";
import type { Change, Outcome } from "../../store.ts";
import { keyConstraintOf, postgres, referenceConstraintOf } from "../dialect.ts";
import { isServerError, state } from "../errors.ts";

/** Why a change was not made. */
type Refusal = Extract<Outcome, { readonly change: number }>;

/** Says which rule a change has broken; null where the error is none of that kind. */
export function refusalOf(error: unknown, table: Table, change: Change, at: number): Refusal | null {
  if (!isServerError(error)) return null;
  switch (error.code) {
    case state.refused:
      if (change.kind === "require") return { kind: "refused", change: at, name: change.name };
      return { kind: error.message === "stale" ? "stale" : "missing", change: at };
    case state.unique: {
      const column = takenColumn(table, error.constraint);
      // A key that was handed out and is there: somebody else's program has used it, and the next one will do.
      if (column === "id" && change.kind === "insert" && change.key === undefined) return null;
      return column === null ? null : { kind: "taken", change: at, column };
    }
    case state.foreignKey:
    case state.restrict: {
      if (change.kind === "delete" || change.kind === "deleteAll")
        return { kind: "referenced", change: at, collection: error.table ?? "" };
      const column = table.collection.columns.find(
        (each) => each.references !== undefined && referenceConstraintOf(table.collection, each) === error.constraint,
      );
      return column === undefined ? null : { kind: "dangling", change: at, column: column.name };
    }
    default:
      return null;
  }
}

function takenColumn({ collection }: Table, constraint: string | undefined): string | null {
  if (constraint === keyConstraintOf(collection)) return "id";
  const column = collection.columns.find((each) => {
    if (each.unique === undefined || each.unique === false) return false;
    return (
      indexNameOf(postgres, collection, [each.unique === "folded" ? shadowOf(postgres, each) : each.name], true) ===
      constraint
    );
  });
  return column?.name ?? null;
}
