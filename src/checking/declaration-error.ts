/** A declaration that cannot be served. It names every mistake and its cure. */
export class DeclarationError extends Error {
  /** Each with its place and its cure. */
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(`The declaration cannot be served:\n${mistakes.map((each) => `- ${each}`).join("\n")}`);
    this.name = "DeclarationError";
    this.mistakes = mistakes;
  }
}
