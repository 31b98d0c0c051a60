import { isRequired, isWritable, type Field } from "../resource/kinds/field.ts";

/** What a field takes, in words. */
export function ruleOf(field: Field): string {
  const { kind, options } = field;
  const sentences = [
    kindRule(field),
    ...(options.description === undefined ? [] : [options.description.replace(/\.$/, "")]),
    ...(isWritable(field) ? [] : ["Set by the service"]),
    ...(options.unique === undefined || options.unique === false ? [] : ["No two have the same"]),
    ...(isWritable(field) && !isRequired(field) ? [defaultRule(field)] : []),
    ...(kind.references === undefined ? [] : [`The id of one of the ${kind.references.resource}`]),
  ];
  return sentences.filter((each) => each !== "").join(". ");
}

function defaultRule({ options: { default: fallback } }: Field): string {
  if (fallback === undefined) return "May be left out";
  return typeof fallback === "function" ? "May be left out: the service fills it in" : `At first ${String(fallback)}`;
}

function kindRule({ kind: { name, schema, column } }: Field): string {
  const { enum: values, minLength, maxLength, minimum, maximum } = schema;
  if (Array.isArray(values)) return listed(values.map(String));
  if (name === "reference") return "";
  if (column.type === "date-time") return "A time, like 2026-01-31T09:30:00Z";
  if (column.type === "boolean") return "true or false";
  if (column.type === "integer") return ranged("A whole number", minimum, maximum);
  if (column.type === "decimal") return `A decimal number with at most ${column.scale ?? 0} digits after the point`;
  if (column.type === "json") return "Any JSON value";
  if (name === "e-mail") return "An e-mail address";
  return typeof maxLength === "number" ? `${Number(minLength ?? 0)} to ${counted(maxLength)} characters` : "Text";
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
