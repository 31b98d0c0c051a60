import { createInterface } from "node:readline/promises";
import type { Plan, PlannedTable } from "../../door/stores.ts";
import { visible } from "../../door/terminal.ts";
import {
  assembleFor,
  migrateDatabase,
  planDatabase,
  type Migrated,
  type Renamed,
} from "../../service/system/migrate.ts";
import { CommandFailed, exits, UsageError, formatTable, printError, show } from "../output.ts";
import { makeProgress } from "../progress.ts";
import { requirePlace } from "../settings.ts";

/** The options of `latchkey db plan` and `latchkey db migrate`. */
export interface MigrationCommandOptions {
  readonly allowDataLoss?: readonly string[];
  readonly check?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** `latchkey db plan` */
export async function plan({
  allowDataLoss = [],
  check = false,
  json = false,
}: MigrationCommandOptions): Promise<void> {
  // Throws if the database does not exist, because its name may be misspelled.
  const { database, config, mail } = await requirePlace(false);
  const planned = await planDatabase(await assembleFor(database, config, mail), { dropped: allowDataLoss });
  requireColumns(planned);
  if (check) process.exitCode = exitFor(planned);
  show(json, planned, describePlan(planned));
}

/** `latchkey db migrate` */
export async function migrate(options: MigrationCommandOptions, program: string): Promise<void> {
  const { allowDataLoss = [], dryRun = false, json = false } = options;
  const { database, config, mail } = await requirePlace(!dryRun);
  const target = await assembleFor(database, config, mail);
  const planned = await planDatabase(target, { dropped: allowDataLoss });
  requireColumns(planned);
  const renamed = await askForRenames(planned);
  const progress = makeProgress("Rows");
  const removing = makeProgress("Old rows");
  const migrated = await migrateDatabase(target, {
    dropped: allowDataLoss,
    renamed,
    dryRun,
    program,
    report: (_, done, total) => progress.report(done, total, done),
    settled() {
      progress.end();
      if (!dryRun) printError(`${nowAsDeclared}\n`);
    },
    reportRemoved: (done, total) => removing.report(done, total, done),
  }).finally(() => {
    progress.end();
    removing.end();
  });
  show(json, migrated, describeMigrated(migrated, dryRun, renamed));
}

const nowAsDeclared =
  "All tables match their declarations: start the new version. Old columns and tables are now removed. If this is interrupted, the next latchkey db migrate continues it.";

/**
 * Throws if `--allow-data-loss` names an unknown column. Without this check, a misspelled name would have no effect,
 * and no message would say so.
 */
function requireColumns({ strangers }: Plan): void {
  if (strangers.length > 0) throw new UsageError(strangers.map((each) => `--allow-data-loss: ${each}`).join("\n"));
}

/**
 * Returns the exit code: 0 if a start of the service makes all changes, 3 if `latchkey db migrate` is needed, 1 if the
 * migration cannot start yet.
 */
function exitFor({ obstacles, renames, tables }: Plan): number {
  if (obstacles.length + renames.length > 0) return exits.failed;
  return tables.some(({ changes }) => changes.some(({ effect }) => effect !== "adds")) ? exits.due : exits.done;
}

/**
 * If a column is no longer declared and a new one has the same type, asks whether the column was renamed. Returns the
 * renamed columns. Asks nothing without a terminal.
 */
async function askForRenames({ renames }: Plan): Promise<readonly Renamed[]> {
  if (renames.length === 0 || !process.stdin.isTTY || !process.stderr.isTTY) return [];
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const confirmed: Renamed[] = [];
  try {
    for (const rename of renames) {
      const { table, from, to } = rename;
      const answer = await terminal.question(visible(`Is ${table}.${to} the new name of ${table}.${from}? [y/n] `));
      if (/^y(es)?$/i.test(answer.trim())) confirmed.push(rename);
      else
        throw new CommandFailed(
          `Then declare the removal of the old column: removed: { ${from}: "…" }, with the month until which it stays.`,
          "rename",
        );
    }
  } finally {
    terminal.close();
  }
  return confirmed;
}

function describePlan({ tables, obstacles, renames, remarks, history }: Plan): string {
  const last = history.at(-1);
  const lines = [
    ...tables.flatMap(describeTable),
    ...list("Obstacles to the migration:", obstacles),
    ...list(
      "Is it the same column?",
      renames.map(
        ({ table, from, to }) =>
          `${table}.${from} is no longer declared, and ${table}.${to} is new: declare renamedFrom: "${from}", or removed: { ${from}: "…" } with the month until which it stays`,
      ),
    ),
    ...list("Left unchanged:", remarks),
    ...(last === undefined ? [] : [`Last migrated ${last.at} by version ${last.program}.`]),
  ];
  if (tables.length + obstacles.length + renames.length === 0) lines.unshift("All tables match their declarations.");
  return lines.join("\n");
}

function list(head: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [head, ...lines.map((line) => `- ${line}`), ""];
}

const effects = { adds: "a start does it", changes: "latchkey db migrate", loses: "LOSES DATA" } as const;

function describeTable({ table, rows, seconds, changes, sql }: PlannedTable): readonly string[] {
  const shown = changes.map(({ place, effect, words, alone }) => ({
    step: `${place}: ${words}`,
    done_by: effects[effect],
    the_old_version: alone === null ? "can serve in the meantime" : `must not: ${alone}`,
  }));
  return [
    `${table}: ${rows.toLocaleString("en")} rows, about ${seconds} s (a guess: this machine was not measured)`,
    ...formatTable(shown, ["step", "done_by", "the_old_version"]).map((line) => `  ${line}`),
    ...(sql === null ? [] : ["By hand, while the service is stopped (sqlite3 -bail, or psql):", sql.trimEnd()]),
    "",
  ];
}

function describeMigrated({ made, changed, tables }: Migrated, dryRun: boolean, renamed: readonly Renamed[]): string {
  const lines = [
    ...(made.length === 0 ? [] : [`Made: ${made.join(", ")}.`]),
    ...changed.map(({ table, columns }) =>
      columns.length === 0 ? `Changed: ${table}.` : `Changed: ${table} (${columns.join(", ")}).`,
    ),
    ...tables.flatMap(({ words, rows, ms }) => [
      ...words.map((each) => `Done: ${each}.`),
      `${rows.toLocaleString("en")} rows were written in ${(ms / 1000).toFixed(1)} s.`,
    ]),
    ...renamed.map(({ table, from, to }) => `Add it to the declaration of ${table}: renamedFrom: "${from}" at ${to}.`),
    ...(dryRun ? ["This was a trial on a copy. Nothing was changed."] : []),
  ];
  return lines.length === 0 ? "All tables match their declarations." : lines.join("\n");
}
