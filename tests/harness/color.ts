import { defineField, Flaw, type FieldOptions, type Kind } from "../../src/door/resources.ts";

// A kind of field of your own is one file: everything that filters, pages, documents and tests need to know of it.

const refused = new Flaw("invalid", "A color is required, like #ff8800.");
const parse = (value: unknown): string | Flaw => {
  const color = typeof value === "string" ? value.toLowerCase() : "";
  return /^#[0-9a-f]{6}$/.test(color) ? color : refused;
};

const kind: Kind<string> = {
  name: "color",
  parse,
  parseText: parse,
  schema: { type: "string", pattern: "^#[0-9A-Fa-f]{6}$", maxLength: 7, description: "A color, like #ff8800." },
  column: { type: "text" },
  spelled: true, // A filter for #FF8800 finds #ff8800, and one for "red" is refused.
  rule: {}, // A stored color is a color again, so migrations can check it.
  example: "#ff8800",
  tone: (color) => (color === "#ff0000" ? "bad" : null),
  draw: (random) => `#${random.whole(0, 0xff_ff_ff).toString(16).padStart(6, "0")}`,
};

/** Declares a color, like `#ff8800`. */
export const color = <const O extends FieldOptions<string>>(options: O) => defineField(kind, options);
