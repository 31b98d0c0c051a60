import { columnsIn, indexedExpressions } from "../../sql/existing/expression-columns.ts";
import { LOOKED_AT } from "../../sql/existing/settle.ts";
import { quote } from "../../sql/language/names.ts";
import { askCells, statement, type CellRow, type Script } from "../../sql/language/script.ts";
import type { FoundExisting, FoundExistingColumn, FoundExistingReference } from "../../sql/schema/found.ts";
import type { DateTimeShape } from "../../store.ts";
import { chooseForm, detectShape } from "./forms.ts";

/**
 * Returns an existing table as SQLite describes it. Returns null if it does not exist. `instants` are the columns that
 * are declared as date-times, or null if the table has no declaration.
 */
export function* findExisting(
  table: string,
  instants: ReadonlySet<string> | null = null,
): Script<FoundExisting | null> {
  const [kind] = yield* askCells(
    statement(
      "SELECT type, wr, (SELECT sql FROM sqlite_schema AS s WHERE s.name = l.name) FROM pragma_table_list AS l WHERE schema = 'main' AND name = ?",
      [table],
    ),
  );
  if (kind === undefined) return null;
  const rows = yield* askCells(
    statement('SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?) WHERE hidden <> 1', [
      table,
    ]),
  );
  const key = rows.filter(([, , , , pk]) => (pk as number) > 0).toSorted((a, b) => (a[4] as number) - (b[4] as number));
  const isTable = kind[0] === "table";
  const [ofKey] = yield* askCells(statement("SELECT 1 FROM pragma_index_list(?) WHERE origin = 'pk'", [table]));
  // An INTEGER PRIMARY KEY is the rowid, which SQLite itself numbers. With `PRIMARY KEY DESC`, the column has a
  // separate index and is a normal column.
  const isCounted = key.length === 1 && kind[1] === 0 && ofKey === undefined;
  const counted = isCounted && String(key[0]![1]).toUpperCase() === "INTEGER" ? key[0]![0] : null;
  const columns: FoundExistingColumn[] = [];
  for (const [name, type, notNull, value, , hidden] of rows) {
    const storage = String(type);
    columns.push({
      name: String(name),
      storage,
      nullable: notNull === 0 && name !== counted,
      filled: value !== null || name === counted,
      generated: hidden === 2 || hidden === 3,
      // Any column can contain date-times, even a text column.
      ...((instants?.has(String(name)) ?? /DATE|TIME/i.test(storage))
        ? { shape: yield* shapeIn(table, String(name)) }
        : {}),
      ...readMaxLength(storage),
      ...readChecks(String(kind[2] ?? ""), String(name)),
    });
  }
  const { uniques, indexes } = yield* findIndexes(table, counted === null ? null : String(counted));
  return {
    isTable,
    columns,
    key: key.map(([name]) => String(name)),
    uniques,
    narrowUniques: yield* findNarrowUniques(
      table,
      columns.map(({ name }) => name),
    ),
    indexes,
    references: yield* findReferences(table),
    // Triggers of SQLite cannot change a row before it is written.
    isFilledByTrigger: false,
  };
}

function* shapeIn(table: string, name: string): Script<DateTimeShape> {
  const [found] = yield* askCells(
    statement(`SELECT ${quote(name)} FROM ${quote(table)} WHERE ${quote(name)} IS NOT NULL LIMIT 1`),
  );
  const shape = detectShape(found?.[0]);
  const column = quote(name);
  const form = chooseForm(
    { name, type: "date-time" },
    { storage: "", nullable: true, filled: false, generated: false, shape },
  );
  if (found === undefined || typeof form === "string") return shape;
  const others = yield* askCells(
    statement(
      `SELECT 1 FROM (SELECT ${column} FROM ${quote(table)} WHERE ${column} IS NOT NULL LIMIT ${LOOKED_AT}) WHERE (${form.fits!(column)}) IS NOT TRUE LIMIT 1`,
    ),
  );
  return others.length === 0 ? shape : "mixed";
}

function* findIndexes(table: string, counted: string | null): Script<Pick<FoundExisting, "uniques" | "indexes">> {
  const rows = yield* askCells(
    statement(
      'SELECT l.name, l."unique", x.name, x."desc", x.coll FROM pragma_index_list(?) AS l, pragma_index_xinfo(l.name) AS x ' +
        "WHERE l.partial = 0 AND x.key = 1 ORDER BY l.seq, x.seqno",
      [table],
    ),
  );
  const uniques = new Map<string, readonly string[]>();
  // The table itself is sorted by its rowid, like an index.
  const indexes: (readonly string[])[] = counted === null ? [] : [[counted]];
  for (const [name, parts] of Map.groupBy(rows, ([index]) => String(index))) {
    // Skips indexes with expressions, which have no column name, and with other collations, which have another order.
    if (parts.some(([, , column, , collation]) => column === null || collation !== "BINARY")) continue;
    const columns = parts.map(([, , column]) => String(column));
    if (parts[0]![1] === 1) uniques.set(name, columns);
    if (new Set(parts.map(([, , , descending]) => descending)).size > 1) continue;
    // Every index entry ends with the rowid of its row.
    indexes.push(counted === null || columns.includes(counted) || parts[0]![3] === 1 ? columns : [...columns, counted]);
  }
  return { uniques, indexes };
}

/**
 * Finds the unique indexes with an expression that uses exactly one column. In an error, SQLite names such an index
 * only by its name. For an index without an expression, it names the columns.
 */
function* findNarrowUniques(table: string, names: readonly string[]): Script<FoundExisting["narrowUniques"]> {
  const rows = yield* askCells(
    statement(
      'SELECT l.name, s.sql FROM pragma_index_list(?) AS l JOIN sqlite_schema AS s ON s.name = l.name WHERE l."unique" = 1 ' +
        "AND EXISTS (SELECT 1 FROM pragma_index_xinfo(l.name) AS x WHERE x.key = 1 AND x.name IS NULL)",
      [table],
    ),
  );
  const found = rows.map(([name, sql]) => [String(name), columnsIn(indexedExpressions(String(sql)), names)] as const);
  return new Map(found.filter(([, columns]) => columns.length === 1));
}

const onDelete: Readonly<Record<string, FoundExistingReference["onDelete"]>> = {
  CASCADE: "cascade",
  "SET NULL": "null",
  "SET DEFAULT": "null",
};

function* findReferences(table: string): Script<readonly FoundExistingReference[]> {
  const rows: readonly CellRow[] = yield* askCells(
    statement('SELECT id, "table", "from", "to", on_delete FROM pragma_foreign_key_list(?) ORDER BY id, seq', [table]),
  );
  const references: FoundExistingReference[] = [];
  for (const parts of Map.groupBy(rows, ([id]) => id).values()) {
    const [, target, , , does] = parts[0]!;
    const to = parts.map(([, , , column]) => column);
    // A reference without column names refers to the key.
    const [keys] = to.includes(null)
      ? [yield* askCells(statement("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", [String(target)]))]
      : [to.map((column) => [column])];
    references.push({
      constraint: null,
      columns: parts.map(([, , column]) => String(column)),
      table: String(target),
      to: keys.map(([column]) => String(column)),
      onDelete: onDelete[String(does)] ?? "restrict",
    });
  }
  return references;
}

/** Returns the declared maximum length. SQLite does not enforce it, but the author of the table chose it. */
function readMaxLength(storage: string): Pick<FoundExistingColumn, "maxLength"> {
  const found = /CHAR[^(]*\((\d+)\)/i.exec(storage);
  return found === null ? {} : { maxLength: Number(found[1]) };
}

/** Returns the list of allowed values for a column, from a `CHECK (column IN (…))` in the SQL of its table. */
function readChecks(sql: string, name: string): Pick<FoundExistingColumn, "checks"> {
  const own = [name, quote(name), `\`${name}\``, `[${name}]`].map((each) =>
    each.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&"),
  );
  const found = new RegExp(`CHECK\\s*\\(\\s*(?:${own.join("|")})\\s+IN\\s*\\(([^)]*)\\)`, "i").exec(sql);
  return found === null ? {} : { checks: [`IN (${found[1]!})`] };
}
