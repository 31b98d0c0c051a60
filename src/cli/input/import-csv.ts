import { parse } from "csv-parse/sync";
import { importedColumns } from "../../service/users/imported-user.ts";
import { CommandFailed } from "../exit.ts";

/** A row of a CSV file, or what is wrong with it. */
export type CSVLine =
  | { readonly line: number; readonly record: Readonly<Record<string, string | null>> }
  | { readonly line: number; readonly reasons: readonly string[] };

/** What a header line may name, and what its cells hold. */
export interface CSVRules {
  /** Reads the header. Throws `CommandFailed` where it is none. */
  columnsOf(cells: readonly string[]): readonly string[];
  /** A value of it has no line breaks: one that goes over several lines is a quote that was forgotten. */
  isOneLine(column: string): boolean;
  /** An empty cell is no value, and `""` an empty text; else both are an empty text. */
  readonly tellsNothing: boolean;
}

interface Row {
  readonly cells: readonly (string | null)[];
  /** How many lines of the file it takes: a quoted value may have line breaks. */
  readonly height: number;
}

/** A quoted value of more lines is a quote that was forgotten: texts have at most so many characters, unless a field says more. */
const MAX_HEIGHT = 10_000;

/**
 * Reads CSV (RFC 4180) with a header row; commas, semicolons or tabs. A quote that is never closed costs the line it
 * stands on and not the rest of the file: where it goes on into a value that has no line breaks, each line is tried alone.
 */
export async function* readCSV(source: AsyncIterable<string>, rules: CSVRules): AsyncGenerator<CSVLine> {
  const lines = lookAhead(source);
  const [head] = await lines.peek(1);
  if (head === undefined) throw new CommandFailed("The file is empty. Its first line names the columns.");
  const delimiter = delimiterOf(head);
  if (head.includes("\r"))
    throw new CommandFailed(
      "The lines end with carriage returns alone, as old Macs wrote them. Save the file anew, or: tr '\\r' '\\n' < FILE > NEW",
    );
  const columns = rules.columnsOf((parseRow(head, delimiter, false) ?? []).map((cell) => cell ?? ""));
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

/** The row at the first of these lines. */
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
    const cells = parseRow(ahead.slice(0, height).join("\n"), delimiter, rules.tellsNothing);
    if (cells === null || (height > 1 && hasBreak(cells, columns, rules))) break;
    if (cells.length === columns.length) return { cells, height };
    return { reason: `It has ${cells.length} values, and the header has ${columns.length}.` };
  }
  return { reason: "Its quotes do not match." };
}

/** A value that counts goes over several lines, or the values are not as many as the columns: a quote was forgotten. */
function hasBreak(cells: Row["cells"], columns: readonly string[], { isOneLine }: CSVRules): boolean {
  return (
    cells.length !== columns.length ||
    cells.some((cell, at) => cell !== null && cell.includes("\n") && isOneLine(columns[at]!))
  );
}

function parseRow(text: string, delimiter: string, tellsNothing: boolean): (string | null)[] | null {
  const nothing = tellsNothing ? null : "";
  // Most rows have no quotes, and a parser of its own for each of them takes longer than all that is done with it.
  if (!text.includes('"')) return text.split(delimiter).map((cell) => (cell === "" ? nothing : cell));
  try {
    const cast = (cell: string, { quoting }: { readonly quoting: boolean }): string | null =>
      cell === "" && !quoting ? nothing : cell;
    // Else it takes a carriage return for the end of the row, and what stands behind is lost.
    const options = { delimiter, record_delimiter: "\n", relax_column_count: true, cast };
    return (parse(text, options) as (string | null)[][])[0] ?? null;
  } catch {
    return null;
  }
}

/** Whichever parts the header most often. */
function delimiterOf(head: string): string {
  const counts = [",", ";", "\t"].map((delimiter) => ({ delimiter, count: head.split(delimiter).length }));
  return counts.reduce((most, each) => (each.count > most.count ? each : most)).delimiter;
}

/** Users, of whom other columns than ours are passed over. */
export const usersCSV: CSVRules = {
  columnsOf(cells) {
    const columns = cells.map((cell) => cell.trim().toLowerCase().replaceAll(/[ -]+/g, "_"));
    if (!columns.includes("email"))
      throw new CommandFailed(
        `The first line names no column email. It names the columns, of which these are read: ${importedColumns.join(", ")}.`,
      );
    return requireOnce(columns);
  },
  isOneLine: (column) => importedColumns.some((each) => each === column),
  tellsNothing: false,
};

/** Records, all of whose columns are fields. */
export function recordsCSV(isOneLine: (column: string) => boolean): CSVRules {
  return { columnsOf: (cells) => requireOnce(cells.map((cell) => cell.trim())), isOneLine, tellsNothing: true };
}

function requireOnce(columns: readonly string[]): readonly string[] {
  const twice = columns.find((column, at) => column !== "" && columns.indexOf(column) !== at);
  if (twice !== undefined) throw new CommandFailed(`The first line names the column ${twice} twice. Keep one.`);
  return columns;
}

/** Lines that can be looked at before they are taken. */
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
