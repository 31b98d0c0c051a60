import { LOOKED_AT } from "../../sql/existing/settle.ts";
import { quote } from "../../sql/language/names.ts";
import {
  ask,
  play,
  statement,
  type NamedRow,
  type Rows,
  type Statement,
  type ScriptStep,
} from "../../sql/language/script.ts";
import {
  findCountedKey,
  shownKeySQL,
  unservedFor,
  type FoundExisting,
  type FoundExistingColumn,
} from "../../sql/schema/found.ts";
import { connectReadOnly, sendTo } from "../connection/connection.ts";
import { findExisting } from "./existing.ts";
import { chooseForm } from "./forms.ts";

type StepSender = (step: ScriptStep) => Rows;

/**
 * Returns a table, with the reason if it cannot be served. For example, a view may use functions or tables that do not
 * exist.
 */
function lookAt(name: string, send: StepSender): FoundExisting {
  try {
    const found = play(findExisting(name), send)!;
    const key = findCountedKey(found);
    const unserved = key === null ? null : unservedFor(play(ask(statement(leastSQL(key, name))), send)[0]!["key"]);
    const columns = found.columns.map((column) => ({ ...column, misfits: misfitsOf(column, name, send) }));
    return { ...found, columns, ...(unserved === null ? {} : { unserved }) };
  } catch (error) {
    const unserved = `it cannot be read: ${(error as Error).message}`;
    return { ...nothing, unserved };
  }
}

const types = ["integer", "boolean", "double", "decimal", "date", "date-time", "json", "text"] as const;

/** Returns the types that the first rows do not fit. SQLite stores any value in a column of any type. */
function misfitsOf(
  column: FoundExistingColumn,
  table: string,
  send: StepSender,
): NonNullable<FoundExistingColumn["misfits"]> {
  const scale = Number(/,\s*(\d+)\s*\)/.exec(column.storage)?.[1] ?? 0);
  const x = quote(column.name);
  const asked = types.map((type) => {
    const form = chooseForm({ name: column.name, type, scale }, column);
    return typeof form === "string" || form.fits === undefined ? "0" : `max((${form.fits(x)}) IS NOT TRUE)`;
  });
  const sql = `SELECT ${asked.map((each, at) => `${each} AS "${types[at]!}"`).join(", ")} FROM (SELECT ${x} FROM ${quote(table)} WHERE ${x} IS NOT NULL LIMIT ${LOOKED_AT})`;
  const [row] = play(ask(statement(sql)), send);
  return new Set(types.filter((type) => row![type] === 1));
}

const virtual = "it is a virtual table; serve a view of it with a unique column";

const nothing: FoundExisting = {
  isTable: false,
  columns: [],
  key: [],
  uniques: new Map(),
  narrowUniques: new Map(),
  indexes: [],
  references: [],
  isFilledByTrigger: false,
};

/** Returns the SQL that reads the smallest integer key. Keys of other types are reported when the service starts. */
function leastSQL(key: string, table: string): string {
  return `SELECT ${shownKeySQL(`min(${quote(key)})`)} AS key FROM ${quote(table)} WHERE typeof(${quote(key)}) = 'integer'`;
}

/** Returns every table of a file that Latchkey did not create, by name. Only reads. */
export function inspectFile(path: string): ReadonlyMap<string, FoundExisting> {
  const database = connectReadOnly(path);
  try {
    database.exec("BEGIN");
    const send = sendTo(database);
    const isOurs = send(statement("SELECT 1 FROM sqlite_schema WHERE name = 'latchkey_schema'")).length > 0;
    const read = (query: Statement): readonly NamedRow[] => play(ask(query), send);
    const names = read(
      statement(
        "SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'latchkey\\_%' ESCAPE '\\' " +
          (isOurs
            ? "AND name NOT IN (SELECT collection FROM latchkey_schema UNION SELECT '_' || collection || '_words' FROM latchkey_schema) "
            : "") +
          "ORDER BY name",
      ),
    );
    const found = new Map<string, FoundExisting>();
    for (const { name, type } of names)
      found.set(String(name), { ...lookAt(String(name), send), ...(type === "virtual" ? { unserved: virtual } : {}) });
    return found;
  } finally {
    database.close();
  }
}
