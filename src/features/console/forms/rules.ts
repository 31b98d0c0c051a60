import { isObject } from "../../../core/checking/members.ts";
import { readDeprecation, sayDeprecation } from "../../../core/deprecation.ts";
import { isRequired, isWritable, type Field } from "../../../resource/declaration/field.ts";
import { parseCheckboxField } from "./checkboxes.ts";

/**
 * Returns the rule of a field in words. The rule in a form does not say that the field is optional, because the form
 * shows that next to the name.
 */
export function describeRule(field: Field, where: "form" | "record" = "record"): string {
  const { kind, options } = field;
  return joined([
    kindRule(field, where),
    options.description,
    ...readDeprecation("field", options.deprecated).map(sayDeprecation),
    isWritable(field) ? "" : "Set by the service",
    // The description of a field, for example of `email`, may already say this.
    options.unique === undefined || options.unique === false || /unique/i.test(options.description ?? "")
      ? ""
      : "No two records have the same value",
    isWritable(field) && !isRequired(field) ? defaultRule(field, where) : "",
    kind.references === undefined ? "" : `The id of one of the ${kind.references.resource}`,
    kind.members === undefined ? "" : `Ids of the ${kind.members.resource}`,
  ]);
}

/** Returns the rule for a value with a JSON Schema (2020-12). */
export function ruleOfSchema(schema: RuleSchema): string {
  const { description } = schema;
  return joined([
    parseCheckboxField(schema) === null ? describeShape(schema) : describeSelection(schema),
    typeof description === "string" ? description : "",
  ]);
}

type RuleSchema = Readonly<Record<string, unknown>>;

function describeShape(schema: RuleSchema): string {
  const { enum: values, type: types, minimum, maximum } = schema;
  if (Array.isArray(values)) return listed(values.map(String));
  const [type] = [types ?? "any"].flat().filter((each) => each !== "null");
  switch (type) {
    case "string":
      return textShape(schema);
    case "integer":
      return ranged("A whole number", minimum, maximum);
    case "number":
      return ranged("A number", minimum, maximum);
    case "boolean":
      return "true or false";
    case "array":
      return arrayShape(schema);
    default:
      return "Any JSON value";
  }
}

const formats: Readonly<Record<string, string>> = {
  "date-time": "A time, like 2026-01-31T09:30:00Z",
  date: "A date, like 2026-01-31",
  uri: "A web address, like https://example.org/",
  uuid: "A UUID, like 01890a5d-ac96-774b-bcce-b302099a8057",
  email: "An e-mail address",
};

function textShape({ format, minLength, maxLength }: RuleSchema): string {
  const phrase = formats[String(format)];
  if (typeof maxLength !== "number" || format === "email") return phrase ?? "Text";
  return phrase === undefined ? length(minLength, maxLength) : `${phrase}. At most ${counted(maxLength)} characters`;
}

function arrayShape({ items, minItems, maxItems }: RuleSchema): string {
  const each = isObject(items) ? `, each: ${describeShape(items)}` : "";
  if (typeof maxItems !== "number") return `A JSON array${each}`;
  return `A JSON array of ${counted(Number(minItems ?? 0))} to ${counted(maxItems)} values${each}`;
}

/** Returns the rule for an array with checkboxes. */
function describeSelection({ minItems, maxItems }: RuleSchema): string {
  if (typeof maxItems !== "number") return Number(minItems ?? 0) === 0 ? "" : `At least ${Number(minItems)} of them`;
  return `${counted(Number(minItems ?? 0))} to ${counted(maxItems)} of them`;
}

function joined(sentences: readonly (string | undefined)[]): string {
  return sentences.flatMap((each) => (each === undefined || each === "" ? [] : [each.replace(/\.$/, "")])).join(". ");
}

function defaultRule({ options: { default: fallback, description = "" } }: Field, where: "form" | "record"): string {
  // The description of the field already says this.
  if (/left out/.test(description)) return "";
  if (fallback === undefined) return where === "form" ? "" : "May be left out";
  return typeof fallback === "function"
    ? "The service fills it in if it is left out"
    : `Default: ${typeof fallback === "object" || fallback === "" ? JSON.stringify(fallback) : String(fallback)}`;
}

function kindRule({ kind }: Field, where: "form" | "record"): string {
  const { schema, column } = kind;
  if (where === "form" && parseCheckboxField(schema) !== null) return describeSelection(schema);
  if (kind.references !== undefined || kind.members !== undefined) return "";
  if (typeof schema["description"] === "string") return schema["description"];
  if (column.type === "decimal") return `A decimal number with at most ${column.scale ?? 0} digits after the point`;
  return describeShape(schema);
}

function length(least: unknown, most: number): string {
  return `${Number(least ?? 0)} to ${counted(most)} characters`;
}

function ranged(what: string, least: unknown, most: unknown): string {
  const isMost = typeof most === "number" && most < Number.MAX_SAFE_INTEGER;
  const isLeast = typeof least === "number" && least > Number.MIN_SAFE_INTEGER;
  if (isLeast && isMost) return `${what} from ${counted(least)} to ${counted(most)}`;
  if (isLeast) return `${what} of at least ${counted(least)}`;
  return isMost ? `${what} of at most ${counted(most)}` : what;
}

function counted(count: number): string {
  return count.toLocaleString("en");
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)!}`;
}
