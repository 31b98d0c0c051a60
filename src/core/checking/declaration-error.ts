import { made } from "../copy.ts";

/** A declaration that cannot be served. It names every mistake and its cure. */
export class DeclarationError extends Error {
  static {
    made(this.prototype);
  }

  /** Each with its place and its cure. */
  readonly mistakes: readonly string[];

  /** `cause` is the fault that one of the mistakes tells of, with its stack. */
  constructor(told: readonly string[], { cause }: { readonly cause?: unknown } = {}) {
    const mistakes = told.map(withoutCredentials);
    super(
      `The declaration cannot be served:\n${mistakes.map((each) => `- ${each}`).join("\n")}`,
      cause === undefined ? {} : { cause },
    );
    this.name = "DeclarationError";
    this.mistakes = mistakes;
  }
}

/** A mistake may name what was declared, and that may be a connection string in the wrong place. */
function withoutCredentials(mistake: string): string {
  return mistake
    .replace(/([a-z][a-z0-9+.-]*:\/\/)\S*@/gi, "$1…@")
    .replace(/([a-z][a-z0-9+.-]*:\/\/[^\s?#]*)[?#][^\s"',;]*/gi, "$1…");
}
