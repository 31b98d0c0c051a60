import { type Dirent, readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** The copy within its folder; what SQLite keeps beside it begins like it. */
const copy = "copy.db";

/** How the name of a folder begins in which a copy of a file is migrated: beside it, where there is room for it. */
export function beginningOf(path: string): string {
  return `${path}.try-`;
}

/** The copy that is migrated in such a folder. */
export function copyIn(folder: string): string {
  return join(folder, copy);
}

/** Removes what dry runs have left that were killed. Whoever calls has the turn to migrate, and so no other runs. */
export function removeTries(path: string): void {
  for (const each of readdirSync(dirname(path), { withFileTypes: true })) {
    try {
      if (isTry(each, basename(beginningOf(path)))) rmSync(join(each.parentPath, each.name), { recursive: true });
    } catch {
      // Somebody else's: it is in the way of nothing but room.
    }
  }
}

/** Anybody may keep a file under such a name; a folder with a copy and nothing else is ours. */
function isTry(entry: Dirent, beginning: string): boolean {
  const { name, parentPath } = entry;
  const isNamed = name.startsWith(beginning) && /^[A-Za-z0-9]{6}$/.test(name.slice(beginning.length));
  return isNamed && entry.isDirectory() && readdirSync(join(parentPath, name)).every((each) => each.startsWith(copy));
}
