import { styleText } from "node:util";
import type { Issue } from "../door/http.ts";
import { visible, visibleLines } from "../door/terminal.ts";

/** The style of a text. */
export type Style = Parameters<typeof styleText>[0];

/** Styles a text if colors are shown. */
export type Paint = (style: Style, text: string) => string;

/** The sequences that `createPainter` writes. None of them hides text, moves the cursor or has any other effect. */
const OWN_COLOURS = /(\u001b\[(?:1|2|22|31|32|33|36|39)m)/;

/** Escapes the control characters of a text, except those of the command's own colors. */
export function onTerminal(text: string): string {
  const parts = text.split(OWN_COLOURS);
  return parts.map((part, at) => (at % 2 === 1 ? part : visibleLines(part))).join("");
}

/** Writes to standard output. Commands write only with this function, `printError` and `printOver`. */
export function print(text: string): void {
  process.stdout.write(onTerminal(text));
}

/** Writes to standard error. */
export function printError(text: string): void {
  process.stderr.write(onTerminal(text));
}

/** Overwrites the current line of standard error. */
export function printOver(text: string): void {
  process.stderr.write(`\r\u001b[K${visible(text)}`);
}

/**
 * Returns a function that styles text. It returns the text unchanged if the stream is not a terminal or `NO_COLOR` is
 * set.
 */
export function createPainter(stream: NodeJS.WriteStream): Paint {
  return (style, text) => styleText(style, text, { stream });
}

/** The options that all commands with output share. */
export interface Output {
  readonly json?: boolean;
}

/** The members of an item, by name. */
export type ItemMembers = Readonly<Record<string, unknown>>;

/** Shows one item: as JSON, or as a sentence for people. */
export function show(asJSON: boolean, value: unknown, sentence: string): void {
  print(asJSON ? `${formatJSON(value)}\n` : `${sentence}\n`);
}

/** Shows pages of items: as one JSON array with an item per line, or as a table of some members. */
export async function showList(
  asJSON: boolean,
  pages: AsyncIterable<readonly ItemMembers[]> | readonly (readonly ItemMembers[])[],
  columns: readonly string[],
): Promise<void> {
  const write = asJSON ? arrayWriter() : tableWriter(columns);
  for await (const page of pages) write.page(page);
  write.end();
}

function arrayWriter() {
  let separator = "[";
  return {
    page(things: readonly ItemMembers[]): void {
      for (const thing of things) {
        print(`${separator}${formatJSON(thing)}`);
        separator = ",\n";
      }
    },
    end: () => print(separator === "[" ? "[]\n" : "]\n"),
  };
}

/** Writes a table. The column widths may differ between pages, because the whole list is never in memory. */
function tableWriter(columns: readonly string[]) {
  let hasHead = false;
  const page = (things: readonly ItemMembers[]): void => {
    const [head, ...rows] = formatTable(things, columns);
    for (const line of hasHead ? rows : [head, ...rows]) print(`${line}\n`);
    hasHead = true;
  };
  return { page, end: () => (hasHead ? undefined : page([])) };
}

/** Formats items as the lines of a table. The first line is the header. */
export function formatTable(things: readonly object[], columns: readonly string[]): readonly string[] {
  const heads = columns.map((column) => column.replaceAll("_", " ").toUpperCase());
  const rows = [heads, ...things.map((thing) => columns.map((column) => cell((thing as ItemMembers)[column])))];
  const widths = columns.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
  return rows.map((row) =>
    row
      .map((text, at) => text.padEnd(widths[at]!))
      .join("  ")
      .trimEnd(),
  );
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return "-";
  return typeof value === "string" ? visible(value) : formatJSON(value);
}

function formatJSON(value: unknown): string {
  return visible(JSON.stringify(value));
}

/** The exit codes of commands. */
export const exits = {
  done: 0,
  /** The command failed, completely or partly. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** The tables need a migration with `latchkey db migrate`. */
  due: 3,
  /** The settings are wrong. The number is EX_CONFIG of sysexits.h. */
  settings: 78,
} as const;

/** Returns the message of any thrown value. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Thrown if a command fails. */
export class CommandFailed extends Error {
  /** The error code in the JSON output. If the service refused the request, this is the code of its problem. */
  readonly code: string;
  readonly issues: readonly Issue[];

  constructor(message: string, code = "failed", issues: readonly Issue[] = []) {
    super(message);
    this.name = "CommandFailed";
    this.code = code;
    this.issues = issues;
  }
}

/** Thrown for a mistake in the command line that the parser does not detect. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
