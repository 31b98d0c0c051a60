import { createHash } from "node:crypto";
import { existsSync, readFileSync, watch, type FSWatcher } from "node:fs";
import path from "node:path";

/**
 * The time without further changes after which files are checked, in milliseconds. An editor writes a file in several
 * steps, and a change of the Git branch writes many files.
 */
const QUIET_MS = 40;

/** Watches files, including missing ones. */
export interface FileWatch {
  add(file: string): void;
  close(): void;
}

/**
 * Calls `changed` with the files whose content has changed. Watches directories instead of files, because editors
 * replace files. If a directory is missing, watches its nearest existing parent.
 */
export function watchFiles(changed: (files: readonly string[]) => void): FileWatch {
  const contents = new Map<string, string | null>();
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | null = null;

  const look = (): void => {
    timer = null;
    const others = [...contents].filter(([file, before]) => readDigest(file) !== before).map(([file]) => file);
    for (const file of others) {
      contents.set(file, readDigest(file));
      watchDirectory(nearestDirectory(file));
    }
    if (others.length > 0) changed(others);
  };
  const lookSoon = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(look, QUIET_MS);
  };
  const concerns = (changed: string): boolean =>
    [...contents.keys()].some((file) => file === changed || file.startsWith(changed + path.sep));
  const forget = (directory: string): void => {
    watchers.get(directory)?.close();
    watchers.delete(directory);
  };
  const watchDirectory = (directory: string): void => {
    if (watchers.has(directory)) return;
    const watcher = watch(directory, (_, name) => {
      // Ignores other files in the directory. For example, a database writes its files all the time.
      if (name === null || concerns(path.join(directory, name))) lookSoon();
    });
    // The directory was removed. `look` then watches the nearest existing parent of its files.
    watcher.on("error", () => {
      forget(directory);
      lookSoon();
    });
    watchers.set(directory, watcher);
  };
  return {
    add(file) {
      if (contents.has(file)) return;
      contents.set(file, readDigest(file));
      watchDirectory(nearestDirectory(file));
    },
    close() {
      if (timer !== null) clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}

function nearestDirectory(file: string): string {
  let directory = path.dirname(file);
  while (!existsSync(directory) && directory !== path.dirname(directory)) directory = path.dirname(directory);
  return directory;
}

/** Returns the digest of a file. Returns null if there is no such file. */
function readDigest(file: string): string | null {
  try {
    return createHash("sha1").update(readFileSync(file)).digest("base64");
  } catch {
    return null;
  }
}
