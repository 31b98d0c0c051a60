import type { Command } from "commander";
import type { RecordImportCommand } from "./import-actions.ts";
import type { RecordExportCommand } from "./record-actions.ts";

/** Adds `latchkey import` and `latchkey export`. */
export function addRecordCommands(program: Command): void {
  program
    .command("import")
    .description("import the records of a file into a resource, with its rules; continues an interrupted import")
    .argument("<resource>", "the resource as in its path: orders, or orders/items")
    .argument("<file>", "CSV with a header line, JSON lines, or a JSON array; - for standard input")
    .argument("[more...]", "further resources and files; with --with-ids, their records may refer to each other")
    .option("--format <format>", "csv, jsonl or json; default: from the name of the file")
    .option("--with-ids", "keep the ids and other server-set values of the file")
    .option(
      "--as <username>",
      "the user who sends the records; their permissions apply, and fields that hold the caller get this user",
    )
    .option("--dry-run", "check every line, and write nothing")
    .option("--json", "print JSON")
    .action(async (resource: string, file: string, more: readonly string[], options: RecordImportCommand) =>
      (await import("./import-actions.ts")).importFiles([resource, file, ...more], options),
    );
  program
    .command("export")
    .description("write all records of a resource, as callers see them")
    .argument("<resource>", "the resource as in its path: orders, or orders/items")
    .argument("[file]", "a new file; default, or -: standard output")
    .option("--format <format>", "csv or jsonl; default: from the name of the file, otherwise jsonl")
    .action(async (resource: string, file: string | undefined, options: RecordExportCommand) =>
      (await import("./record-actions.ts")).exportFile(resource, file, options),
    );
}
