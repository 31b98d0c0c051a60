import type { DeclaredPermissions } from "./permissions-of.ts";

/** The name of the file, beside the config file. */
export const LOCK_FILE = "permissions.lock";

/** The command that writes the file. */
export const LOCK_COMMAND = "latchkey prove --lock";

const HEAD = `# Who may do what. Made from the declarations: ${LOCK_COMMAND}`;

/** Formats the file: a sentence in each line, and an empty line between resources. */
export function formatLock({ sections }: Pick<DeclaredPermissions, "sections">): string {
  return `${[[HEAD], ...sections].map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

/** Returns the sentences of a file. */
export function parseLock(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
}
