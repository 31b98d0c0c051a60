import { createInterface } from "node:readline";
import { visible } from "../../door/terminal.ts";
import { backupDatabase, emptyTables } from "../../service/system/databases.ts";
import { messageOf } from "../exit.ts";
import { print } from "../output.ts";
import type { NeededMigration } from "./messages.ts";

/** A question that waits for its answer. */
export interface Question {
  /** Nobody waits for an answer any more. */
  drop(): void;
}

/**
 * Asks whether to try again, once somebody has migrated, or to empty the tables that do not fit, where they are of the project and the
 * database is a file: a copy of it is made before. Null where nobody can be asked.
 */
export function askHowToGoOn({ tables, file }: NeededMigration, done: (told: string | null) => void): Question | null {
  if (!process.stdin.isTTY) return null;
  const mayEmpty = file !== null && tables.length > 0;
  const emptying = `, or "empty" to empty ${tables.join(", ")} (a copy of the database is kept)`;
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const drop = (): void => lines.close();
  // Not `process.kill`: on Windows it would end the process before anything is closed.
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
      print(`${messageOf(error)}\n`);
    });
  });
  return { drop };
}

async function emptied(file: string, tables: readonly string[]): Promise<string> {
  const copy = `${file}.before-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
  await backupDatabase(file, copy, false, () => undefined);
  const rows = await emptyTables(file, tables);
  const gone = rows === 1 ? "1 row" : `${rows} rows`;
  return `${gone} of ${tables.join(", ")} ${rows === 1 ? "is" : "are"} gone; ${copy} has the database as it was before.`;
}
