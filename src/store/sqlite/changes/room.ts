import { statfsSync, statSync } from "node:fs";
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
  const free = path === null ? Infinity : freeAt(path);
  if (free >= reserve) return;
  throw new StoreFull(
    `SQLite: ${mebibytes(free)} MiB are free where ${path} is. A migration leaves ${mebibytes(reserve)} MiB to those who write meanwhile. Make room, and migrate again: it goes on where it was.`,
  );
}

/** The same where a copy of a file is to be made beside it. */
export function requireRoomForCopy(path: string): void {
  const { size } = statSync(path);
  const free = freeAt(path);
  if (free >= size + reserve) return;
  throw new StoreFull(
    `SQLite: ${mebibytes(free)} MiB are free where ${path} is, and its copy takes ${mebibytes(size)}. ${mebibytes(reserve)} MiB are left to those who write meanwhile. Make room, and try again.`,
  );
}

function freeAt(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

function mebibytes(bytes: number): number {
  return Math.floor(bytes / (1 << 20));
}
