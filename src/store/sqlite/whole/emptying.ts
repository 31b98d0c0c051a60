import { CopyError } from "../../copy.ts";
import { quote } from "../../sql/language/names.ts";
import { openAlone, loadVersion } from "./alone.ts";

/**
 * Deletes every row of these tables and the rows that depend on them, in one transaction. Returns the number of deleted
 * rows of these tables.
 */
export function emptyFile(path: string, tables: readonly string[]): number {
  const database = openAlone(path);
  try {
    loadVersion(database, path);
    database.exec("PRAGMA foreign_keys = ON; BEGIN IMMEDIATE");
    const removed = tables.map((table) => Number(database.prepare(`DELETE FROM ${quote(table)}`).run().changes));
    database.exec("COMMIT");
    return removed.reduce((sum, rows) => sum + rows, 0);
  } catch (error) {
    if (error instanceof CopyError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new CopyError(
      "refused",
      `${tables.join(", ")} cannot be emptied (${reason}): rows of other tables may refer to their rows. Nothing was changed.`,
      { cause: error },
    );
  } finally {
    database.close();
  }
}
