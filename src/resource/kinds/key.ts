import { Flaw, type Kind } from "./field.ts";

/** The longest key that goes into an address. */
const MAX_LENGTH = 500;

const flaw = new Flaw("invalid", `A text of 1 to ${MAX_LENGTH} characters is required.`);

function parse(value: unknown): string | Flaw {
  const isText = typeof value === "string" && value !== "" && value.length <= MAX_LENGTH && value.isWellFormed();
  // No text of PostgreSQL has a NUL.
  return isText && !value.includes("\0") ? value : flaw;
}

/** How keys of other people's tables are read and kept where they are texts: as they are. */
export const keyKind: Kind<string> = {
  name: "key",
  parse,
  parseText: parse,
  schema: { type: "string", minLength: 1, maxLength: MAX_LENGTH },
  column: { type: "text" },
};
