import type { Issue } from "../door/http.ts";

/** The exit codes of commands. */
export const exits = {
  done: 0,
  /** The command failed, completely or partly. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** The tables need a migration with `latchkey db migrate`. */
  due: 3,
  /** The settings are wrong. The number is EX_CONFIG of sysexits.h. */
  settings: 78,
} as const;

/** Returns the message of any thrown value. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Thrown if a command fails. */
export class CommandFailed extends Error {
  /** The error code in the JSON output. If the service refused the request, this is the code of its problem. */
  readonly code: string;
  readonly issues: readonly Issue[];

  constructor(message: string, code = "failed", issues: readonly Issue[] = []) {
    super(message);
    this.name = "CommandFailed";
    this.code = code;
    this.issues = issues;
  }
}

/** Thrown for a mistake in the command line that the parser does not detect. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
