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
    .description("copy all rows into an empty database, and compare both; stop the service first")
    .argument("<from>", "sqlite:PATH or postgres://USER@HOST/NAME")
    .argument("<to>", "sqlite:PATH or postgres://USER@HOST/NAME; PGPASSWORD keeps the password out of sight")
    .option("--json", "print JSON")
    .action(async (from: string, to: string, options: object) => (await actions()).move(from, to, options));
  db.command("backup")
    .description("copy the SQLite database into a file; the service may be running")
    .argument("<file>")
    .option("--force", "replace an existing file")
    .option("--json", "print JSON")
    .action(async (file: string, options: BackupOptions) => (await actions()).backup(file, options));
  db.command("restore")
    .description("replace the SQLite database by a backup; stop the service first; all logins end")
    .argument("<file>")
    .option("--keep-logins", "keep sessions and tokens of logins; those that ended after the backup work again")
    .option("--revoke-all", "revoke API tokens and named keys too")
    .option("--json", "print JSON")
    .action(async (file: string, options: RestoreCommandOptions) => (await actions()).restore(file, options));
  db.command("plan")
    .description("compare the declarations with the database, and print the steps of the migration; nothing is changed")
    .option("--allow-data-loss <column...>", "columns that may be removed with their values, like books.title")
    .option(
      "--check",
      "exit with 0 if a start makes all changes, 3 if db migrate is needed, 1 if db migrate cannot start",
    )
    .option("--json", "print JSON")
    .action(async (options: MigrationCommandOptions) => (await migrations()).plan(options));
  db.command("migrate")
    .description(
      "change the tables to their declarations; the service may be running; resumes an interrupted migration",
    )
    .option("--allow-data-loss <column...>", "columns that may be removed with their values, like books.title")
    .option("--dry-run", "migrate a copy, and change nothing")
    .option("--json", "print JSON")
    .action(async (options: MigrationCommandOptions) =>
      (await migrations()).migrate(options, db.parent?.version() ?? "0.0.0"),
    );
  db.command("inspect")
    .description("write a config file with declarations of tables that other programs made; nothing is changed")
    .option("--table <name...>", "only these tables")
    .option("--out <file>", "write into this new file")
    .action(async (options: InspectOptions) => (await import("../inspect.ts")).inspect(options));
  db.command("explain")
    .description("plan every list that the declarations permit, and print its index and its cost today")
    .option("--json", "print JSON")
    .action(async (options: object) => (await actions()).explain(options));
  db.command("stats")
    .description(
      "print the rows, the bytes and the oldest row of each table, within seconds; the service may be running",
    )
    .option("--json", "print JSON")
    .action(async (options: object) => (await actions()).stats(options));
  db.command("check")
    .description("check the database for damage, and print its content")
    .option("--json", "print JSON")
    .action(async (options: object) => (await actions()).check(options));
}
