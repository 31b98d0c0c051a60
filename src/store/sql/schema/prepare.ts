import { declarationOf, ownOf, requireSoundDeclarations } from "../../declarations.ts";
import { MigrationNeeded, StoreSetupError, StoreUnavailable, type Collection } from "../../store.ts";
import { encode } from "../codec.ts";
import { forgottenLinks } from "./links.ts";
import { fitTables } from "./migration.ts";
import type { Schema } from "./schema.ts";
import { ask, run, statement, type Script } from "./script.ts";

/** Creates what is not there and adds to what is; all of it or nothing. Whoever plays it rolls back where it fails. */
export function* prepareTables(schema: Schema, collections: readonly Collection[]): Script<void> {
  requireSoundDeclarations(collections, (column, value) => encode(schema, column, value));
  if ((yield* unprepared(schema, collections)).length === 0) return;
  yield* run(schema.begin);
  if ((yield* requireKnownVersion(schema)) === 0) yield* schema.makeOwnTables();
  // Asked again: another process may have been first.
  const wanted = yield* unprepared(schema, collections);
  yield* schema.dropRemains(wanted);
  yield* fitTables(schema, wanted);
  yield* run("COMMIT");
}

/** Throws where a newer program has made the tables. */
export function requireVersion(schema: Schema, version: number): number {
  if (version <= schema.version) return version;
  throw new MigrationNeeded([
    `The database has schema version ${version} and this program knows ${schema.version}. Run the newer program, or restore a backup from before it ran.`,
  ]);
}

/** Throws where tables are missing that were there when the store was opened. */
export function requireTables(engine: string, missing: readonly string[]): void {
  const [first] = missing;
  if (first === undefined) return;
  throw new StoreUnavailable(
    `${engine}: tables that are not there any more: ${missing.join(", ")}. Restore a backup. Where nothing of one is needed, DELETE FROM latchkey_schema WHERE collection = '${first}', and start again: it is made anew, empty.`,
  );
}

/** The version of the tables; 0 where there are none. */
export function* requireKnownVersion(schema: Schema): Script<number> {
  return requireVersion(schema, yield* schema.findVersion());
}

/** The collections whose tables are not as declared; those that were there before are nobody's to make. */
export function* unprepared(schema: Schema, all: readonly Collection[]): Script<readonly Collection[]> {
  const collections = ownOf(all);
  if ((yield* requireKnownVersion(schema)) === 0) return collections;
  const rows = yield* ask(statement("SELECT collection, declaration FROM latchkey_schema"));
  const remembered = new Map(rows.map((row) => [row["collection"], row["declaration"]]));
  requireSamePrefix(collections, [...remembered.keys()].map(String));
  return [...collections, ...(yield* forgottenLinks(schema, collections))].filter(
    (collection) => remembered.get(collection.name) !== declarationOf(collection),
  );
}

/** Throws where the same tables are there under other names: with another prefix everything would begin anew beside them. */
function requireSamePrefix(collections: readonly Collection[], remembered: readonly string[]): void {
  const declared = collections.map(({ name }) => name);
  if (declared.some((name) => remembered.includes(name))) return;
  const [here, there] = [commonStart(declared), commonStart(remembered)];
  const same = declared.find((name) => name !== here && remembered.includes(there + name.slice(here.length)));
  if (same === undefined) return;
  throw new StoreSetupError([
    `The database has the table ${there}${same.slice(here.length)}, and here it is called ${same}: the prefix of tables is another one than at the first start. Take the one that it was (LATCHKEY_TABLE_PREFIX, or tablePrefix of the store), or another database.`,
  ]);
}

/** What all of some names begin with, up to an underscore. Of one alone nobody knows what is a prefix: `audit_log` and `error_log` are no two names of one table. */
function commonStart([first = "", ...others]: readonly string[]): string {
  if (others.length === 0) return "";
  for (let end = first.lastIndexOf("_"); end > 0; end = first.lastIndexOf("_", end - 1)) {
    const start = first.slice(0, end + 1);
    if (others.every((name) => name.startsWith(start))) return start;
  }
  return "";
}
