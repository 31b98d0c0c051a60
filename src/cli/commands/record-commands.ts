import type { Command } from "commander";
import type { RecordExportCommand, RecordImportCommand } from "./record-actions.ts";

/** Adds `latchkey import` and `latchkey export`. */
export function addRecordCommands(program: Command): void {
  program
    .command("import")
    .description("put the records of a file into a resource, through its rules; one that was interrupted goes on")
    .argument("<resource>", "as in the path: orders, or orders/items")
    .argument("<file>", "CSV with a header line, JSON lines, or a JSON array; - for standard input")
    .option("--format <format>", "csv, jsonl or json, where the name does not tell")
    .option("--with-ids", "keep the ids of the file, and what else the service would give")
    .option(
      "--as <username>",
      "the user who sends the records: their permissions hold, and what is filled with the caller is theirs",
    )
    .option("--dry-run", "try every line and write nothing")
    .option("--json", "answer in JSON")
    .action(async (resource: string, file: string, options: RecordImportCommand) =>
      (await import("./record-actions.ts")).importFile(resource, file, options),
    );
  program
    .command("export")
    .description("write all records of a resource, as callers are shown them")
    .argument("<resource>", "as in the path: orders, or orders/items")
    .argument("[file]", "a new file; standard output where it is left out, or -")
    .option("--format <format>", "csv or jsonl; JSON lines where the name does not tell")
    .action(async (resource: string, file: string | undefined, options: RecordExportCommand) =>
      (await import("./record-actions.ts")).exportFile(resource, file, options),
    );
}
