import { existsSync, rmSync, statSync } from "node:fs";
import { CopyError } from "../../copy.ts";
import { createFile, prepare } from "../connection.ts";
import { backup, DatabaseSync } from "../node-sqlite.ts";
import { foldLog, hold, reading, requireFile, unreadable, versionOf } from "./alone.ts";
import { requireSound } from "./check.ts";
import { companions, draftOf } from "./draft.ts";
import { placeOfCopy } from "./place-of-copy.ts";

/** How many pages are copied before others may have the processor. */
const rate = 1000;

/** Is told how many pages of how many were copied. */
export type TellPages = (done: number, total: number) => void;

/** Writes one state of a database into a file of its own, while anybody may write. Gives its size in bytes. */
export async function backupFile(path: string, to: string, replace: boolean, tell: TellPages): Promise<number> {
  requireFile(path);
  const place = placeOfCopy(to);
  if (isSameFile(path, place)) throw new CopyError("refused", `${to} is the database itself. Name another file.`);
  if (!replace && existsSync(place))
    throw new CopyError("not_empty", `${to} is there already. Name another file, or replace it with --force.`);
  let held = replace ? hold(place) : null;
  const draft = draftOf(place, "backup");
  try {
    await copyFile(path, draft.path, tell);
    if (replace) {
      // Where nothing was, a database may have begun meanwhile.
      held ??= hold(place);
      removeLog(place, held);
    }
    draft.keep({ replace });
    return statSync(place).size;
  } catch (error) {
    throw draft.told(error);
  } finally {
    draft.discard();
    held?.close();
  }
}

/** What SQLite has beside a file that goes would be taken for a part of what comes. */
function removeLog(place: string, held: DatabaseSync | null): void {
  if (held !== null) foldLog(held);
  for (const suffix of companions) rmSync(place + suffix, { force: true });
}

/** Copies one state of a database, looks at all of the copy and leaves it as a single file. Gives the version of its tables. */
export async function copyFile(path: string, to: string, tell: TellPages): Promise<number> {
  createFile(to);
  await reading(path, (source) => {
    // Within a transaction of the source, what others write meanwhile neither shows nor makes the copy begin anew.
    source.exec("BEGIN");
    versionOf(source, path);
    return backup(source, to, {
      rate,
      progress: ({ totalPages, remainingPages }) => tell(totalPages - remainingPages, totalPages),
    });
  });
  return finish(to, path);
}

/** What is wrong is told of the file that was copied (`from`): of the copy nobody knows. */
function finish(path: string, from: string): number {
  const database = new DatabaseSync(path, { returnArrays: true });
  try {
    requireSound(database, from);
    // Without a log of its own the file can be read from anywhere, also where nothing may be written beside it.
    const [mode] = prepare(database, "PRAGMA journal_mode = DELETE").get()!;
    if (mode !== "delete") throw new Error(`SQLite keeps the copy in the mode ${String(mode)}`);
    return versionOf(database, from);
  } catch (error) {
    throw unreadable(error, from) ?? error;
  } finally {
    database.close();
  }
}

/** Whether two names lead to one file. */
export function isSameFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}
