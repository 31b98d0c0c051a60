import { existsSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { CopyError, type CopiedTable, type Counters, type StoreTarget } from "../../copy.ts";
import { makeJournal } from "../../sql/changes/journal.ts";
import { encode } from "../../sql/codec.ts";
import { tablesToCopy } from "../../sql/content.ts";
import { quote } from "../../sql/names.ts";
import { play } from "../../sql/schema/script.ts";
import type { Collection } from "../../store.ts";
import { connect, prepare, sendTo, type Statement } from "../connection.ts";
import { sqliteSchema } from "../migration.ts";
import { prepareFile } from "../schema.ts";
import { contentIn } from "./content.ts";
import { draftOf, type Draft } from "./draft.ts";

/** Begins a new file, which appears under its name when it is kept. */
export function openTarget(path: string): StoreTarget {
  if (existsSync(path))
    throw new CopyError("not_empty", `${path} is there already. Name a file that is not there yet, or move it away.`);
  const draft = draftOf(path, "moving");
  return fill(draft);
}

function fill(draft: Draft): StoreTarget {
  let database: DatabaseSync | null = null;
  let collections: readonly Collection[] = [];
  let tables: ReadonlyMap<string, CopiedTable> = new Map();
  const statements = new Map<string, Statement>();

  function opened(): DatabaseSync {
    if (database === null) throw new TypeError("The target was not created");
    return database;
  }

  function insertInto({ name, columns }: CopiedTable): Statement {
    let statement = statements.get(name);
    if (statement === undefined) {
      const places = columns.map(() => "?").join(", ");
      const names = columns.map((column) => quote(column.name)).join(", ");
      statement = prepare(opened(), `INSERT INTO ${quote(name)} (${names}) VALUES (${places})`);
      statements.set(name, statement);
    }
    return statement;
  }

  function close(): void {
    statements.clear();
    database?.close();
    database = null;
  }

  return {
    async create(wanted) {
      collections = wanted;
      tables = tablesToCopy(sqliteSchema, wanted);
      prepareFile(draft.path, collections);
      database = connect(draft.path);
      // Rows may refer to rows that come later; all references are looked at in the end. And what is not kept need not be synced.
      database.exec("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; BEGIN IMMEDIATE");
      play(makeJournal(sqliteSchema), sendTo(database));
    },
    async write(name, rows) {
      const table = tables.get(name)!;
      const statement = insertInto(table);
      for (const cells of rows)
        statement.run(...table.columns.map((column, at) => encode(sqliteSchema, column, cells[at])));
    },
    async complete(counters) {
      setCounters(opened(), counters);
      requireReferences(opened());
      return contentIn(opened(), collections);
    },
    async keep() {
      opened().exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
      close();
      draft.keep();
    },
    async close() {
      close();
      draft.discard();
    },
  };
}

function setCounters(database: DatabaseSync, { revision, nextKeys }: Counters): void {
  prepare(database, "UPDATE latchkey_revision SET revision = ?").run(revision);
  const set = prepare(database, "INSERT INTO latchkey_keys (collection, next) VALUES (?, ?)");
  for (const [name, next] of Object.entries(nextKeys)) set.run(name, next);
}

function requireReferences(database: DatabaseSync): void {
  const dangling = prepare(database, `SELECT DISTINCT "table", parent FROM pragma_foreign_key_check`).all();
  if (dangling.length === 0) return;
  const shown = dangling.map(([table, parent]) => `${String(table)} to ${String(parent)}`).join(", ");
  throw new CopyError("differs", `Rows refer to rows that are not there: ${shown}. Mend them in the source first.`);
}
