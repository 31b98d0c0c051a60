import { existsSync } from "node:fs";
import { CopyError, type StoreTarget } from "../../copy.ts";
import { targetOver } from "../../sql/target.ts";
import { connect, createFile, sendTo } from "../connection/connection.ts";
import type { DatabaseSync } from "../connection/node-sqlite.ts";
import { sqliteSchema } from "../table-changes/migration.ts";
import { createDraft, type Draft } from "./draft.ts";
import { placeOfCopy } from "./place-of-copy.ts";

/** Starts to copy into a new file. The file gets its final name when `keep` is called. */
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
    // References are not enforced here, because a row may refer to a row that is copied later. Nothing is synced here,
    // because the file is deleted if the copy is interrupted.
    database.exec("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; BEGIN IMMEDIATE");
    return database;
  } catch (error) {
    discard();
    throw convertError(error);
  }
}
