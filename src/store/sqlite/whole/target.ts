import { existsSync } from "node:fs";
import { CopyError, type StoreTarget } from "../../copy.ts";
import { targetOver } from "../../sql/target.ts";
import { connect, createFile, sendTo } from "../connection.ts";
import { sqliteSchema } from "../migration.ts";
import type { DatabaseSync } from "../node-sqlite.ts";
import { createDraft, type Draft } from "./draft.ts";
import { placeOfCopy } from "./place-of-copy.ts";

/** Starts a new file. It gets its final name when it is kept. */
export function openTarget(path: string): StoreTarget {
  const place = placeOfCopy(path);
  if (existsSync(place))
    throw new CopyError("not_empty", `${place} exists already. Name a new file, or move this one away.`);
  const draft = createDraft(place, "moving");
  const database = begin(draft);
  const send = sendTo(database);
  return targetOver(sqliteSchema, async (step) => send(step), {
    convertError: draft.convertError,
    async keep() {
      database.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
      database.close();
      draft.keep();
    },
    async close() {
      if (database.isOpen) database.close();
      draft.discard();
    },
  });
}

function begin({ path, discard, convertError }: Draft): DatabaseSync {
  try {
    createFile(path);
    const database = connect(path);
    // Rows may refer to later rows, so all references are checked at the end. A file that is not kept does not need a
    // sync.
    database.exec("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; BEGIN IMMEDIATE");
    return database;
  } catch (error) {
    discard();
    throw convertError(error);
  }
}
