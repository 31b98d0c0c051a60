import { createInterface } from "node:readline";
import { backupDatabase, emptyTables } from "../../service/system/databases.ts";
import type { NeededMigration } from "./messages.ts";

/** A question that waits for its answer. */
export interface Question {
  /** Nobody waits for an answer any more. */
  drop(): void;
}

/**
 * Asks whether the tables that do not fit may be emptied, with a copy of the database beside it; does so and tells what was done. Where
 * nobody can be asked, or the database is no file, the cure that was told is the way. Null then.
 */
export function askToEmpty({ tables, file }: NeededMigration, done: (told: string) => void): Question | null {
  if (file === null || tables.length === 0 || !process.stdin.isTTY) return null;
  const names = tables.join(", ");
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const drop = (): void => lines.close();
  lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  lines.setPrompt(`Or empty ${names} and start? A copy of the database is kept. Write "empty": `);
  lines.prompt();
  lines.on("line", (line) => {
    if (line.trim() !== "empty") return lines.prompt();
    drop();
    emptied(file, tables).then(done, (error: unknown) => {
      process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
    });
  });
  return { drop };
}

async function emptied(file: string, tables: readonly string[]): Promise<string> {
  const copy = `${file}.before-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
  await backupDatabase(file, copy, false, () => undefined);
  const rows = await emptyTables(file, tables);
  return `${rows} rows of ${tables.join(", ")} are gone; ${copy} has the database as it was before.`;
}
