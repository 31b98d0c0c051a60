import { existsSync, statSync } from "node:fs";
import { CopyError } from "../../copy.ts";
import { requirePlace, sqliteFileProblems } from "../file/reaching.ts";
import { companions } from "./draft.ts";

/**
 * Returns the path for a copy, with links resolved. Throws `CopyError` if no file can be there, or if SQLite would mix
 * the copy with a database. SQLite deletes a file that has the name of another database's log. It also applies an old
 * log to a new database of that name.
 */
export function placeOfCopy(named: string): string {
  const place = placeToWrite(named);
  const suffix = companions.find((each) => place.endsWith(each));
  const whole = suffix === undefined ? null : place.slice(0, -suffix.length);
  if (whole !== null && existsSync(whole))
    throw new CopyError("refused", `${place} is the name that SQLite uses for a part of ${whole}. Name another file.`);
  // Only a log with content matters. SQLite creates the index of a log (`-shm`) again.
  const left = [`${place}-wal`, `${place}-journal`].find((name) => holdsSomething(name));
  if (left !== undefined && !existsSync(place))
    throw new CopyError(
      "not_empty",
      `${left} is left of a deleted database, and SQLite would mix it with the new one. Move it away, or name another file.`,
    );
  return place;
}

/** Returns the path of the named file, with links resolved. Throws `CopyError` if this process may not write it. */
export function placeToWrite(named: string): string {
  const problems = sqliteFileProblems(named, true);
  if (problems.length > 0) throw new CopyError("refused", problems.join("\n"));
  return requirePlace(named);
}

function holdsSomething(name: string): boolean {
  return (statSync(name, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
