import { fdatasyncSync, fstatSync, readdirSync, readSync } from "node:fs";
import { withFileOnly } from "./content.ts";
import { fileAt, formatFileKey } from "./place.ts";

/** The folders in which operating systems list the open file descriptors of the process. */
const folders: Partial<Record<NodeJS.Platform, string>> = { linux: "/proc/self/fd", darwin: "/dev/fd" };

/** Syncs a file that a connection of this process has open. Does nothing if its descriptor is unknown. */
export function syncFile(path: string): void {
  const descriptor = findDescriptor(path);
  if (descriptor !== null) fdatasyncSync(descriptor);
}

/** Reads the first bytes of a file. Returns null if its descriptor is unknown. */
export function startOfFile(path: string, bytes: number): Buffer | null {
  return withFileOnly(path, () => readOpenFile(path, 0, bytes));
}

/** Reads bytes of a file that a connection of this process has open. Returns null if its descriptor is unknown. */
export function readOpenFile(path: string, from: number, bytes: number): Buffer | null {
  const descriptor = findDescriptor(path);
  if (descriptor === null) return null;
  const buffer = Buffer.alloc(bytes);
  return buffer.subarray(0, readSync(descriptor, buffer, 0, bytes, from));
}

/** The last descriptor of each path. It is usually still valid. */
const lastDescriptors = new Map<string, number>();

/**
 * Returns the descriptor that SQLite itself uses for an open file. The caller must not close it: closing any descriptor
 * of the file releases the locks of the whole process (sqlite.org/howtocorrupt.html, 2.2). Returns null if it is
 * unknown.
 */
function findDescriptor(path: string): number | null {
  const key = fileAt(path);
  const last = lastDescriptors.get(path);
  if (last !== undefined && leadsTo(last, key)) return last;
  const folder = folders[process.platform];
  const found = folder === undefined ? undefined : descriptorsIn(folder).find((each) => leadsTo(each, key));
  if (found !== undefined) lastDescriptors.set(path, found);
  return found ?? null;
}

function descriptorsIn(folder: string): number[] {
  try {
    return readdirSync(folder).map(Number);
  } catch {
    return [];
  }
}

function leadsTo(descriptor: number, key: string | null): boolean {
  try {
    return formatFileKey(fstatSync(descriptor, { bigint: true })) === key;
  } catch {
    return false;
  }
}
