import { isObject, buildChoiceCheck, optional } from "../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../core/checking/options.ts";
import { made } from "../../core/copy.ts";
import { parseQuery } from "../../core/headers/query.ts";
import { problem } from "../../core/problem/problem.ts";
import { shownFields } from "../../resource/resource.ts";
import type { DataBody, Format } from "../request/format.ts";
import type { View } from "../request/view.ts";

/** Options of `csv()`. */
export interface CSVOptions {
  /**
   * `exact`: every text is written unchanged, for programs only. Default: a text that a spreadsheet would run as a
   * formula gets an apostrophe. Otherwise a user could choose a name that runs a formula on the computer of the person
   * who opens the list (CWE-1236).
   */
  readonly formulas?: "exact";
}

const checks: ChecksOf<CSVOptions> = { formulas: optional(buildChoiceCheck("exact")) };

/**
 * Writes lists as CSV (RFC 4180): a header line, then a line for each record. A missing value is an empty cell, an
 * empty text is `""`.
 */
export function csv(options: CSVOptions = {}): Format {
  requireOptions(options, checks, { of: "csv" });
  const { formulas } = options;
  const formatCell = formulas === "exact" ? exactCell : safeCell;
  return made({
    mediaType: "text/csv",
    charset: "utf-8",
    problemMediaType: "application/problem+json",
    tagSuffix: "-csv",
    shows: "lists",
    write(body, view) {
      const records = body.value as readonly Readonly<Record<string, unknown>>[];
      const names = chooseColumns(records, view);
      const lines = records.map((record) => formatLine(names.map((name) => formatCell(valueIn(record, name, body)))));
      return formatLine(names.map(exactCell)) + lines.join("");
    },
    writeProblem: (document) => JSON.stringify(document),
  });
}

/** Returns the columns of the first record. If there are no records, returns the requested or the declared fields. */
function chooseColumns([first]: readonly object[], { place, call, sent }: View): readonly string[] {
  const parameters = isObject(sent) ? sent : Object.fromEntries(parseQuery(call.query));
  if (parameters["expand"] !== undefined)
    throw problem("not_acceptable", { detail: "CSV cannot contain expanded records. Leave expand out." });
  if (first !== undefined) return Object.keys(first);
  const resource = place?.resource ?? null;
  const wanted = parameters["fields"] === undefined ? null : String(parameters["fields"]).split(",");
  return resource === null ? [] : shownFields(resource).filter((name) => wanted?.includes(name) ?? true);
}

/** Returns the value of a cell. A list, an object and every value of a JSON field are written as JSON text. */
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

/** The first characters of a formula in spreadsheets, including the full-width forms of East Asia. */
const FORMULA = /^\s*[=+\-@\t\r＝＋－＠]/;
/** Matches harmless numbers, such as `-12.50` and `+44 (0)20 7946 0958`. */
const NUMERIC = /^[+-][\d\s.,()/-]*$/;

/**
 * If the comma is the decimal sign, spreadsheets start a new cell after each of these characters, even within quotes.
 */
const PART = /([;\t\r\n])([^;\t\r\n]*)/g;

function safeCell(value: unknown): string {
  if (typeof value !== "string") return exactCell(value);
  const begun = isFormula(value) ? `'${value}` : value;
  return exactCell(
    begun.replace(PART, (whole, mark: string, part: string) => (isFormula(part) ? `${mark}'${part}` : whole)),
  );
}

function isFormula(text: string): boolean {
  return FORMULA.test(text) && !NUMERIC.test(text.trim());
}

/**
 * Formats one line of CSV (RFC 4180), with every text unchanged. A missing value is an empty cell, an empty text is
 * `""`.
 */
export function formatCSVLine(values: readonly unknown[]): string {
  return formatLine(values.map(exactCell));
}

function formatLine(cells: readonly string[]): string {
  return `${cells.join(",")}\r\n`;
}
