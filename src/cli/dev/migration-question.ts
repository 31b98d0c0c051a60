import { createInterface } from "node:readline";
import { visible } from "../../door/terminal.ts";
import { backupDatabase, emptyTables } from "../../service/system/databases.ts";
import { describeError, print } from "../output.ts";
import type { NeededMigration } from "./messages.ts";

/** A question that was asked and is not answered yet. */
export interface Question {
  /** Cancels the question. */
  drop(): void;
}

/**
 * Asks whether to try again after a migration, or to empty the tables that do not fit. Offers to empty them only if the
 * database is a SQLite file and `tables` is not empty. The file is copied first. Calls `done` with the message about
 * emptied tables, or with null to try again. Returns null if there is no terminal to ask.
 */
export function askHowToGoOn(
  { tables, file }: NeededMigration,
  done: (message: string | null) => void,
): Question | null {
  if (!process.stdin.isTTY) return null;
  const mayEmpty = file !== null && tables.length > 0;
  const emptying = `, or "empty" to empty ${tables.join(", ")} (a copy of the database is kept)`;
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const drop = (): void => lines.close();
  // Calls the listeners of this process. On Windows, `process.kill` would end the process before they could close
  // resources.
  lines.on("SIGINT", () => process.emit("SIGINT", "SIGINT"));
  lines.setPrompt(visible(`Press Enter to try again${mayEmpty ? emptying : ""}: `));
  lines.prompt();
  lines.on("line", (line) => {
    if (line.trim() === "") {
      drop();
      return done(null);
    }
    if (line.trim() !== "empty" || !mayEmpty) return lines.prompt();
    drop();
    emptied(file, tables).then(done, (error: unknown) => {
      print(`${describeError(error)}\n`);
    });
  });
  return { drop };
}

async function emptied(file: string, tables: readonly string[]): Promise<string> {
  const copy = `${file}.before-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
  await backupDatabase(file, copy, false, () => undefined);
  const rows = await emptyTables(file, tables);
  const gone = rows === 1 ? "1 row" : `${rows} rows`;
  return `${gone} of ${tables.join(", ")} ${rows === 1 ? "was" : "were"} deleted; ${copy} is a copy of the database before that.`;
}
