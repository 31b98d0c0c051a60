import { isObject, oneOf, optional } from "../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../core/checking/options.ts";
import { made } from "../../core/copy.ts";
import { parseQuery } from "../../core/headers/query.ts";
import { problem } from "../../core/problem/problem.ts";
import { shownFields } from "../../resource/resource.ts";
import type { DataBody, Format } from "./format.ts";
import type { View } from "./view.ts";

/** Options of `csv()`. */
export interface CSVOptions {
  /**
   * `exact`: every text as it is, for programs alone. Left out, an apostrophe is put before a text that a spreadsheet would
   * calculate: whoever may choose a name could else have a formula run where the list is opened (CWE-1236).
   */
  readonly formulas?: "exact";
}

const checks: ChecksOf<CSVOptions> = { formulas: optional(oneOf("exact")) };

/** Lists as CSV (RFC 4180): a header line, then a line for each record. No value is an empty cell, an empty text is `""`. */
export function csv(options: CSVOptions = {}): Format {
  requireOptions(options, checks, { of: "csv" });
  const { formulas } = options;
  const cellOf = formulas === "exact" ? exactCell : safeCell;
  return made({
    mediaType: "text/csv",
    charset: "utf-8",
    problemMediaType: "application/problem+json",
    tagSuffix: "-csv",
    shows: "lists",
    write(body, view) {
      const records = body.value as readonly Readonly<Record<string, unknown>>[];
      const names = columnsOf(records, view);
      const lines = records.map((record) => lineOf(names.map((name) => cellOf(valueIn(record, name, body)))));
      return lineOf(names.map(exactCell)) + lines.join("");
    },
    writeProblem: (document) => JSON.stringify(document),
  });
}

/** As they are shown; where there is no record, as they were asked for or are declared. */
function columnsOf([first]: readonly object[], { place, call, sent }: View): readonly string[] {
  const asked = isObject(sent) ? sent : Object.fromEntries(parseQuery(call.query));
  if (asked["expand"] !== undefined)
    throw problem("not_acceptable", { detail: "CSV has no records within records. Leave expand out." });
  if (first !== undefined) return Object.keys(first);
  const resource = place?.resource ?? null;
  const wanted = asked["fields"] === undefined ? null : String(asked["fields"]).split(",");
  return resource === null ? [] : shownFields(resource).filter((name) => wanted?.includes(name) ?? true);
}

/** What may be any JSON value stands in its cell as JSON text. */
function valueIn(record: Readonly<Record<string, unknown>>, name: string, { jsonMembers = [] }: DataBody): unknown {
  const value = record[name];
  const isJSON = jsonMembers.includes(name) || (typeof value === "object" && value !== null);
  return isJSON && value !== null && value !== undefined ? JSON.stringify(value) : value;
}

const SPECIAL = /[",\r\n]/;

function exactCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = String(value);
  return text === "" || SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What spreadsheets begin a formula with, also in the full width of East Asia. */
const FORMULA = /^\s*[=+\-@\t\r＝＋－＠]/;
/** Such as `-12.50` and `+44 (0)20 7946 0958`: nothing that could run. */
const NUMERIC = /^[+-][\d\s.,()/-]*$/;

/** Where a comma is the decimal sign, spreadsheets begin a cell behind each of these, whatever quotes stand around them. */
const PART = /([;\t\r\n])([^;\t\r\n]*)/g;

function safeCell(value: unknown): string {
  if (typeof value !== "string") return exactCell(value);
  const begun = runs(value) ? `'${value}` : value;
  return exactCell(
    begun.replace(PART, (whole, mark: string, part: string) => (runs(part) ? `${mark}'${part}` : whole)),
  );
}

function runs(text: string): boolean {
  return FORMULA.test(text) && !NUMERIC.test(text.trim());
}

/** One line of CSV (RFC 4180), with every text as it is: no value is an empty cell, an empty text is `""`. */
export function formatCSVLine(values: readonly unknown[]): string {
  return lineOf(values.map(exactCell));
}

function lineOf(cells: readonly string[]): string {
  return `${cells.join(",")}\r\n`;
}
