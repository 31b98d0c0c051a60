import { SigningKeysError } from "../door/auth.ts";
import type { Issue } from "../door/http.ts";
import { DeclarationError } from "../door/resources.ts";
import { MigrationNeeded, StoreSetupError } from "../door/stores.ts";
import { ConfigError } from "../service/settings/error.ts";
import { missingConfigHint } from "./missing-config.ts";
import { CommandFailed, exits, describeError, UsageError, createPainter, printError } from "./output.ts";

/** Returns true if the settings are wrong, or if they do not fit the database or the key file. */
export function isAboutSettings(
  error: unknown,
): error is ConfigError | SigningKeysError | MigrationNeeded | StoreSetupError {
  const kinds = [ConfigError, SigningKeysError, MigrationNeeded, StoreSetupError];
  return kinds.some((kind) => error instanceof kind);
}

/** Writes an error to standard error. Returns the exit code. */
export function printFailure(error: unknown, asJSON: boolean): number {
  const { code, detail, issues, exit } = readFailure(error);
  if (asJSON) {
    const errors = issues.length === 0 ? {} : { errors: issues };
    printError(`${JSON.stringify({ error: { code, detail, ...errors } })}\n`);
  } else {
    const paint = createPainter(process.stderr);
    printError([paint("red", detail), ...issues.map(writeIssue), ""].join("\n"));
  }
  return exit;
}

function readFailure(error: unknown): { code: string; detail: string; issues: readonly Issue[]; exit: number } {
  if (isAboutSettings(error))
    return { code: "settings", detail: error.problems.join("\n"), issues: [], exit: exits.settings };
  if (error instanceof DeclarationError) {
    const hint = missingConfigHint();
    const detail = [...error.mistakes, ...(hint === null ? [] : [hint])].join("\n");
    return { code: "settings", detail, issues: [], exit: exits.settings };
  }
  if (error instanceof UsageError) return { code: "usage", detail: error.message, issues: [], exit: exits.usage };
  if (error instanceof CommandFailed)
    return { code: error.code, detail: error.message, issues: error.issues, exit: exits.failed };
  return { code: "failed", detail: describeError(error), issues: [], exit: exits.failed };
}

function writeIssue({ pointer, detail }: Issue): string {
  return `- ${pointer.replace(/^\//, "") || "the whole"}: ${detail}`;
}
