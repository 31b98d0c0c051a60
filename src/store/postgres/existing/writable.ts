import { quote } from "../../sql/language/names.ts";
import { ask, statement, type Script } from "../../sql/language/script.ts";
import { resolveRawName } from "../../sql/schema/found.ts";
import type { Collection, TableWrite } from "../../store.ts";
import { postgres } from "../dialect.ts";
import { state, findSQLState } from "../errors.ts";

const done: Readonly<Record<TableWrite, string>> = { create: "made", update: "changed", delete: "removed" };

/** The errors that every attempt of a write repeats, and how to fix them. */
const cures = new Map<string | null, string>([
  [state.unsupported, "a rule of the table (CREATE RULE) prevents it; use a trigger instead"],
  [state.privilege, "grant it to the role of Latchkey"],
]);

/**
 * Finds the reasons why each write would fail: a rule that conflicts with `RETURNING`, or a missing privilege.
 * `EXPLAIN` reports both and writes nothing. It does not report errors in trigger functions, because PostgreSQL
 * compiles these only when they run.
 */
export function* findUnwritable({ columns, existing }: Collection): Script<readonly string[]> {
  const { table, writes, written = columns.map(({ name }) => name) } = existing!;
  const name = postgres.quoteTable(table);
  const names = written.map((each) => quote(resolveRawName(existing!, each)));
  const values =
    names.length === 0 ? "DEFAULT VALUES" : `(${names.join(", ")}) VALUES (${names.map(() => "NULL").join(", ")})`;
  const statements: Readonly<Record<TableWrite, string | null>> = {
    create: `INSERT INTO ${name} ${values}`,
    update: names.length === 0 ? null : `UPDATE ${name} SET ${names.map((each) => `${each} = ${each}`).join(", ")}`,
    delete: `DELETE FROM ${name}`,
  };
  const mistakes: string[] = [];
  for (const write of writes) {
    const sql = statements[write];
    if (sql === null) continue;
    const returning = `${sql} RETURNING ${quote(resolveRawName(existing!, "id"))}`;
    try {
      yield* ask(
        statement(`EXPLAIN ${write === "create" ? returning : `WITH changed AS (${returning}) SELECT FROM changed`}`),
      );
    } catch (error) {
      const cure = cures.get(findSQLState(error));
      if (cure === undefined) throw error;
      mistakes.push(
        `rows of ${table} cannot be ${done[write]} (${(error as Error).message}): ${cure}, or take "${write}" out of writes`,
      );
    }
  }
  return mistakes;
}
