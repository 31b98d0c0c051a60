import { formatDeclaration, pickOwnCollections, requireSoundDeclarations } from "../../declarations.ts";
import { MigrationNeeded, StoreSetupError, StoreUnavailable, type Collection } from "../../store.ts";
import { encode } from "../language/codec.ts";
import { ask, run, statement, type Script } from "../language/script.ts";
import { forgottenLinks } from "../schema/links.ts";
import type { SchemaDialect } from "../schema/schema.ts";
import { fitTables } from "./migration.ts";

/**
 * Creates missing tables and extends existing ones, all or nothing. The code that plays the script rolls back on an
 * error.
 */
export function* prepareTables(schema: SchemaDialect, collections: readonly Collection[]): Script<void> {
  requireSoundDeclarations(collections, (column, value) => encode(schema, column, value));
  if ((yield* unprepared(schema, collections)).length === 0) return;
  yield* run(schema.begin);
  if ((yield* requireKnownVersion(schema)) === 0) yield* schema.makeOwnTables();
  // Checked again inside the transaction, because another process may have made the tables.
  const wanted = yield* unprepared(schema, collections);
  yield* schema.dropLeftovers(wanted);
  yield* fitTables(schema, wanted);
  yield* run("COMMIT");
}

/** Returns the version. Throws `MigrationNeeded` if a newer program has created the tables. */
export function requireVersion(schema: SchemaDialect, version: number): number {
  if (version <= schema.version) return version;
  throw new MigrationNeeded([
    `The database has schema version ${version}, but this program knows ${schema.version}. Run the newer program, or restore a backup from before it ran.`,
  ]);
}

/** Throws `StoreUnavailable` if tables are missing that existed when the store was opened. */
export function requireTables(engine: string, missing: readonly string[]): void {
  const [first] = missing;
  if (first === undefined) return;
  throw new StoreUnavailable(
    `${engine}: tables are missing: ${missing.join(", ")}. Restore a backup. If you do not need a table's rows, DELETE FROM latchkey_schema WHERE collection = '${first}' and start again, which creates the table empty.`,
  );
}

/**
 * Returns the version of the tables. Returns 0 if there are none. Throws `MigrationNeeded` if the version is newer than
 * this program.
 */
export function* requireKnownVersion(schema: SchemaDialect): Script<number> {
  return requireVersion(schema, yield* schema.findVersion());
}

/**
 * Returns the collections whose tables differ from the declaration. Excludes existing tables, which Latchkey does not
 * create.
 */
export function* unprepared(schema: SchemaDialect, all: readonly Collection[]): Script<readonly Collection[]> {
  const collections = pickOwnCollections(all);
  if ((yield* requireKnownVersion(schema)) === 0) return collections;
  const rows = yield* ask(statement("SELECT collection, declaration FROM latchkey_schema"));
  const remembered = new Map(rows.map((row) => [row["collection"], row["declaration"]]));
  requireSamePrefix(collections, [...remembered.keys()].map(String));
  return [...collections, ...(yield* forgottenLinks(schema, collections))].filter(
    (collection) => remembered.get(collection.name) !== formatDeclaration(collection),
  );
}

/**
 * Throws `StoreSetupError` if the tables exist with another prefix. Otherwise the store would create a second, empty
 * set of tables.
 */
function requireSamePrefix(collections: readonly Collection[], remembered: readonly string[]): void {
  const declared = collections.map(({ name }) => name);
  if (declared.some((name) => remembered.includes(name))) return;
  const [here, there] = [commonStart(declared), commonStart(remembered)];
  const same = declared.find((name) => name !== here && remembered.includes(there + name.slice(here.length)));
  if (same === undefined) return;
  throw new StoreSetupError([
    `The database has the table ${there}${same.slice(here.length)}, but this start expects ${same}: the prefix of tables has changed since the first start. Restore the prefix (LATCHKEY_TABLE_PREFIX, or tablePrefix of the store), or use another database.`,
  ]);
}

/**
 * Returns the common start of several names, up to an underscore. Returns an empty text for a single name, because its
 * first word is no proof of a prefix: `audit_log` may be the whole name of a resource.
 */
function commonStart([first = "", ...others]: readonly string[]): string {
  if (others.length === 0) return "";
  for (let end = first.lastIndexOf("_"); end > 0; end = first.lastIndexOf("_", end - 1)) {
    const start = first.slice(0, end + 1);
    if (others.every((name) => name.startsWith(start))) return start;
  }
  return "";
}
