import { made } from "../copy.ts";
import { sentenceWithoutCredentials } from "./urls.ts";

/** A declaration that cannot be served. It names every mistake and its cure. */
export class DeclarationError extends Error {
  static {
    made(this.prototype);
  }

  /** Each with its place and its cure. */
  readonly mistakes: readonly string[];

  /** `cause` is the fault that one of the mistakes tells of, with its stack. */
  constructor(told: readonly string[], { cause }: { readonly cause?: unknown } = {}) {
    // A mistake may name what was declared, and that may be a connection string in the wrong place.
    const mistakes = told.map(sentenceWithoutCredentials);
    super(
      `The declaration cannot be served:\n${mistakes.map((each) => `- ${each}`).join("\n")}`,
      cause === undefined ? {} : { cause },
    );
    this.name = "DeclarationError";
    this.mistakes = mistakes;
  }
}
