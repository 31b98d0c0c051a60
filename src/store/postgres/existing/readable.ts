import { quote } from "../../sql/language/names.ts";
import { ask, statement, type Script } from "../../sql/language/script.ts";
import { resolveRawName } from "../../sql/schema/found.ts";
import { StoreSetupError, type Collection } from "../../store.ts";
import { postgres } from "../dialect.ts";
import { state, findSQLState } from "../errors.ts";

/**
 * Finds the columns that the store reads and its role may not read. Returns a sentence with the `GRANT` of these
 * columns alone, because a role may have rights on columns instead of tables.
 */
export function* findUnreadable({ columns, existing }: Collection): Script<readonly string[]> {
  const { table, revision } = existing!;
  const raw = ["id", ...columns.map(({ name }) => name)].map((name) => resolveRawName(existing!, name));
  const counter = typeof revision === "object" ? [revision.column] : [];
  const version = revision === "database" ? ["xmin"] : [];
  const name = postgres.quoteTable(table);
  const rows = yield* ask(
    statement(
      "SELECT name, quote_ident(current_user) AS role FROM json_array_elements_text($2::json) AS name WHERE NOT has_column_privilege($1::regclass, name, 'SELECT')",
      [name, JSON.stringify([...new Set([...raw, ...counter, ...version])])],
    ),
  );
  if (rows.length === 0) return [];
  const missing = rows.map((row) => String(row["name"]));
  const grant = `GRANT SELECT (${missing.map(quote).join(", ")}) ON ${name} TO ${String(rows[0]!["role"])}`;
  const other = missing.includes("xmin")
    ? `; the ETags come from xmin, and with revision: "digest" they come from the declared columns`
    : "";
  return [`the role of Latchkey may not read ${missing.join(", ")} of ${table}; run ${grant}${other}`];
}

/** Replaces the error for a schema that the role may not use by the error that names its `GRANT`. */
export function* withSchemaRights<T>(table: string, script: Script<T>): Script<T> {
  try {
    return yield* script;
  } catch (error) {
    const [, schema] = /^("(?:[^"]|"")*")\./.exec(postgres.quoteTable(table)) ?? [];
    if (findSQLState(error) !== state.privilege || schema === undefined) throw error;
    throw new StoreSetupError(
      [
        `The table ${table} cannot be read: ${(error as Error).message}. Allow the role of Latchkey to use the schema: GRANT USAGE ON SCHEMA ${schema} TO its role.`,
      ],
      { cause: error },
    );
  }
}
