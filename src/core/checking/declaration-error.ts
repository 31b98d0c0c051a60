import { made } from "../copy.ts";
import { sentenceWithoutCredentials } from "./urls.ts";

/** A declaration that cannot be served. It names every mistake and its fix. */
export class DeclarationError extends Error {
  static {
    made(this.prototype);
  }

  /** The mistakes, each with its location and its fix. */
  readonly mistakes: readonly string[];

  /** `cause` is the error that one of the mistakes describes, with its stack. */
  constructor(rawMistakes: readonly string[], { cause }: { readonly cause?: unknown } = {}) {
    // A mistake may quote the declaration. If a connection string is in the wrong place there, its password must not be
    // shown.
    const mistakes = rawMistakes.map(sentenceWithoutCredentials);
    super(
      `The declaration cannot be served:\n${mistakes.map((each) => `- ${each}`).join("\n")}`,
      cause === undefined ? {} : { cause },
    );
    this.name = "DeclarationError";
    this.mistakes = mistakes;
  }
}
