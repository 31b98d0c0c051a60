import { statSync } from "node:fs";
import type { ResolvedSetting } from "./reading.ts";

/**
 * Returns the mistakes in the permissions of a file with a private key. Other users must not read it. A group may read
 * it, because web servers share certificates through a group.
 */
export function checkKeyIsClosed({
  value: file,
  label,
}: Pick<ResolvedSetting<string | null>, "value" | "label">): string[] {
  // Windows has no such modes, so Node returns invented ones there.
  if (file === null || process.platform === "win32") return [];
  const mode = readMode(file);
  return (mode & 0o007) === 0
    ? []
    : [`${label}: ${file} is open to everyone (mode 0${mode.toString(8)}). Close it with: chmod o= ${file}`];
}

/** Returns 0 if the mode cannot be read. The code that reads the file reports why. */
function readMode(file: string): number {
  try {
    return statSync(file).mode & 0o777;
  } catch {
    return 0;
  }
}
