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
  type TellCopied,
} from "../../door/stores.ts";
import type { Database } from "../settings/values.ts";
import { endLogins, type EndedLogins, type Ending } from "../users/end-logins.ts";

/** Is told how much of how much is done. */
export type Tell = (done: number, total: number) => void;

/** Copies everything into a database that is empty, and keeps it only when both hold the same. */
export async function moveDatabase(from: Database, to: Database, tell: TellCopied): Promise<readonly CopiedCount[]> {
  const source = await (from.kind === "sqlite" ? sqliteSource(path.resolve(from.path)) : postgresSource(from.url));
  try {
    const target = await (to.kind === "sqlite" ? sqliteTarget(path.resolve(to.path)) : postgresTarget(to.url));
    try {
      return await copyStore(source, target, tell);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Looks at a database, also while it is in use. */
export function checkDatabase(database: Database, tell?: Tell): Promise<Checked> {
  return database.kind === "sqlite" ? checkSQLite(path.resolve(database.path), tell) : checkPostgres(database.url);
}

/** How much a database holds, table by table, also while it is in use. */
export function measureDatabase(database: Database): Promise<Stats> {
  return database.kind === "sqlite" ? measureSQLite(path.resolve(database.path)) : measurePostgres(database.url);
}

/** Writes a SQLite database as it is now into a file. Gives its size in bytes. */
export function backupDatabase(from: string, to: string, replace: boolean, tell: Tell): Promise<number> {
  return backupSQLite(path.resolve(from), path.resolve(to), replace, tell);
}

/** Removes every row of tables of a SQLite file that nobody has open. Gives how many there were. */
export function emptyTables(file: string, tables: readonly string[]): Promise<number> {
  return emptySQLite(path.resolve(file), tables);
}

/** What a restore has done. */
export interface Restored {
  /** Where the database from before was put; null where there was none. */
  readonly aside: string | null;
  /** Null where every login was kept. */
  readonly ended: EndedLogins | null;
}

export interface RestoreOptions {
  /** What of the backup's logins and tokens is ended before anybody can use them. */
  readonly ending: Ending;
  /** How long an access token lives. */
  readonly accessSeconds: number;
  /** What the names of its tables begin with. */
  readonly tablePrefix?: string | undefined;
  readonly tell: Tell;
}

/** Puts a backup in the place of a SQLite database that nobody has open. */
export async function restoreDatabase(file: string, place: string, options: RestoreOptions): Promise<Restored> {
  const { tablePrefix = "" } = options;
  const restoring = await restoreSQLite(path.resolve(file), path.resolve(place), options.tell);
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

/** What another database holds, under the names that the service has for it. */
function unprefixedContent(content: Content, prefix: string): Content {
  const collections = content.collections.map((each) => unprefixed(each, prefix));
  return { ...content, collections, read: (name) => content.read(prefix + name) };
}

/** The file in which a service finds its secret where none is named: beside SQLite's. Null where there is no such file. */
export function secretBeside(database: Database): string | null {
  if (database.kind !== "sqlite") return null;
  const file = path.join(path.dirname(path.resolve(database.path)), "latchkey.secret");
  return existsSync(file) ? file : null;
}
