import { Flaw, type Kind } from "../declaration/field.ts";

/** The length of the longest key that fits into a URL. */
const MAX_LENGTH = 500;

const flaw = new Flaw("invalid", `A text of 1 to ${MAX_LENGTH} characters is required.`);

function parse(value: unknown): string | Flaw {
  const isText = typeof value === "string" && value !== "" && value.length <= MAX_LENGTH && value.isWellFormed();
  // Text of PostgreSQL cannot contain NUL.
  return isText && !value.includes("\0") ? value : flaw;
}

/** Reads and stores text keys of existing tables unchanged. */
export const keyKind: Kind<string> = {
  name: "key",
  parse,
  parseText: parse,
  schema: { type: "string", minLength: 1, maxLength: MAX_LENGTH },
  column: { type: "text" },
};
