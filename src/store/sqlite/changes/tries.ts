import { readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** How the name of a folder begins in which a copy of a file is migrated: beside it, where there is room for it. */
export function beginningOf(path: string): string {
  return `${path}.try-`;
}

/** Removes what dry runs have left that were killed. Whoever calls has the turn to migrate, and so no other runs. */
export function removeTries(path: string): void {
  const beginning = basename(beginningOf(path));
  for (const name of readdirSync(dirname(path)))
    if (name.startsWith(beginning) && /^[A-Za-z0-9]{6}$/.test(name.slice(beginning.length)))
      rmSync(join(dirname(path), name), { recursive: true, force: true });
}
