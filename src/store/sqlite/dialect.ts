import type { Dialect } from "../sql/language/dialect.ts";
import { same } from "../sql/language/form.ts";
import { quote } from "../sql/language/names.ts";
import { createTableLookup } from "../sql/schema/table.ts";
import { compileDigest } from "./connection/functions.ts";
import { chooseForm } from "./existing/forms.ts";

/** The parts of the SQL that are special to SQLite. */
export const sqlite: Dialect = {
  engine: "sqlite",
  ownTypes: new Set(["integer", "text", "double", "date", "date-time"]),
  holdsNUL: true,
  maxNameLength: Infinity,
  // If the limit is a parameter, SQLite plans the statement again at every run.
  limitInText: true,
  collation: "",
  referencesInColumns: true,
  place: () => "?",
  literal: (text) => `'${text.replaceAll("'", "''")}'`,
  compileStorage: ({ type }) =>
    type === "double" ? "REAL" : type === "integer" || type === "boolean" || type === "decimal" ? "INTEGER" : "TEXT",
  // WITHOUT ROWID stores the rows in the order of their text keys. This saves a second lookup for each row.
  defineKey: ({ key }) =>
    key === "integer"
      ? { key: "INTEGER PRIMARY KEY", options: " STRICT" }
      : { key: "TEXT NOT NULL PRIMARY KEY", options: " WITHOUT ROWID, STRICT" },
  // Forces the lookup by key. Without statistics, SQLite would scan, for example, all rows of one status in order
  // instead of finding ten rows by key and sorting them.
  byKey: ({ key, name }) => (key === "integer" ? "NOT INDEXED" : `INDEXED BY ${quote(`sqlite_autoindex_${name}_1`)}`),
  comparable: (_, name) => name,
  isOneOf(compared, cells, values, operand = same) {
    const list = cells.map((cell) => (typeof cell === "bigint" ? cell.toString() : JSON.stringify(cell)));
    return `${compared} IN (SELECT ${operand("value")} FROM json_each(${values.place(`[${list.join(",")}]`)}))`;
  },
  isAmong: (compared, select) => `${compared} IN (${select})`,
  isSomeOf: (compared, select) => `${compared} IN (${select})`,
  isLocked: (compared, select) => `${compared} IN (${select})`,
  contains: (text, part) => `instr(${text}, ${part}) > 0`,
  chooseForm,
  made: ({ type, scale = 0 }, expression) =>
    type === "decimal"
      ? { sql: `round((${expression}), ${scale})`, storage: "REAL" }
      : { sql: `(${expression})`, storage: type === "integer" ? "INTEGER" : type === "double" ? "REAL" : "TEXT" },
  compileTypeQuery: () => null,
  quoteTable: quote,
  fail: (message) => `latchkey_fail(${message})`,
  revisionSQL: { database: null, digest: compileDigest },
  joined: (...parts) => parts.join(" || "),
};

/** Returns the table of a collection. */
export const getTable = createTableLookup(sqlite);

/**
 * Returns the table for reads with a time limit. The SQL calls `latchkey_in_time` at one row of 64, because a call
 * costs as much as three rows. The function throws after the time limit.
 */
export const getTimedTable = createTableLookup({ ...sqlite, watch: `(("id" & 63) <> 0 OR latchkey_in_time())` });
