import type { Command } from "commander";
import type { InspectOptions } from "../inspect.ts";
import type { BackupOptions, RestoreCommandOptions } from "./db-actions.ts";
import type { MigrationCommandOptions } from "./migrate-actions.ts";

/** Loaded only when needed, so that the help appears quickly. */
const actions = () => import("./db-actions.ts");
const migrations = () => import("./migrate-actions.ts");

/** Adds `latchkey db …`. */
export function addDatabaseCommands(db: Command): void {
  db.command("move")
    .description("copy everything into an empty database and compare both; the service must be stopped")
    .argument("<from>", "sqlite:PATH or postgres://USER@HOST/NAME")
    .argument("<to>", "sqlite:PATH or postgres://USER@HOST/NAME; PGPASSWORD keeps the password out of sight")
    .option("--json", "answer in JSON")
    .action(async (from: string, to: string, options: object) => (await actions()).move(from, to, options));
  db.command("backup")
    .description("write the SQLite database as it is now into a file, also while the service is running")
    .argument("<file>")
    .option("--force", "replace the file where there is one")
    .option("--json", "answer in JSON")
    .action(async (file: string, options: BackupOptions) => (await actions()).backup(file, options));
  db.command("restore")
    .description("put a backup in the place of the SQLite database; the service must be stopped; logins end")
    .argument("<file>")
    .option("--keep-logins", "keep sessions and tokens of logins, also those that ended after the backup")
    .option("--revoke-all", "end API tokens and named keys too")
    .option("--json", "answer in JSON")
    .action(async (file: string, options: RestoreCommandOptions) => (await actions()).restore(file, options));
  db.command("plan")
    .description("compare the declarations with the database, and tell what is to be done; nothing is changed")
    .option("--allow-data-loss <column...>", "columns that may go with their values, like books.title")
    .option(
      "--check",
      "end with 0 where a start does all of it, 3 where db migrate has to be run, 1 where that cannot begin",
    )
    .option("--json", "answer in JSON")
    .action(async (options: MigrationCommandOptions) => (await migrations()).plan(options));
  db.command("migrate")
    .description(
      "make the tables as they are declared, also while the service is running; go on where it was broken off",
    )
    .option("--allow-data-loss <column...>", "columns that may go with their values, like books.title")
    .option("--dry-run", "try it on a copy, and change nothing")
    .option("--json", "answer in JSON")
    .action(async (options: MigrationCommandOptions) =>
      (await migrations()).migrate(options, db.parent?.version() ?? "0.0.0"),
    );
  db.command("inspect")
    .description("write declarations of the tables that others have made, as a config file; nothing is changed")
    .option("--table <name...>", "these tables alone")
    .option("--out <file>", "write into this file, which must not be there")
    .action(async (options: InspectOptions) => (await import("../inspect.ts")).inspect(options));
  db.command("explain")
    .description("ask for every list that the declarations permit, and tell how it is found and what it costs today")
    .option("--json", "answer in JSON")
    .action(async (options: object) => (await actions()).explain(options));
  db.command("stats")
    .description(
      "tell the rows, the bytes and the oldest of each table, within seconds, also while the service is running",
    )
    .option("--json", "answer in JSON")
    .action(async (options: object) => (await actions()).stats(options));
  db.command("check")
    .description("look for damage in the database, and tell what it holds")
    .option("--json", "answer in JSON")
    .action(async (options: object) => (await actions()).check(options));
}
