import { existsSync, rmSync, statSync } from "node:fs";
import { CopyError } from "../../copy.ts";
import { createFile, prepare } from "../connection/connection.ts";
import { backup, DatabaseSync } from "../connection/node-sqlite.ts";
import { mergeLog, lockFile, reading, requireFile, unreadable, loadVersion } from "./alone.ts";
import { requireSound } from "./check.ts";
import { companions, createDraft } from "./draft.ts";
import { placeOfCopy } from "./place-of-copy.ts";

/** The number of pages that are copied without a pause. Then other work of the process may run. */
const rate = 1000;

/** Receives the number of copied pages and of all pages. */
export type ReportPages = (done: number, total: number) => void;

/**
 * Writes one state of a database into a separate file, while clients write. Returns the size of that file, in bytes.
 */
export async function backupFile(path: string, to: string, replace: boolean, report: ReportPages): Promise<number> {
  requireFile(path);
  const place = placeOfCopy(to);
  if (isSameFile(path, place)) throw new CopyError("refused", `${to} is the database itself. Name another file.`);
  if (!replace && existsSync(place))
    throw new CopyError("not_empty", `${to} exists already. Name another file, or replace it with --force.`);
  let held = replace ? lockFile(place) : null;
  const draft = createDraft(place, "backup");
  try {
    await copyFile(path, draft.path, report);
    if (replace) {
      // If there was no file before, another process may have created a database there since.
      held ??= lockFile(place);
      removeLog(place, held);
    }
    draft.keep({ replace });
    return statSync(place).size;
  } catch (error) {
    throw draft.convertError(error);
  } finally {
    draft.discard();
    held?.close();
  }
}

/**
 * Deletes the log and other files of SQLite next to a file that is about to be replaced, because SQLite would mix them
 * with the new file. The log is first merged into the old file, which stays complete until it is replaced.
 */
function removeLog(place: string, held: DatabaseSync | null): void {
  if (held !== null) mergeLog(held);
  for (const suffix of companions) rmSync(place + suffix, { force: true });
}

/**
 * Copies one state of a database into a single file without a log, and checks the whole copy. Returns the version of
 * its tables.
 */
export async function copyFile(path: string, to: string, report: ReportPages): Promise<number> {
  createFile(to);
  await reading(path, (source) => {
    // While the source is in a transaction, the copy does not see other writes and does not restart because of them.
    source.exec("BEGIN");
    loadVersion(source, path);
    return backup(source, to, {
      rate,
      progress: ({ totalPages, remainingPages }) => report(totalPages - remainingPages, totalPages),
    });
  });
  return finish(to, path);
}

/** Checks the copy. Messages name the original file (`from`), because the user does not know the copy. */
function finish(path: string, from: string): number {
  const database = new DatabaseSync(path, { returnArrays: true });
  try {
    requireSound(database, from);
    // Without a log, SQLite can read the file even in a read-only directory.
    const [mode] = prepare(database, "PRAGMA journal_mode = DELETE").get()!;
    if (mode !== "delete") throw new Error(`SQLite keeps the copy in the mode ${String(mode)}`);
    return loadVersion(database, from);
  } catch (error) {
    throw unreadable(error, from) ?? error;
  } finally {
    database.close();
  }
}

/** Returns true if two names lead to the same file. */
export function isSameFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}
