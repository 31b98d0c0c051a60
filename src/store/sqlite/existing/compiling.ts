import { quote } from "../../sql/language/names.ts";
import { ask, statement, type Script } from "../../sql/language/script.ts";
import { resolveRawName } from "../../sql/schema/found.ts";
import type { Collection, TableWrite } from "../../store.ts";
import { findCode } from "../connection/errors.ts";

/** SQLITE_ERROR: a statement, or a trigger that it fires, cannot be compiled. */
const uncompiled = 1;

const done: Readonly<Record<TableWrite, string>> = { create: "made", update: "changed", delete: "removed" };

/**
 * Finds writes that would always fail, because a trigger uses a function of the program that created the file, or a
 * table that no longer exists. `EXPLAIN` compiles a statement with its triggers and does not run it.
 */
export function* findUnwritable({ columns, existing }: Collection): Script<readonly string[]> {
  const { table, writes, written = columns.map(({ name }) => name) } = existing!;
  const names = written.map((name) => quote(resolveRawName(existing!, name)));
  const into = [quote(resolveRawName(existing!, "id")), ...names];
  const statements: Readonly<Record<TableWrite, string | null>> = {
    create: `INSERT INTO ${quote(table)} (${into.join(", ")}) VALUES (${into.map(() => "NULL").join(", ")})`,
    update:
      names.length === 0 ? null : `UPDATE ${quote(table)} SET ${names.map((name) => `${name} = ${name}`).join(", ")}`,
    delete: `DELETE FROM ${quote(table)}`,
  };
  const mistakes: string[] = [];
  for (const write of writes) {
    const sql = statements[write];
    if (sql === null) continue;
    try {
      yield* ask(statement(`EXPLAIN ${sql}`));
    } catch (error) {
      if (findCode(error) !== uncompiled) throw error;
      mistakes.push(
        `rows of ${table} cannot be ${done[write]} (${(error as Error).message}): a trigger may need a function that only the other program has; take "${write}" out of writes`,
      );
    }
  }
  return mistakes;
}
