import { existsSync } from "node:fs";
import path from "node:path";
import { CopyError } from "../../door/stores.ts";
import { databaseIn, type Readings } from "../../service/settings/reading.ts";
import { database as parseDatabase, type Database } from "../../service/settings/values.ts";
import {
  backupDatabase,
  checkDatabase,
  measureDatabase,
  moveDatabase,
  restoreDatabase,
  findDefaultSecretFile,
  type Restored,
} from "../../service/system/databases.ts";
import { requireLastingStore } from "../../service/system/operator.ts";
import { CommandFailed, exits, UsageError, show, showList, type Output, type ItemMembers } from "../output.ts";
import { makeProgress } from "../progress.ts";
import { requireSettings } from "../settings.ts";
import { withOperator } from "../with-operator.ts";

/** `latchkey db move` */
export async function move(fromText: string, toText: string, { json = false }: Output): Promise<void> {
  const from = requireDatabase("the database to copy", fromText);
  const to = requireDatabase("the database to fill", toText);
  const steps = { copying: makeProgress("Copying"), verifying: makeProgress("Comparing") };
  const copied = await translateCopyErrors(
    moveDatabase(from, to, (step, done, total) => steps[step].report(done, total, done)).finally(() =>
      steps.verifying.end(),
    ),
  );
  const rows = copied.reduce((sum, each) => sum + each.rows, 0);
  const secret = findDefaultSecretFile(from);
  const next =
    secret === null
      ? "with the same secret"
      : `with the same secret: LATCHKEY_SECRET_FILE=${secret}, or a copy of that file`;
  show(
    json,
    { rows, tables: copied },
    `${rows.toLocaleString("en")} rows of ${copied.length} tables were copied. Both databases hold the same.\n` +
      `Start the service with LATCHKEY_DATABASE naming the new database, and ${next}.\n` +
      "The old database is unchanged. Do not serve from it again: a credential that is revoked in the new one still works there.",
  );
}

/** The options of `latchkey db backup`. */
export interface BackupOptions extends Output {
  readonly force?: boolean;
}

/** `latchkey db backup` */
export async function backup(file: string, { force = false, json = false }: BackupOptions): Promise<void> {
  const readings = await readDatabase();
  const from = requireSQLite(readings.database.value, "backed up with pg_dump or pg_basebackup", false);
  const progress = makeProgress("Copying pages");
  const bytes = await translateCopyErrors(
    backupDatabase(from, file, force, (done, total) => progress.report(done, total, done)).finally(() =>
      progress.end(),
    ),
  );
  const secret = findSecretFile(readings);
  show(
    json,
    { file: path.resolve(file), bytes },
    `${file} holds a copy of the database (${bytes.toLocaleString("en")} bytes, checked).\n` +
      `The server's secret${secret === null ? "" : ` (${secret})`} is not in it. Keep a copy of the secret in another place: without it, API tokens, keys and tokens of logins stop working.`,
  );
}

/** The options of `latchkey db restore`. */
export interface RestoreCommandOptions extends Output {
  readonly keepLogins?: boolean;
  readonly revokeAll?: boolean;
}

/** `latchkey db restore` */
export async function restore(file: string, options: RestoreCommandOptions): Promise<void> {
  const { keepLogins = false, revokeAll = false, json = false } = options;
  if (keepLogins && revokeAll) throw new UsageError("--keep-logins and --revoke-all contradict each other. Keep one.");
  const readings = await readDatabase();
  const place = requireSQLite(readings.database.value, "restored with pg_restore", true);
  const { tablePrefix } = databaseIn(readings);
  const progress = makeProgress("Copying pages");
  const restored = await translateCopyErrors(
    restoreDatabase(file, place, {
      tablePrefix,
      ending: keepLogins ? "nothing" : revokeAll ? "everything" : "logins",
      accessSeconds: readings.accessSeconds.value,
      report: (done, total) => progress.report(done, total, done),
    }).finally(() => progress.end()),
  );
  const hasSecret = readings.secret.from !== null || findSecretFile(readings) !== null;
  show(json, { database: path.resolve(place), ...restored }, describeRestored(file, place, restored, hasSecret));
}

function describeRestored(file: string, place: string, { aside, ended }: Restored, hasSecret: boolean): string {
  const tokens =
    ended === null || ended.tokens === null
      ? "API tokens and named keys are those of the backup: a token or key that was revoked after the backup works again."
      : `${ended.tokens} API tokens and named keys were revoked too.`;
  return [
    `${place} now holds the content of ${file}.`,
    ...(aside === null ? [] : [`The previous database is ${aside}.`]),
    ended === null
      ? "Sessions and tokens of logins are those of the backup: a login that ended after the backup works again."
      : `All users have to log in again: sessions, refresh and access tokens of ${ended.accounts} accounts were revoked.`,
    tokens,
    "Users, roles and passwords are those of the backup: deletions and changes after it are undone.",
    ...(hasSecret
      ? []
      : ["The server's secret is missing. Put back the secret of the backup before the service starts."]),
  ].join("\n");
}

/** `latchkey db check` */
export async function check({ json = false }: Output): Promise<void> {
  const { database } = await readDatabase();
  requireLastingStore(database.value, false);
  const progress = makeProgress("Looking at tables");
  const { version, tables, problems } = await translateCopyErrors(
    checkDatabase(database.value, (done, total) => progress.report(done, total, done)).finally(() => progress.end()),
  );
  if (problems.length > 0) process.exitCode = exits.failed;
  if (json) show(true, { schema: version, tables, problems }, "");
  else {
    await showList(false, [tables], ["table", "rows"]);
    const damage = problems.length === 0 ? "no damage was found" : `damaged:\n${problems.join("\n")}`;
    show(false, null, `Schema version ${version}; ${damage}.`);
  }
}

/** `latchkey db stats` */
export async function stats({ json = false }: Output): Promise<void> {
  const { database } = await readDatabase();
  requireLastingStore(database.value, false);
  const { tables, ...whole } = await translateCopyErrors(measureDatabase(database.value));
  if (json) return show(true, { ...whole, tables }, "");
  const lines = tables.map(({ table, rows, bytes, estimated, oldest }) => ({
    table,
    rows: `${estimated ? "about " : ""}${grouped(rows)}`,
    bytes: `${estimated ? "about " : ""}${grouped(bytes)}`,
    oldest: oldest === null ? null : `${oldest.at} (${oldest.column})`,
  }));
  await showList(false, [lines], ["table", "rows", "bytes", "oldest"]);
  const { bytes, freeBytes, walBytes } = whole;
  const besides = [
    ...(freeBytes === null ? [] : [`${grouped(freeBytes)} of them free for new rows`]),
    ...(walBytes === null ? [] : [`${grouped(walBytes)} in its write-ahead log`]),
  ];
  show(false, null, `${[`The database has ${grouped(bytes)} bytes`, ...besides].join(", ")}.`);
}

function grouped(count: number): string {
  return count.toLocaleString("en");
}

/** `latchkey db explain` */
export async function explain({ json = false }: Output): Promise<void> {
  await withOperator(({ explainLists }) =>
    showList(json, convertPages(explainLists()), ["list", "served", "ms", "plan"]),
  );
}

async function* convertPages(pages: AsyncIterable<readonly object[]>): AsyncGenerator<readonly ItemMembers[]> {
  for await (const page of pages) yield page.map((each) => ({ ...each }));
}

/**
 * Reads only the settings of the database. The other settings are not checked, because a restore needs no secret and
 * must not create one.
 */
async function readDatabase(): Promise<Readings> {
  return (await requireSettings("database", "accessSeconds")).readings;
}

/** Returns the file with the server's secret. Returns null if there is none. */
function findSecretFile({ database, secretFile }: Readings): string | null {
  if (secretFile.value === null) return findDefaultSecretFile(database.value);
  return existsSync(secretFile.value) ? secretFile.value : null;
}

function requireSQLite(database: Database, otherwise: string, mayCreate: boolean): string {
  if (database.kind === "postgres")
    throw new CommandFailed(
      `LATCHKEY_DATABASE is PostgreSQL, which is ${otherwise}: see docs/operation/postgresql.md.`,
      "postgres",
    );
  requireLastingStore(database, mayCreate);
  return database.path;
}

/**
 * Parses the name of a database. The error message does not repeat a wrong name, because the name may contain a
 * password.
 */
function requireDatabase(what: string, text: string): Database {
  const parsed = parseDatabase(text);
  if (!("value" in parsed)) throw new UsageError(`The argument for ${what} ${parsed.wrong.join(" ")}`);
  const { value } = parsed;
  if (value.kind === "sqlite" && value.path === ":memory:")
    throw new UsageError(`The argument for ${what} is in memory, so no other process can open it. Write sqlite:PATH.`);
  return value;
}

async function translateCopyErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof CopyError ? new CommandFailed(error.message, error.code) : error;
  }
}
