import { randomBytes } from "node:crypto";
import { lstatSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ConfigError, codeOf } from "../settings/error.ts";
import type { Settings } from "../settings/settings.ts";

/** A password that stands in a file beside the one it is meant for, which is as it was. */
export interface PasswordDraft {
  /** Puts it in its place, whatever stood there; gives the file that has it now. */
  keep(): string;
  drop(): void;
}

/** Where the first administrator's password is left for whoever runs the service. */
export function passwordFileOf({ database }: Pick<Settings, "database">): string {
  const isFile = database.kind === "sqlite" && database.path !== ":memory:";
  return path.resolve(isFile ? path.dirname(database.path) : ".", "latchkey.password");
}

/** Writes the draft, so that a password is never given to an account before it can be read somewhere. Throws `ConfigError` where nobody could. */
export function draftPasswordFile(file: string, password: string): PasswordDraft {
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  try {
    if (lstatSync(file, { throwIfNoEntry: false })?.isDirectory() === true) throw cannotBeMade(file, "EISDIR");
    writeFileSync(draft, `${password}\n`, { flag: "wx", mode: 0o600, flush: true });
  } catch (error) {
    rmSync(draft, { force: true });
    throw error instanceof ConfigError ? error : cannotBeMade(file, codeOf(error));
  }
  return {
    keep() {
      try {
        // A link is replaced itself, and what it leads to stays as it is.
        renameSync(draft, file);
        return file;
      } catch {
        return draft;
      }
    },
    drop: () => rmSync(draft, { force: true }),
  };
}

function cannotBeMade(file: string, code: string): ConfigError {
  const cure = code === "ENOSPC" ? "Make room on its disk" : "Let the user of this process write it";
  return new ConfigError([
    `${file}, for the first administrator's password, cannot be made (${code}). ${cure}, give LATCHKEY_ADMIN_PASSWORD, or start on a terminal.`,
  ]);
}
