import type { Table } from "../../sql/schema/table.ts";
import type { Collection, Key } from "../../store.ts";
import { tableOf } from "../dialect.ts";
import { code, codeOf } from "../errors.ts";
import type { NamedChange, Refusal } from "../named.ts";

/** Finds the column that refers to what is not there; null where none does. */
type DanglingColumn = (
  table: Table,
  values: Extract<NamedChange, { kind: "insert" }>["values"],
  keys: readonly (Key | null)[],
) => string | null;

/** What tables of others do not take, by rules of their own. */
interface OthersConflicts {
  explain(error: unknown, table: Table, change: NamedChange, at: number, keys: readonly (Key | null)[]): Refusal | null;
  atEnd(changes: readonly NamedChange[]): Refusal | null;
}

export function othersConflicts(
  collections: ReadonlyMap<string, Collection>,
  danglingColumn: DanglingColumn,
): OthersConflicts {
  function brokenBy(change: NamedChange, table: Table, at: number, keys: readonly (Key | null)[]): Refusal | null {
    if (change.kind === "delete" || change.kind === "deleteAll")
      return { kind: "referenced", change: at, collection: "other records" };
    const column = "values" in change ? danglingColumn(table, change.values, keys) : null;
    return column === null ? null : { kind: "dangling", change: at, column };
  }

  return {
    explain(error, table, change, at, keys) {
      const message = error instanceof Error ? error.message : "";
      switch (codeOf(error)) {
        case code.primaryKey:
        case code.unique:
        case code.rowid: {
          const column = fieldIn(table, message);
          return column === null ? { kind: "unfit", change: at, column } : { kind: "taken", change: at, column };
        }
        case code.notNull:
        case code.datatype:
          return { kind: "unfit", change: at, column: fieldIn(table, message) };
        case code.check:
          return { kind: "unfit", change: at, column: null };
        case code.foreignKey:
          return brokenBy(change, table, at, keys) ?? { kind: "unfit", change: at, column: null };
        case code.trigger: {
          // A reference that restricts, or what a trigger says.
          const isReference = message.includes("FOREIGN KEY");
          return (
            (isReference ? brokenBy(change, table, at, keys) : null) ?? { kind: "unfit", change: at, column: null }
          );
        }
        default:
          return null;
      }
    },
    atEnd(changes) {
      let referenced: Refusal | null = null;
      for (const [at, change] of changes.entries()) {
        const collection = collections.get(change.collection);
        if (collection?.existing === undefined || change.kind === "forget") continue;
        const broken = brokenBy(change, tableOf(collection), at, []);
        if (broken?.kind === "dangling") return broken;
        referenced ??= broken;
      }
      return referenced;
    },
  };
}

/** `NOT NULL constraint failed: auth_user.first_name`, and of several columns the first that is declared; null where none is. */
function fieldIn({ existing, columns }: Table, message: string): string | null {
  const told = message.slice(message.indexOf(": ") + 1);
  const found = [...columns.values()].find(({ name }) => {
    const raw = existing!.nameOf(name).slice(1, -1).replaceAll('""', '"');
    return told.split(", ").some((place) => place.trim().endsWith(`.${raw}`));
  });
  return found?.name ?? null;
}
