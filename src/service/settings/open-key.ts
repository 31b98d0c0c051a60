import { statSync } from "node:fs";
import type { Reading } from "./reading.ts";

/** What is wrong with who may read a file with a private key, which is nobody else's. A group may: web servers share certificates that way. */
export function checkKeyIsClosed({ value: file, label }: Pick<Reading<string | null>, "value" | "label">): string[] {
  // Windows has no such modes, and Node makes some up.
  if (file === null || process.platform === "win32") return [];
  const mode = modeOf(file);
  return (mode & 0o007) === 0
    ? []
    : [`${label}: ${file} is open to everyone (mode 0${mode.toString(8)}). Close it with: chmod o= ${file}`];
}

/** Nobody's where it cannot be told: whoever reads the file says why. */
function modeOf(file: string): number {
  try {
    return statSync(file).mode & 0o777;
  } catch {
    return 0;
  }
}
