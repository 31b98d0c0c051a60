import { isObject } from "../../core/checking/members.ts";
import type { Field, Random } from "../declaration/field.ts";

// Values are generated from the JSON Schema of a kind, unless the kind generates them itself. The kind may still refuse
// a value. The calling code then generates another one.

type KindSchema = Readonly<Record<string, unknown>>;

/** Returns a value that fits the schema of a field, in the form that a caller sends. Its kind may still refuse it. */
export function drawValue({ kind }: Field, random: Random): unknown {
  return kind.draw === undefined ? drawFrom(kind.schema, random) : kind.draw(random);
}

function drawFrom(schema: KindSchema, random: Random): unknown {
  const { enum: values, const: constant, anyOf, oneOf } = schema;
  if (constant !== undefined) return constant;
  if (Array.isArray(values) && values.length > 0) return random.pick<unknown>(values);
  const choices = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : [];
  const usable = (choices as readonly unknown[]).filter(isObject);
  if (usable.length > 0) return drawFrom(random.pick(usable), random);
  const { type } = schema;
  switch (Array.isArray(type) ? random.pick<unknown>(type) : type) {
    case "integer":
      return drawNumber(schema, random, 1);
    case "number":
      return drawNumber(schema, random, 100);
    case "boolean":
      return random.next() < 0.5;
    case "null":
      return null;
    case "array":
      return drawArray(schema, random);
    case "object":
      return drawObject(schema, random);
    case "string":
      return drawString(schema, random);
    default:
      return random.pick<unknown>([
        drawWords(random, 1, 20),
        random.whole(0, 99),
        { [random.pick(words)]: random.whole(0, 9) },
      ]);
  }
}

const words = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "harbour", "island", "juniper"] as const;

/**
 * Texts that every program must accept: accents, other scripts, and characters with a special meaning in HTML, URLs or
 * SQL.
 */
const rareWords = [
  "Łódź",
  "naïve",
  "東京",
  "Ελλάδα",
  "مرحبا",
  "🌲",
  "<b>",
  "O'Brien",
  '"quoted"',
  "50%",
  "a&b",
  "c\\d",
] as const;

function drawNumber(
  { minimum, maximum, exclusiveMinimum, exclusiveMaximum }: KindSchema,
  random: Random,
  parts: number,
): number {
  const least = numberOr(
    minimum,
    numberOr(exclusiveMinimum, -1000 / parts) + (exclusiveMinimum === undefined ? 0 : 1 / parts),
  );
  const most = numberOr(
    maximum,
    numberOr(exclusiveMaximum, least + 2000) - (exclusiveMaximum === undefined ? 0 : 1 / parts),
  );
  // Chooses the limits more often than other values, because most bugs are there.
  const at = random.next();
  if (at < 0.05) return least;
  if (at < 0.1) return most;
  const span = Math.min(most - least, random.pick([10, 1000, 1_000_000]));
  return Math.round((least + random.next() * span) * parts) / parts;
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

function drawArray({ items, minItems, maxItems }: KindSchema, random: Random): unknown[] {
  const least = numberOr(minItems, 0);
  const most = Math.min(numberOr(maxItems, least + 5), least + 5);
  const of = isObject(items) ? items : {};
  return Array.from({ length: random.whole(least, most) }, () => drawFrom(of, random));
}

function drawObject({ properties, required }: KindSchema, random: Random): Record<string, unknown> {
  const needed = new Set<unknown>(Array.isArray(required) ? required : []);
  const members = Object.entries(isObject(properties) ? properties : {});
  return Object.fromEntries(
    members
      .filter(([name]) => needed.has(name) || random.next() < 0.5)
      .map(([name, schema]) => [name, drawFrom(isObject(schema) ? schema : {}, random)]),
  );
}

function drawString({ format, minLength, maxLength }: KindSchema, random: Random): string {
  switch (format) {
    case "email":
      return `${random.pick(words)}.${drawLetters(random, 8)}@example.com`;
    case "uri":
      return `https://example.com/${random.pick(words)}/${drawLetters(random, 8)}`;
    case "uuid":
      return drawUUID(random);
    case "date":
      return drawInstant(random).slice(0, 10);
    case "date-time":
      return drawInstant(random);
    default:
      return drawWords(random, numberOr(minLength, 1), numberOr(maxLength, 10_000));
  }
}

/** Returns words of some length, in characters (Unicode code points), without white space at the ends. */
function drawWords(random: Random, minLength: number, maxLength: number): string {
  const most = Math.min(maxLength, Math.max(minLength, random.next() < 0.05 ? 200 : 40));
  const length = random.next() < 0.05 ? most : random.whole(minLength, most);
  if (length === 0) return "";
  const characters: string[] = [];
  while (characters.length < length) {
    if (characters.length > 0) characters.push(" ");
    const word =
      random.next() < 0.1 ? random.pick(rareWords) : random.next() < 0.7 ? random.pick(words) : drawLetters(random, 6);
    characters.push(...word);
  }
  const cut = characters.slice(0, length);
  if (cut.at(-1) === " ") cut[cut.length - 1] = "x";
  return cut.join("");
}

const letters = "abcdefghijklmnopqrstuvwxyz";

function drawLetters(random: Random, count: number): string {
  return Array.from({ length: count }, () => letters[random.whole(0, 25)]!).join("");
}

/** Returns a UUID of version 4 (RFC 9562). */
function drawUUID(random: Random): string {
  const digits = (count: number): string =>
    Array.from({ length: count }, () => random.whole(0, 15).toString(16)).join("");
  return `${digits(8)}-${digits(4)}-4${digits(3)}-${random.pick(["8", "9", "a", "b"])}${digits(3)}-${digits(12)}`;
}

function drawInstant(random: Random): string {
  const [from, to] = [Date.UTC(2000, 0, 1), Date.UTC(2040, 0, 1)];
  return new Date(random.whole(from, to)).toISOString();
}
