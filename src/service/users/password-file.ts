import { randomBytes } from "node:crypto";
import { lstatSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ConfigError, readErrorCode } from "../settings/error.ts";
import type { Settings } from "../settings/settings.ts";

/** A password in a draft file next to the final file. The final file does not change before the call of `keep`. */
export interface PasswordDraft {
  /**
   * Moves the draft to the final file and replaces an existing one. Returns its path, or the path of the draft if the
   * move fails.
   */
  keep(): string;
  drop(): void;
}

/** Returns the file with the first administrator's password for the operator. */
export function resolvePasswordFile({ database }: Pick<Settings, "database">): string {
  const isFile = database.kind === "sqlite" && database.path !== ":memory:";
  return path.resolve(isFile ? path.dirname(database.path) : ".", "latchkey.password");
}

/**
 * Writes the draft, so that an account never gets a password that cannot be read. Throws `ConfigError` if it cannot be
 * written.
 */
export function draftPasswordFile(file: string, password: string): PasswordDraft {
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  try {
    if (lstatSync(file, { throwIfNoEntry: false })?.isDirectory() === true) throw cannotBeMade(file, "EISDIR");
    writeFileSync(draft, `${password}\n`, { flag: "wx", mode: 0o600, flush: true });
  } catch (error) {
    rmSync(draft, { force: true });
    throw error instanceof ConfigError ? error : cannotBeMade(file, readErrorCode(error));
  }
  return {
    keep() {
      try {
        // If the path is a symbolic link, this replaces the link and not the file that it points to.
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
  const cure = code === "ENOSPC" ? "Free space on its disk" : "Give this process permission to write it";
  return new ConfigError([
    `${file}, for the first administrator's password, cannot be created (${code}). ${cure}, set LATCHKEY_ADMIN_PASSWORD, or start on a terminal.`,
  ]);
}
