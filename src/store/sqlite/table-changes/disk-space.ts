import { statfsSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { StoreFull } from "../../store.ts";

/**
 * The space that a migration leaves free, in bytes. The log of the running service needs it: a log that cannot be
 * checkpointed grows with every write, and SQLite starts a checkpoint at 4 MiB.
 */
const reserve = 16 << 20;

/** Throws `StoreFull` if the next batch would take space that other writers need. */
export function requireSpace(database: DatabaseSync): void {
  const path = database.location();
  const free = path === null ? Infinity : freeAt(path);
  if (free >= reserve) return;
  throw new StoreFull(
    `SQLite: ${mebibytes(free)} MiB are free on the disk of ${path}. A migration leaves ${mebibytes(reserve)} MiB for other writes. Free space, and migrate again: the migration resumes.`,
  );
}

/** Throws `StoreFull` if there is no room for a copy of the file next to it. */
export function requireSpaceForCopy(path: string): void {
  const { size } = statSync(path);
  const free = freeAt(path);
  if (free >= size + reserve) return;
  throw new StoreFull(
    `SQLite: ${mebibytes(free)} MiB are free on the disk of ${path}, but its copy takes ${mebibytes(size)}, and ${mebibytes(reserve)} MiB are left for other writes. Free space, and try again.`,
  );
}

function freeAt(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

function mebibytes(bytes: number): number {
  return Math.floor(bytes / (1 << 20));
}
