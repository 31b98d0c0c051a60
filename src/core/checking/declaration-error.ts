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
    // A mistake may quote the declaration, which may contain a connection string in the wrong place.
    const mistakes = rawMistakes.map(sentenceWithoutCredentials);
    super(
      `The declaration cannot be served:\n${mistakes.map((each) => `- ${each}`).join("\n")}`,
      cause === undefined ? {} : { cause },
    );
    this.name = "DeclarationError";
    this.mistakes = mistakes;
  }
}
