import { parse } from "csv-parse/sync";
import { importedColumns } from "../../service/records/imported-user.ts";
import { CommandFailed } from "../output.ts";

/** A row of a CSV file, or the mistakes in it. */
export type CSVLine =
  | { readonly line: number; readonly record: Readonly<Record<string, string | null>> }
  | { readonly line: number; readonly reasons: readonly string[] };

/** The rules for the columns that a header may name and for the content of their cells. */
export interface CSVRules {
  /** Reads the header. Throws `CommandFailed` if it is invalid. */
  readColumns(cells: readonly string[]): readonly string[];
  /**
   * Returns true if values of this column have no line breaks. If such a value has one, its closing quote is missing.
   */
  isOneLine(column: string): boolean;
  /**
   * True if an empty cell means no value and a cell with `""` means an empty text. If false, both mean an empty text.
   */
  readonly marksNull: boolean;
}

interface Row {
  readonly cells: readonly (string | null)[];
  /** The number of lines that the row takes in the file. A quoted value may have line breaks. */
  readonly height: number;
}

/**
 * The maximum number of lines of a row with quoted values. If a row has more lines, its closing quote is assumed to be
 * missing. The number is the default maximum length of a text, because a text cannot have more lines than characters.
 */
const MAX_HEIGHT = 10_000;

/**
 * Reads CSV (RFC 4180) with a header row, separated by commas, semicolons or tabs. If a quote has no end, only its line
 * is refused and not the rest of the file. A line break in a column that allows only one line shows that the closing
 * quote is missing. The lines are then read separately.
 */
export async function* readCSV(source: AsyncIterable<string>, rules: CSVRules): AsyncGenerator<CSVLine> {
  const lines = lookAhead(source);
  const [head] = await lines.peek(1);
  if (head === undefined) throw new CommandFailed("The file is empty. Its first line names the columns.");
  const delimiter = guessDelimiter(head);
  if (head.includes("\r"))
    throw new CommandFailed(
      "The lines end with carriage returns alone, as old Macs wrote them. Save the file with line feeds, or run: tr '\\r' '\\n' < FILE > NEW",
    );
  const columns = rules.readColumns((parseRow(head, delimiter, false) ?? []).map((cell) => cell ?? ""));
  lines.drop(1);
  for (let line = 2; ;) {
    const [first] = await lines.peek(1);
    if (first === undefined) return;
    const row = first.trim() === "" ? { cells: [], height: 1 } : await readRow(lines, columns, delimiter, rules);
    if ("reason" in row) yield { line, reasons: [row.reason] };
    else if (row.cells.length > 0)
      yield { line, record: Object.fromEntries(columns.map((column, at) => [column, row.cells[at]!])) };
    const height = "height" in row ? row.height : 1;
    lines.drop(height);
    line += height;
  }
}

/** Reads the row that starts at the first of these lines. */
async function readRow(
  lines: ReturnType<typeof lookAhead>,
  columns: readonly string[],
  delimiter: string,
  rules: CSVRules,
): Promise<Row | { readonly reason: string }> {
  for (let height = 1, quotes = 0; height <= MAX_HEIGHT; height++) {
    const ahead = await lines.peek(height);
    if (ahead.length < height) break;
    quotes += ahead[height - 1]!.split('"').length - 1;
    if (quotes % 2 === 1) continue;
    const cells = parseRow(ahead.slice(0, height).join("\n"), delimiter, rules.marksNull);
    if (cells === null || (height > 1 && hasBreak(cells, columns, rules))) break;
    if (cells.length === columns.length) return { cells, height };
    return { reason: `It has ${cells.length} values, but the header has ${columns.length}.` };
  }
  return { reason: "Its quotes do not match." };
}

/**
 * Returns true if a quote must be missing: a value of a one-line column has a line break, or the row and the header
 * differ in their number of values.
 */
function hasBreak(cells: Row["cells"], columns: readonly string[], { isOneLine }: CSVRules): boolean {
  return (
    cells.length !== columns.length ||
    cells.some((cell, at) => cell !== null && cell.includes("\n") && isOneLine(columns[at]!))
  );
}

function parseRow(text: string, delimiter: string, marksNull: boolean): (string | null)[] | null {
  const nothing = marksNull ? null : "";
  // Most rows have no quotes and need no CSV parser. A parser for each row would take longer than all other work.
  if (!text.includes('"')) return text.split(delimiter).map((cell) => (cell === "" ? nothing : cell));
  try {
    const cast = (cell: string, { quoting }: { readonly quoting: boolean }): string | null =>
      cell === "" && !quoting ? nothing : cell;
    // Without `record_delimiter`, a carriage return would end the row, and the text after it would be lost.
    const options = { delimiter, record_delimiter: "\n", relax_column_count: true, cast };
    return (parse(text, options) as (string | null)[][])[0] ?? null;
  } catch {
    return null;
  }
}

/** Returns the delimiter that occurs most often in the header. */
function guessDelimiter(head: string): string {
  const counts = [",", ";", "\t"].map((delimiter) => ({ delimiter, count: head.split(delimiter).length }));
  return counts.reduce((most, each) => (each.count > most.count ? each : most)).delimiter;
}

/** The rules for users. Other columns than those of users are ignored. */
export const usersCSV: CSVRules = {
  readColumns(cells) {
    const columns = cells.map((cell) => cell.trim().toLowerCase().replaceAll(/[ -]+/g, "_"));
    if (!columns.includes("email"))
      throw new CommandFailed(
        `The first line has to name the columns, but there is no column email. These columns are read: ${importedColumns.join(", ")}.`,
      );
    return requireOnce(columns);
  },
  isOneLine: (column) => importedColumns.some((each) => each === column),
  marksNull: false,
};

/** Returns the rules for records. Every column must be a field. */
export function recordsCSV(isOneLine: (column: string) => boolean): CSVRules {
  return { readColumns: (cells) => requireOnce(cells.map((cell) => cell.trim())), isOneLine, marksNull: true };
}

function requireOnce(columns: readonly string[]): readonly string[] {
  const twice = columns.find((column, at) => column !== "" && columns.indexOf(column) !== at);
  if (twice !== undefined) throw new CommandFailed(`The first line names the column ${twice} twice. Keep one.`);
  return columns;
}

/** Returns the lines of a source. `peek` reads lines in advance, and `drop` removes lines that are finished. */
function lookAhead(source: AsyncIterable<string>) {
  const iterator = source[Symbol.asyncIterator]();
  const ahead: string[] = [];
  return {
    async peek(count: number): Promise<readonly string[]> {
      while (ahead.length < count) {
        const next = await iterator.next();
        if (next.done === true) break;
        ahead.push(next.value);
      }
      return ahead;
    },
    drop(count: number): void {
      ahead.splice(0, count);
    },
  };
}
