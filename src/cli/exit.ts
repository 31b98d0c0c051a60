import type { Issue } from "../door/http.ts";

/** How a command ends. */
export const exits = {
  done: 0,
  /** It was not done, or not all of it. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** `latchkey db migrate` has to be run. */
  due: 3,
  /** The settings are: EX_CONFIG of sysexits.h. */
  settings: 78,
} as const;

/** What an error says, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What was asked for could not be done. */
export class CommandFailed extends Error {
  /** For programs: the problem's code where the service refused. */
  readonly code: string;
  readonly issues: readonly Issue[];

  constructor(message: string, code = "failed", issues: readonly Issue[] = []) {
    super(message);
    this.name = "CommandFailed";
    this.code = code;
    this.issues = issues;
  }
}

/** The command line is wrong in a way that its parser cannot know. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
