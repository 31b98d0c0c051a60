import { statfsSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { StoreFull } from "../../store.ts";

/**
 * What a migration leaves free, in bytes. Whoever serves meanwhile needs it: a log that cannot be brought into the file any more grows with
 * every write, and SQLite brings it in at 4 MiB.
 */
const reserve = 16 << 20;

/** Throws `StoreFull` where the next portion would take room that others need to go on writing. */
export function requireRoom(database: DatabaseSync): void {
  const path = database.location();
  if (path === null) return;
  const { bavail, bsize } = statfsSync(path);
  const free = bavail * bsize;
  if (free >= reserve) return;
  throw new StoreFull(
    `SQLite: ${mebibytes(free)} MiB are free where ${path} is. A migration leaves ${mebibytes(reserve)} MiB to those who write meanwhile. Make room, and migrate again: it goes on where it was.`,
  );
}

function mebibytes(bytes: number): number {
  return Math.floor(bytes / (1 << 20));
}
