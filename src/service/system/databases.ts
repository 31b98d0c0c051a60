import { existsSync } from "node:fs";
import path from "node:path";
import {
  backupSQLite,
  checkPostgres,
  checkSQLite,
  copyStore,
  measurePostgres,
  measureSQLite,
  emptySQLite,
  postgresSource,
  postgresTarget,
  restoreSQLite,
  sqliteSource,
  sqliteStore,
  sqliteTarget,
  unprefixed,
  type Checked,
  type Content,
  type CopiedCount,
  type Stats,
  type ReportCopied,
} from "../../door/stores.ts";
import type { Database } from "../settings/values.ts";
import { endLogins, type EndedLogins, type Ending } from "../users/end-logins.ts";

/** Receives the progress: the amount done and the total. */
export type Report = (done: number, total: number) => void;

/** Copies everything into an empty database. Keeps the copy only if both databases then have the same content. */
export async function moveDatabase(
  from: Database,
  to: Database,
  report: ReportCopied,
): Promise<readonly CopiedCount[]> {
  const source = await (from.kind === "sqlite" ? sqliteSource(path.resolve(from.path)) : postgresSource(from.url));
  try {
    const target = await (to.kind === "sqlite" ? sqliteTarget(path.resolve(to.path)) : postgresTarget(to.url));
    try {
      return await copyStore(source, target, report);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Checks a database, also while it is in use. */
export function checkDatabase(database: Database, report?: Report): Promise<Checked> {
  return database.kind === "sqlite" ? checkSQLite(path.resolve(database.path), report) : checkPostgres(database.url);
}

/** Measures the size of each table of a database, also while it is in use. */
export function measureDatabase(database: Database): Promise<Stats> {
  return database.kind === "sqlite" ? measureSQLite(path.resolve(database.path)) : measurePostgres(database.url);
}

/** Writes the current state of a SQLite database into a file. Returns its size in bytes. */
export function backupDatabase(from: string, to: string, replace: boolean, report: Report): Promise<number> {
  return backupSQLite(path.resolve(from), path.resolve(to), replace, report);
}

/** Deletes every row of some tables of a SQLite file. The file must not be in use. Returns the number of rows. */
export function emptyTables(file: string, tables: readonly string[]): Promise<number> {
  return emptySQLite(path.resolve(file), tables);
}

/** The result of a restore. */
export interface Restored {
  /** The new path of the old database. Null if there was none. */
  readonly aside: string | null;
  /** Null if every login was kept. */
  readonly ended: EndedLogins | null;
}

export interface RestoreOptions {
  /** The logins and tokens of the backup that end before the database can be used. */
  readonly ending: Ending;
  /** Lifetime of an access token, in seconds. */
  readonly accessSeconds: number;
  /** The prefix of the names of its tables. */
  readonly tablePrefix?: string | undefined;
  readonly report: Report;
}

/** Replaces a SQLite database with a backup. The database must not be in use. */
export async function restoreDatabase(file: string, place: string, options: RestoreOptions): Promise<Restored> {
  const { tablePrefix = "" } = options;
  const restoring = await restoreSQLite(path.resolve(file), path.resolve(place), options.report);
  try {
    const now = new Date();
    const store = sqliteStore({ path: restoring.path, tablePrefix });
    const collections = restoring.collections.map((each) => unprefixed(each, tablePrefix));
    let ended: EndedLogins | null;
    try {
      await store.open(collections);
      ended = await endLogins(store, {
        ...options,
        collections,
        before: restoring.before === null ? null : unprefixedContent(restoring.before, tablePrefix),
        now: now.getTime(),
      });
    } finally {
      await store.close();
    }
    return { aside: restoring.putInPlace(now), ended };
  } finally {
    restoring.close();
  }
}

/** Returns the content of another database, with the table names of the service. */
function unprefixedContent(content: Content, prefix: string): Content {
  const collections = content.collections.map((each) => unprefixed(each, prefix));
  return { ...content, collections, read: (name) => content.read(prefix + name) };
}

/**
 * Returns the file with the secret next to a SQLite database, which the service uses by default. Returns null if there
 * is no such file.
 */
export function findDefaultSecretFile(database: Database): string | null {
  if (database.kind !== "sqlite") return null;
  const file = path.join(path.dirname(path.resolve(database.path)), "latchkey.secret");
  return existsSync(file) ? file : null;
}
