import { existsSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { CopyError, type Content } from "../../copy.ts";
import type { Collection } from "../../store.ts";
import { connect, prepare } from "../connection/connection.ts";
import { sqliteSchema } from "../table-changes/migration.ts";
import { mergeLog, lockFile, requireFile, loadVersion } from "./alone.ts";
import { copyFile, isSameFile, type ReportPages } from "./backup.ts";
import { requireSound } from "./check.ts";
import { companions, createDraft, flush, takenMeanwhile, type Draft } from "./draft.ts";
import { nameInstead, addHardLink } from "./naming.ts";
import { placeToWrite } from "./place-of-copy.ts";
import { contentIn, rememberedIn } from "./source.ts";

/**
 * The number that is added to the revision of a backup if the current revision cannot be read. No service makes this
 * many changes after a backup.
 */
const unknownRevisions = 1_000_000_000;

/**
 * A backup that was copied and checked, but does not replace the current file yet. No other process can open the
 * current file in the meantime.
 */
export interface Restoring {
  /** The path of the copy. The caller may still change the copy. */
  readonly path: string;
  /** The collections in the copy. */
  readonly collections: readonly Collection[];
  /** The content of the current file. Null if there is none, or if it cannot be read. */
  readonly before: Content | null;
  /** Replaces the current file with the copy. Returns the new path of the old file. Returns null if there was none. */
  putInPlace(now: Date): string | null;
  /** Deletes the copy if it has not replaced the current file, and unlocks the current file. */
  close(): void;
}

/** Locks the current file, and copies a backup to a file in the same folder. */
export async function beginRestore(file: string, named: string, report: ReportPages): Promise<Restoring> {
  requireFile(file);
  const place = placeToWrite(named);
  if (isSameFile(file, place)) throw new CopyError("refused", `${file} is the database itself. Name its backup.`);
  const isNew = !existsSync(place);
  const held = lockFile(place);
  const draft = createDraft(place, "restoring");
  const close = (): void => {
    held?.close();
    draft.discard();
  };
  try {
    const version = await copyFile(file, draft.path, report);
    if (version > sqliteSchema.version)
      throw new CopyError(
        "schema",
        `${file} has schema version ${version}, but this program knows ${sqliteSchema.version}. Use the newer program.`,
      );
    const before = contentOfHeld(held, place);
    const collections = await raiseCounters(draft.path, before);
    return {
      path: draft.path,
      collections,
      before,
      putInPlace(now) {
        // The changes that the caller has made to the copy are still in its log.
        const copy = connect(draft.path);
        const isFolded = mergeLog(copy);
        copy.close();
        if (!isFolded) throw new CopyError("damaged", `${draft.path} cannot be finished.`);
        const isWhole = held !== null && mergeLog(held);
        const aside = `${place}.before-restore-${now.toISOString().replaceAll(/[:-]/g, "")}`;
        const isThere = existsSync(place);
        if (isThere && isNew) throw takenMeanwhile(place);
        const stays = isThere && putAside(place, aside);
        putLogAside(place, aside, isWhole);
        if (isThere && !stays) putIntoEmptyPlace(draft, place, aside);
        else draft.keep({ replace: stays });
        return isThere ? aside : null;
      },
      close,
    };
  } catch (error) {
    close();
    throw draft.convertError(error);
  }
}

/**
 * Gives the old file a second name and returns true, so that its path always leads to a file. On a disk without hard
 * links, renames the old file and returns false.
 */
function putAside(place: string, aside: string): boolean {
  const stays = addHardLink(place, aside);
  if (!stays) nameInstead(place, aside);
  return stays;
}

/**
 * Renames the log and other files of SQLite like the old file, even if the old file is missing. Otherwise SQLite would
 * mix them with the new file. Deletes them if the old file contains the content of its log (`isWhole`).
 */
function putLogAside(place: string, aside: string, isWhole: boolean): void {
  for (const suffix of companions) {
    if (isWhole) rmSync(place + suffix, { force: true });
    else if (existsSync(place + suffix)) renameSync(place + suffix, aside + suffix);
  }
  flush(dirname(place));
}

/**
 * Moves the copy to its path after the old file was renamed. If a service has created a database there in the meantime,
 * throws and keeps that database.
 */
function putIntoEmptyPlace(draft: Draft, place: string, aside: string): void {
  try {
    draft.keep();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const words = `${reason}\nThe previous database is ${aside}. To use it again, move it to ${place}.`;
    throw new CopyError("refused", words, { cause: error });
  }
}

function contentOfHeld(held: DatabaseSync | null, place: string): Content | null {
  if (held === null) return null;
  try {
    loadVersion(held, place);
    requireSound(held, place);
    return contentIn(held);
  } catch {
    // The old file cannot be read. This may be the reason for the restore.
    return null;
  }
}

/**
 * Raises the counters of the copy above those of the old file. Otherwise revisions and keys could be used twice: a
 * client may still have an ETag of a lost state, or the id of a lost row. Returns the collections of the copy.
 */
async function raiseCounters(path: string, before: Content | null): Promise<readonly Collection[]> {
  const database = connect(path);
  try {
    database.exec("BEGIN IMMEDIATE");
    const raise = prepare(database, "UPDATE latchkey_revision SET revision = max(revision + ?, ?)");
    if (before === null) {
      raise.run(unknownRevisions, 0);
    } else {
      const { revision, nextKeys } = await before.counters();
      raise.run(0, revision);
      const setKey = prepare(
        database,
        "INSERT INTO latchkey_keys (collection, next) VALUES (?, ?) ON CONFLICT DO UPDATE SET next = max(next, excluded.next)",
      );
      for (const [name, next] of Object.entries(nextKeys)) setKey.run(name, next);
      const take = prepare(database, "INSERT OR IGNORE INTO latchkey_taken_keys (collection, key) VALUES (?, ?)");
      for await (const page of before.read("latchkey_taken_keys"))
        for (const [name, key] of page) take.run(name as string, key as number);
    }
    database.exec("COMMIT");
    return rememberedIn(database);
  } finally {
    database.close();
  }
}
