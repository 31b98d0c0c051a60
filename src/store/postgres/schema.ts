import { requireSoundDeclarations } from "../declarations.ts";
import { MigrationNeeded, StoreUnavailable, type Collection } from "../store.ts";
import { encode } from "./codec.ts";
import { ReadOnly } from "./errors.ts";
import { fitReferences, fitTable, rememberDeclaration } from "./migration.ts";
import { migrationLock, ownTables, schemaVersion } from "./own-tables.ts";
import { plain } from "./parameters.ts";
import type { Session } from "./session.ts";

/** How long a migration may be without a statement, in milliseconds: its process has gone without a word. */
const idleMs = 60_000;

/** Creates what is not there and adds to what is; all of it or nothing, and one process at a time. */
export async function prepareSchema(session: Session, collections: readonly Collection[]): Promise<void> {
  requireSoundDeclarations(collections, encode);
  if ((await unprepared(session, collections)).length === 0) return;
  // Whatever isolation is the default: what another process has made while this one waited must be seen.
  // And whoever went away in the middle of it must not keep the others from it.
  await session.run(
    `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`,
  );
  try {
    await session.send(plain(migrationLock));
    if ((await requireKnownVersion(session)) === 0) await session.run(ownTables);
    // Asked again: another process may have been first.
    await fit(session, await unprepared(session, collections));
    await session.run("COMMIT");
  } catch (error) {
    await session.run("ROLLBACK").catch(() => undefined);
    throw error;
  }
}

/** Rejects unless the tables are there and can be written. */
export async function requireSchema(session: Session, collections: readonly Collection[]): Promise<void> {
  const names = collections.map(({ name }) => name);
  const [found] = await session.send({
    name: "latchkey_check",
    text:
      "SELECT version, current_setting('transaction_read_only') = 'on', " +
      "ARRAY(SELECT name FROM unnest($1::text[]) AS name WHERE name NOT IN (SELECT collection FROM latchkey_schema))::text " +
      "FROM latchkey_version",
    values: [names],
  });
  const [version, readOnly, missing] = found!;
  requireVersion(version as number);
  if (missing !== "{}") throw new StoreUnavailable(`PostgreSQL: the tables ${String(missing)} are not there any more`);
  if (readOnly === true) throw new ReadOnly();
}

async function fit(session: Session, collections: readonly Collection[]): Promise<void> {
  const problems: string[] = [];
  const fitted: Collection[] = [];
  for (const collection of collections) {
    const found = await fitTable(session, collection);
    problems.push(...found);
    if (found.length === 0) fitted.push(collection);
  }
  // References come last, since tables may refer to each other in a circle.
  for (const collection of fitted) problems.push(...(await fitReferences(session, collection)));
  if (problems.length > 0) throw new MigrationNeeded(problems);
  for (const collection of collections) await rememberDeclaration(session, collection);
}

/** The collections whose tables are not as declared. */
async function unprepared(session: Session, collections: readonly Collection[]): Promise<readonly Collection[]> {
  if ((await requireKnownVersion(session)) === 0) return collections;
  const rows = await session.send(plain("SELECT collection, declaration FROM latchkey_schema"));
  const remembered = new Map(rows.map(([name, declaration]) => [name, declaration]));
  return collections.filter((collection) => remembered.get(collection.name) !== JSON.stringify(collection));
}

/** The version of the tables; 0 where there are none. */
async function requireKnownVersion(session: Session): Promise<number> {
  const [there] = await session.send(plain("SELECT to_regclass('latchkey_version') IS NOT NULL"));
  if (there![0] !== true) return 0;
  const [version] = await session.send(plain("SELECT version FROM latchkey_version"));
  return requireVersion(version![0] as number);
}

function requireVersion(version: number): number {
  if (version <= schemaVersion) return version;
  throw new MigrationNeeded([
    `The database has schema version ${version} and this program knows ${schemaVersion}. Run the newer program, or restore a backup from before it ran.`,
  ]);
}
