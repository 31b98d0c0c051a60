import type { Column, FoundExistingColumn } from "../../door/stores.ts";
import { textLiteral } from "./names.ts";

/** The kind of field that a column is declared as: its factory with its options, or the reason why there is none. */
export type Declared =
  | { readonly factory: string; readonly options: Readonly<Record<string, string>>; readonly first?: string }
  | { readonly why: string };

/** Returns the declaration of a column, by its type and its first rows. The calling code declares references. */
export function kindFor(column: FoundExistingColumn): Declared {
  const kind = kindOfType(column);
  if ("why" in kind || column.misfits?.has(columnTypes[kind.factory] ?? "text") !== true) return kind;
  return {
    why: `the table has values that are no ${valuesOf[kind.factory] ?? "texts"}, though the type is ${column.storage}`,
  };
}

const columnTypes: Readonly<Record<string, Column["type"]>> = {
  boolean: "boolean",
  date: "date",
  dateTime: "date-time",
  decimal: "decimal",
  integer: "integer",
  json: "json",
  number: "double",
};

const valuesOf: Readonly<Record<string, string>> = {
  boolean: "booleans (0 and 1)",
  date: "dates (2026-01-31)",
  dateTime: "date-times (2026-01-31 09:30:00)",
  decimal: "decimals of that scale",
  integer: "whole numbers",
  json: "JSON",
  number: "numbers",
};

function kindOfType(column: FoundExistingColumn): Declared {
  const words = column.words ?? wordsIn(column.checks ?? []);
  if (words !== null && words.length > 0)
    return { factory: "enumeration", options: {}, first: `[${words.map(textLiteral).join(", ")}]` };
  const { storage } = column;
  const type = storage.toLowerCase().replace(/\s*\([^)]*\)/, "");
  if (/^(bool|boolean)$/.test(type) || /^tinyint\s*\(1\)$/i.test(storage)) return { factory: "boolean", options: {} };
  if (
    /^(bigint|bigserial|int8|integer|int|mediumint|unsigned big int|int4|smallint|int2|tinyint|smallint unsigned|integer unsigned|bigint unsigned|bigint_unsigned)$/.test(
      type,
    )
  )
    return { factory: "integer", options: boundsFor(type) };
  if (/^(decimal|numeric)$/.test(type)) return decimalFor(storage);
  if (type === "date") return { factory: "date", options: {} };
  if (/^(datetime|timestamp|timestamp with(out)? time zone)$/.test(type)) return { factory: "dateTime", options: {} };
  if (/^jsonb?$/.test(type) || type.endsWith("[]")) return { factory: "json", options: {} };
  if (type === "uuid") return { factory: "uuid", options: {} };
  if (/char|text|clob/.test(type) || /^(citext|inet|cidr|macaddr|name|xml|interval)$/.test(type))
    return textFor(column);
  if (/real|floa|doub/.test(type)) return { factory: "number", options: {} };
  return { why: storage === "" ? "it has no type" : `no kind of field has the type ${storage}` };
}

/** Accepts any text, because existing values may be empty or end with spaces. */
function textFor({ maxLength }: FoundExistingColumn): Declared {
  const options = {
    minLength: "0",
    ...(maxLength === undefined ? {} : { maxLength: String(maxLength) }),
    trim: "false",
  };
  return { factory: "text", options };
}

function boundsFor(type: string): Readonly<Record<string, string>> {
  if (/^(smallint|int2)$/.test(type)) return { minimum: "-32_768", maximum: "32_767" };
  return /^int4$/.test(type) ? { minimum: "-2_147_483_648", maximum: "2_147_483_647" } : {};
}

/**
 * Returns the declaration of a decimal. In PostgreSQL, the scale may exceed the precision, `numeric(3,5)`, or be negative, `numeric(5,-2)`.
 */
function decimalFor(storage: string): Declared {
  const found = /\(\s*(\d+)\s*(?:,\s*(-?\d+)\s*)?\)/.exec(storage);
  if (found === null) return { why: `${storage} has no number of digits; write decimal({ scale: …, maximum: "…" })` };
  const [digits, decimals] = [Number(found[1]), Number(found[2] ?? 0)];
  const scale = Math.max(decimals, 0);
  const all = ("9".repeat(digits) + "0".repeat(scale - decimals)).padStart(scale + 1, "0");
  if (scale > 6 || all.length > 15)
    return {
      why: `${storage} has more digits than a decimal (15 digits, 6 of them after the point); write decimal({ scale: …, maximum: "…" })`,
    };
  const most = scale === 0 ? all : `${all.slice(0, -scale)}.${all.slice(-scale)}`;
  return {
    factory: "decimal",
    options: { scale: String(scale), minimum: textLiteral(`-${most}`), maximum: textLiteral(most) },
  };
}

/** Returns the words of a CHECK: `IN ('a', 'b')`, or its form in PostgreSQL. Returns null for any other CHECK. */
export function wordsIn(checks: readonly string[]): readonly string[] | null {
  for (const check of checks) {
    const list = /(?:\bIN\s*\(|= ANY \(\(?ARRAY\[)(.*?)(?:\)\s*$|\])/is.exec(check)?.[1];
    if (list === undefined) continue;
    const rest = list.replaceAll(/'(?:[^']|'')*'(?:::[a-z ]+)?|\s|,|\(|\)/gi, "");
    if (rest !== "") continue;
    return [...list.matchAll(/'((?:[^']|'')*)'/g)].map(([, word]) => word!.replaceAll("''", "'"));
  }
  return null;
}
