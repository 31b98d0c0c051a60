import { randomBytes } from "node:crypto";
import { closeSync, createWriteStream, lstatSync, openSync, renameSync, rmSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { formatCSVLine } from "../../door/http.ts";
import type { ServedMount } from "../../door/resources.ts";
import { exportedColumns, exportRecords, type ExportedRecord } from "../../service/records/export-records.ts";
import { formatResourceName } from "../../service/records/resource-names.ts";
import type { Operator } from "../../service/system/operator.ts";
import { detectFormat, type ImportFormat } from "../input/import-file.ts";
import { CommandFailed, UsageError, onTerminal, print, printError } from "../output.ts";
import { makeProgress } from "../progress.ts";
import { withOperator } from "../with-operator.ts";

/** The options of `latchkey export`. */
export interface RecordExportCommand {
  readonly format?: string;
}

/** Writes all records of a resource to a file, or to standard output. */
export async function exportFile(
  resource: string,
  name: string | undefined,
  options: RecordExportCommand,
): Promise<void> {
  const format =
    requireFormat(options.format, ["csv", "jsonl"]) ?? (isOutput(name) ? "jsonl" : detectFormat(name, "{"));
  const tally = { count: 0 };
  await withOperator(async (operator) => {
    const mount = requireResource(operator, resource);
    const texts = formatRecords(operator, mount, format, tally);
    // A pipe gets the text unchanged. For a terminal, control characters are escaped.
    const shown = process.stdout.isTTY ? onTerminalEach(texts) : texts;
    if (isOutput(name)) await pipeline(shown, process.stdout, { end: false });
    else await writeNew(name, texts);
    const hidden = Object.keys(mount.resource.fields).filter((each) => !mount.shown.includes(each));
    for (const each of hidden) printError(`${each} is not in the file, because its values are never shown.\n`);
  });
  if (!isOutput(name)) print(`${tally.count} exported.\n`);
}

async function* onTerminalEach(texts: AsyncIterable<string>): AsyncIterable<string> {
  for await (const text of texts) yield onTerminal(text);
}

/** Returns true if the output goes to standard output. */
function isOutput(name: string | undefined): name is undefined | "-" {
  return name === undefined || name === "-";
}

async function* formatRecords(
  { store }: Operator,
  mount: ServedMount,
  format: ImportFormat,
  tally: { count: number },
): AsyncGenerator<string> {
  const progress = makeProgress("Exporting");
  const columns = exportedColumns(mount);
  const convertCell = (record: ExportedRecord, name: string): unknown =>
    mount.jsonMembers.includes(name) && record[name] !== null ? JSON.stringify(record[name]) : record[name];
  const formatLine = (record: ExportedRecord): string =>
    format === "csv" ? formatCSVLine(columns.map((name) => convertCell(record, name))) : `${JSON.stringify(record)}\n`;
  if (format === "csv") yield formatCSVLine(columns);
  try {
    for await (const page of exportRecords(store, mount)) {
      yield page.map(formatLine).join("");
      tally.count += page.length;
      progress.report(0, null, tally.count);
    }
  } finally {
    progress.end();
  }
}

/**
 * Writes a new file. It has a temporary name until it is complete. Throws if the file exists already, because it may be
 * the only copy.
 */
async function writeNew(name: string, texts: AsyncIterable<string>): Promise<void> {
  const part = `${name}.exporting-${randomBytes(6).toString("hex")}`;
  if (lstatSync(name, { throwIfNoEntry: false }) !== undefined) throw alreadyThere(name);
  try {
    await pipeline(texts, createWriteStream(part, { flags: "wx", mode: 0o600 }));
    // The empty file reserves the name. A hard link would need no such file, but some disks do not support hard links.
    closeSync(openSync(name, "wx", 0o600));
    renameSync(part, name);
  } catch (error) {
    throw writingError(error, name);
  } finally {
    rmSync(part, { force: true });
  }
}

function writingError(error: unknown, name: string): unknown {
  if (!(error instanceof Error && "syscall" in error && "code" in error)) return error;
  return error.code === "EEXIST"
    ? alreadyThere(name)
    : new CommandFailed(`${name} cannot be written (${String(error.code)}).`);
}

function alreadyThere(name: string): CommandFailed {
  return new CommandFailed(`${name} exists already. Name a new file.`);
}

/** Returns the resource with this name. Throws `CommandFailed` if there is none. */
export function requireResource({ mounts }: Operator, name: string): ServedMount {
  const mount = mounts.find((each) => formatResourceName(each) === name.replace(/^\//, ""));
  if (mount !== undefined) return mount;
  throw new CommandFailed(
    `There is no resource ${JSON.stringify(name)}. There are ${mounts.map(formatResourceName).join(", ")}.`,
    "not_found",
  );
}

/** Returns the format of `--format`, or null without the option. Throws `UsageError` if it is not allowed. */
export function requireFormat(format: string | undefined, formats: readonly ImportFormat[]): ImportFormat | null {
  const found = formats.find((each) => each === format);
  if (found !== undefined || format === undefined) return found ?? null;
  throw new UsageError(`--format is one of ${formats.join(", ")}.`);
}
