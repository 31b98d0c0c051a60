import { type Dirent, readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/**
 * The name of the copy in its folder. The names of the files that SQLite creates next to the copy start with this name.
 */
const copy = "copy.db";

/**
 * Returns the start of the name of a folder for the copy of a file. The folder is next to the file, because that disk
 * has room for the copy.
 */
export function formatCopyPrefix(path: string): string {
  return `${path}.try-`;
}

/** Returns the path of the copy in such a folder. */
export function copyIn(folder: string): string {
  return join(folder, copy);
}

/**
 * Deletes the remains of dry runs that were killed. The caller holds the migration lock, so no other dry run is
 * running.
 */
export function removeDryRuns(path: string): void {
  for (const each of readdirSync(dirname(path), { withFileTypes: true })) {
    try {
      if (isTry(each, basename(formatCopyPrefix(path)))) rmSync(join(each.parentPath, each.name), { recursive: true });
    } catch {
      // The folder belongs to another user. It only takes space.
    }
  }
}

/**
 * Returns true if a folder is from a dry run: it contains a copy and nothing else. A folder of another program may have
 * a similar name.
 */
function isTry(entry: Dirent, beginning: string): boolean {
  const { name, parentPath } = entry;
  const isNamed = name.startsWith(beginning) && /^[A-Za-z0-9]{6}$/.test(name.slice(beginning.length));
  return isNamed && entry.isDirectory() && readdirSync(join(parentPath, name)).every((each) => each.startsWith(copy));
}
