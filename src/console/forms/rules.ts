import { readDeprecation, sayDeprecation } from "../../deprecation.ts";
import { isRequired, isWritable, type Field } from "../../resource/kinds/field.ts";

/** What a field takes, in words. A form says beside the name what may be left out. */
export function ruleOf(field: Field, where: "form" | "record" = "record"): string {
  const { kind, options } = field;
  return joined([
    kindRule(field),
    options.description,
    ...readDeprecation("field", options.deprecated).map(sayDeprecation),
    isWritable(field) ? "" : "Set by the service",
    // The first to say so are e-mails, whose description does.
    options.unique === undefined || options.unique === false || /unique/i.test(options.description ?? "")
      ? ""
      : "No two have the same",
    isWritable(field) && !isRequired(field) ? defaultRule(field, where) : "",
    kind.references === undefined ? "" : `The id of one of the ${kind.references.resource}`,
    kind.members === undefined ? "" : `Ids of the ${kind.members.resource}, as a JSON array`,
  ]);
}

/** What a value takes that is told by JSON Schema (2020-12). */
export function ruleOfSchema(schema: Readonly<Record<string, unknown>>): string {
  const { enum: values, minLength, maxLength, minimum, maximum, format, description } = schema;
  const [type] = [schema["type"] ?? "any"].flat().filter((each) => each !== "null");
  const rules: Readonly<Record<string, () => string>> = {
    string: () => (format === "date-time" ? TIME : typeof maxLength === "number" ? length(minLength, maxLength) : ""),
    integer: () => ranged("A whole number", minimum, maximum),
    number: () => ranged("A number", minimum, maximum),
    array: () => "A list, as JSON",
    boolean: () => "",
  };
  const rule = Array.isArray(values) ? listed(values.map(String)) : (rules[String(type)]?.() ?? "Any JSON value");
  return joined([rule, typeof description === "string" ? description : ""]);
}

const TIME = "A time, like 2026-01-31T09:30:00Z";

function joined(sentences: readonly (string | undefined)[]): string {
  return sentences.flatMap((each) => (each === undefined || each === "" ? [] : [each.replace(/\.$/, "")])).join(". ");
}

function defaultRule({ options: { default: fallback, description = "" } }: Field, where: "form" | "record"): string {
  // Its author says it better.
  if (/left out/.test(description)) return "";
  if (fallback === undefined) return where === "form" ? "" : "May be left out";
  return typeof fallback === "function"
    ? "The service fills it in where it is left out"
    : `At first ${String(fallback)}`;
}

function kindRule({ kind: { name, schema, column } }: Field): string {
  const { enum: values, minLength, maxLength, minimum, maximum } = schema;
  if (Array.isArray(values)) return listed(values.map(String));
  if (name === "reference" || name === "references") return "";
  if (column.type === "date-time") return TIME;
  if (column.type === "boolean") return "true or false";
  if (column.type === "integer") return ranged("A whole number", minimum, maximum);
  if (column.type === "decimal") return `A decimal number with at most ${column.scale ?? 0} digits after the point`;
  if (column.type === "json") return "Any JSON value";
  if (name === "e-mail") return "An e-mail address";
  return typeof maxLength === "number" ? length(minLength, maxLength) : "Text";
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
