import { formatIndexName, quote, formatShadowName } from "../../sql/language/names.ts";
import type { Table } from "../../sql/schema/table.ts";
import { findRefusal, type BrokenRule, type Refusal } from "../../sql/writes/refusals.ts";
import type { Change } from "../../store.ts";
import { formatKeyConstraint, postgres, formatReferenceName } from "../dialect.ts";
import { isServerError, state, type ServerError } from "../errors.ts";
import { leftOutIn } from "./changes.ts";

/** Returns why a change was refused. Returns null if the error does not mean a refusal. */
export function readRefusal(error: unknown, table: Table, change: Change, at: number): Refusal | null {
  if (!isServerError(error)) return null;
  if (error.code === state.refused) return parseRefusal(error.message, change, at);
  // Only the database issues keys of this table, so no row with the given key can exist.
  if (error.code === state.generatedKey && change.kind === "insert" && change.key !== undefined)
    return { kind: "missing", change: at };
  const broken = brokenBy(error, table, change);
  if (broken === null) return null;
  return findRefusal(broken, table, change, at);
}

/**
 * Returns the refusal for a reason that the store raises. Returns null for another text: it reports a stored value that
 * does not fit its field, which is a fault.
 */
function parseRefusal(reason: string, change: Change, at: number): Refusal | null {
  if (reason === "refused" && change.kind === "require") return { kind: "refused", change: at, name: change.name };
  if (reason === "stale" || reason === "missing") return { kind: reason, change: at };
  const leftOut = leftOutIn(reason);
  return leftOut === null ? null : { kind: "unfit", change: leftOut, column: null };
}

function brokenBy(error: ServerError, table: Table, change: Change): BrokenRule | null {
  const { code, constraint, table: holder, column } = error;
  switch (code) {
    case state.unique:
      // A unique index of another table can be violated only by concurrent work.
      if (table.existing === null && holder !== table.collection.name) return null;
      return takenBy(table, error);
    case state.foreignKey:
    case state.restrict:
      return { rule: "reference", column: () => danglingColumn(table, constraint), holder: () => holder ?? "" };
    case state.notNull: {
      const { existing, columns } = table;
      const named = [...columns.keys()].find((name) => existing?.quoteName(name) === quote(column ?? ""));
      return { rule: "own", column: named ?? null };
    }
    case state.check:
      return { rule: "own", column: table.collection.existing?.constraints?.[constraint ?? ""] ?? null };
    case state.tooLargeForIndex:
      return { rule: "room", column: longestText(change) };
    case state.exclusion:
    case state.raised:
      return { rule: "own", column: null };
    default:
      // The value does not fit: it is too long, too large, or not a word of an enumeration.
      if (code.startsWith("22")) return { rule: "own", column: unfitColumn(table, change) };
      return isRuledOut(error) ? { rule: "own", column: null } : null;
  }
}

/** True if a trigger function raised the error (RAISE), with any code, or if a policy of the table refused the row. */
function isRuledOut({ code, routine }: ServerError): boolean {
  const isPassing = code === state.serialization || code === state.deadlock;
  return (routine === "exec_stmt_raise" && !isPassing) || routine === "ExecWithCheckOptions";
}

/**
 * Returns the column of an existing table whose type cannot store its value. PostgreSQL does not name the column, so
 * the result is null if several are possible.
 */
function unfitColumn({ collection: { existing } }: Table, change: Change): string | null {
  const values = "values" in change ? Object.entries(change.values) : [];
  const found = (isUnfit: (storage: string, value: unknown) => boolean): readonly string[] =>
    values.flatMap(([name, value]) => (isUnfit(existing?.found?.[name]?.storage ?? "", value) ? [name] : []));
  const tooLarge = found(isTooLarge);
  if (tooLarge.length > 0) return tooLarge[0]!;
  const others = found(hasSyntax);
  return others.length === 1 ? others[0]! : null;
}

/** Returns the column with the longest text. PostgreSQL does not name the column that is too long for an index. */
function longestText(change: Change): string | null {
  const texts = Object.entries("values" in change ? change.values : {}).flatMap(([name, value]) =>
    typeof value === "string" ? [{ name, length: value.length }] : [],
  );
  return texts.toSorted((one, other) => other.length - one.length)[0]?.name ?? null;
}

/** Types whose texts have a special syntax that no kind of field checks. */
const ownSyntax = /^(?:inet|cidr|macaddr8?|interval|xml|bit|tsvector|tsquery|ltree|money|time|point|int[48]range)\b/;

function hasSyntax(storage: string, value: unknown): boolean {
  if (storage === "jsonb") return String(JSON.stringify(value)).includes("\\u0000");
  if (storage.endsWith("[]")) return true;
  return typeof value === "string" && ownSyntax.test(storage);
}

function isTooLarge(storage: string, value: unknown): boolean {
  if (typeof value === "number") {
    const bits = storage === "smallint" ? 16 : storage === "integer" ? 32 : null;
    return bits !== null && (value < -(2 ** (bits - 1)) || value >= 2 ** (bits - 1));
  }
  const most = /^character(?: varying)?\((\d+)\)$/.exec(storage)?.[1];
  return most !== undefined && typeof value === "string" && [...value].length > Number(most);
}

function takenBy(table: Table, error: ServerError): BrokenRule {
  const { collection } = table;
  const { constraint = "" } = error;
  const columns =
    collection.existing === undefined
      ? collection.uniques?.find((set) => formatIndexName(postgres, collection, set, true) === constraint)
      : collection.existing.sets?.[constraint];
  return columns === undefined
    ? { rule: "unique", column: takenColumn(table, error) }
    : { rule: "unique", column: null, columns };
}

function takenColumn(table: Table, { constraint = "", detail = "" }: ServerError): string | null {
  const { collection } = table;
  if (collection.existing !== undefined) return collection.existing.constraints?.[constraint] ?? null;
  if (constraint === formatKeyConstraint(collection)) return "id";
  const column = collection.columns.find((each) => {
    if (each.unique === undefined || each.unique === false) return false;
    const columnName = each.unique === "folded" ? formatShadowName(postgres, each) : each.name;
    return formatIndexName(postgres, collection, [columnName], true) === constraint;
  });
  return column?.name ?? findListedColumn(table, detail);
}

/**
 * Returns the first declared column of an index that an operator has made. The server lists its columns:
 * `Key (title, "order")=(…) already exists.` Returns null if the index has an expression.
 */
function findListedColumn({ columns }: Table, detail: string): string | null {
  const list = detail.slice(detail.indexOf("(") + 1, Math.max(detail.indexOf(")=("), 0));
  const names = list.split(", ").map((name) => name.replace(/^\w+$/, '"$&"'));
  if (!names.every((name) => /^"[^"]+"$/.test(name))) return null;
  const found = [...columns.values()].find(({ quoted, shadow }) =>
    [quoted, shadow ?? quoted].some((name) => names.includes(name)),
  );
  return found?.name ?? null;
}

function danglingColumn({ collection }: Table, constraint = ""): string | null {
  if (collection.existing !== undefined) return collection.existing.constraints?.[constraint] ?? null;
  const referring = collection.columns.filter(({ references }) => references !== undefined);
  return referring.find((each) => formatReferenceName(collection, each) === constraint)?.name ?? null;
}
