import { indexNameOf, quote, shadowOf } from "../../sql/names.ts";
import type { Table } from "../../sql/schema/table.ts";
import type { Change, Outcome } from "../../store.ts";
import { keyConstraintOf, postgres, referenceConstraintOf } from "../dialect.ts";
import { isServerError, state, type ServerError } from "../errors.ts";

/** Why a change was not made. */
type Refusal = Extract<Outcome, { readonly change: number }>;

/** Says which rule a change has broken; null where the error is none of that kind. */
export function refusalOf(error: unknown, table: Table, change: Change, at: number): Refusal | null {
  if (!isServerError(error)) return null;
  if (table.existing !== null && error.code !== state.refused) return refusalByOthers(error, table, change, at);
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

/** What a table of others did not take, by rules of its own. */
function refusalByOthers(
  { code, constraint, column }: ServerError,
  { collection, existing, columns }: Table,
  change: Change,
  at: number,
): Refusal | null {
  const known = collection.existing!.constraints?.[constraint ?? ""] ?? null;
  switch (code) {
    case state.unique:
      return known === null
        ? { kind: "unfit", change: at, column: null }
        : { kind: "taken", change: at, column: known };
    case state.foreignKey:
    case state.restrict:
      if (change.kind === "delete" || change.kind === "deleteAll")
        return { kind: "referenced", change: at, collection: "other records" };
      return known === null
        ? { kind: "unfit", change: at, column: null }
        : { kind: "dangling", change: at, column: known };
    case state.notNull: {
      const named = [...columns.keys()].find((name) => existing!.nameOf(name) === quote(column ?? ""));
      return { kind: "unfit", change: at, column: named ?? null };
    }
    case state.check:
    case state.exclusion:
    case state.raised:
      return { kind: "unfit", change: at, column: null };
    default:
      // A value that does not fit: too long, too large, no word of an enumeration.
      return code.startsWith("22") ? { kind: "unfit", change: at, column: null } : null;
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
