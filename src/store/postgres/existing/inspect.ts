import type { Secret } from "../../../core/crypto/secret.ts";
import { quote } from "../../sql/language/names.ts";
import { ask, statement, type Script } from "../../sql/language/script.ts";
import { findCountedKey, inheritedFrom, shownKeySQL, unservedFor, type FoundExisting } from "../../sql/schema/found.ts";
import { postgres, describedTableSQL } from "../dialect.ts";
import { useWhole } from "../network/whole.ts";
import { findExisting } from "./existing.ts";

/**
 * Returns all tables that Latchkey did not make, by name. The name includes the schema if the search path does not find
 * the table. Changes nothing.
 */
export function inspectDatabase(url: Secret): Promise<ReadonlyMap<string, FoundExisting>> {
  return useWhole(url, async ({ session }) => {
    await session.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    return session.play(findAll());
  });
}

/**
 * Returns the reason why a table cannot be served, if there is one. Returns no reason if the role may not read the keys
 * of the table.
 */
function* unserved(name: string, table: FoundExisting): Script<Pick<FoundExisting, "unserved">> {
  const inherited = inheritedFrom(name, table);
  if (inherited !== null) return { unserved: inherited };
  const key = findCountedKey(table);
  if (key === null) return {};
  const quoted = postgres.quoteTable(name);
  const [row] = yield* ask(statement("SELECT has_column_privilege($1, $2, 'SELECT') AS may", [quoted, key]));
  if (row!["may"] !== true) return {};
  const [least] = yield* ask(statement(`SELECT ${shownKeySQL(`min(${quote(key)})`)} AS key FROM ${quoted}`));
  const why = unservedFor(least!["key"]);
  return why === null ? {} : { unserved: why };
}

function* findAll(): Script<ReadonlyMap<string, FoundExisting>> {
  const [ours] = yield* ask(statement("SELECT to_regclass('latchkey_schema') IS NOT NULL AS is_there"));
  const rows = yield* ask(
    statement(
      `SELECT ${describedTableSQL("c.oid", "c.relname", "n.nspname")} AS name ` +
        "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace " +
        "WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname NOT LIKE 'latchkey\\_try\\_%' AND c.relname NOT LIKE 'latchkey\\_%' " +
        (ours!["is_there"] === true
          ? "AND NOT (pg_table_is_visible(c.oid) AND (c.relname IN (SELECT collection FROM latchkey_schema) OR c.relname IN (SELECT '_' || collection || '_words' FROM latchkey_schema))) "
          : "") +
        "ORDER BY 1",
    ),
  );
  const found = new Map<string, FoundExisting>();
  for (const { name } of rows) {
    const table = yield* findExisting(String(name));
    if (table !== null) found.set(String(name), { ...table, ...(yield* unserved(String(name), table)) });
  }
  return found;
}
