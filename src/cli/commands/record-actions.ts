import { randomBytes } from "node:crypto";
import { closeSync, createWriteStream, lstatSync, openSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import type { Account } from "../../door/auth.ts";
import { formatCSVLine } from "../../door/http.ts";
import type { MountInPlace } from "../../door/resources.ts";
import { exportedColumns, exportRecords, type ExportedRecord } from "../../service/records/export-records.ts";
import { importRecords, type RecordImport } from "../../service/records/import-records.ts";
import type { ImportLine, RefusedLine } from "../../service/records/import-users.ts";
import { formatResourceName } from "../../service/records/resource-names.ts";
import type { Operator } from "../../service/system/operator.ts";
import { CommandFailed, exits, UsageError } from "../exit.ts";
import { importError, detectFormat, openRecordFile, type ImportFile, type ImportFormat } from "../input/import-file.ts";
import { onTerminal, print, printError } from "../output.ts";
import { makeProgress } from "../progress.ts";
import { requireAccount, withOperator } from "../with-operator.ts";

/** The options of `latchkey import`. */
export interface RecordImportCommand {
  readonly format?: string;
  readonly withIds?: boolean;
  readonly as?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** The options of `latchkey export`. */
export interface RecordExportCommand {
  readonly format?: string;
}

// The number of records in a transaction: enough to share a disk sync, but few enough to let the service write in between.
const BATCH = 500;
/**
 * The length of the records after which a transaction ends, in characters. Each record is the body of a request, and the service limits the
 * memory for the bodies of one caller.
 */
const BATCH_CHARACTERS = 2 * 1024 * 1024;

/** Imports records from a file. Reports every line that was refused, and the number of imported lines. */
export async function importFile(resource: string, name: string, options: RecordImportCommand): Promise<void> {
  const { withIds = false, dryRun = false, json = false } = options;
  const format = requireFormat(options.format, ["csv", "jsonl", "json"]);
  let refused = 0;
  const refusedLines: RefusedLine[] = [];
  const imported = await withOperator(async (operator) => {
    const mount = requireResource(operator, resource);
    const file = await openRecordFile(name, format, (column) => !hasLines(mount, column));
    const state = name === "-" ? null : readFileState(name);
    const as = options.as === undefined ? null : await requireActive(operator, options.as);
    const reading = { file: state, isText: file.format === "csv", withIds, dryRun, as };
    const running = await importRecords(operator, mount, reading);
    return importAll(running, file, (line) => {
      refused++;
      if (json) refusedLines.push(line);
      else printError(`${file.unit} ${line.line}: ${line.reasons.join(" ")}\n`);
    });
  });
  const summary = { imported, refused: refusedLines.toSorted((one, other) => one.line - other.line) };
  const done = dryRun ? "could be imported" : "imported";
  print(json ? `${JSON.stringify(summary)}\n` : `${imported} ${done}, ${refused} refused.\n`);
  if (refused > 0) process.exitCode = exits.failed;
}

/** Returns true if the values of a field may have several lines: multiline texts, and JSON. */
function hasLines({ resource: { fields } }: MountInPlace, name: string): boolean {
  const field = Object.hasOwn(fields, name) ? fields[name]! : null;
  if (field === null) return false;
  return field.kind.column.type === "json" || ("multiline" in field.options && field.options.multiline === true);
}

async function requireActive(operator: Operator, user: string): Promise<Account> {
  const account = await requireAccount(operator, user);
  if (account.active) return account;
  throw new CommandFailed(
    `${account.username} is disabled, so its records would be refused. Name another user, or enable this one: latchkey user enable ${account.username}`,
  );
}

/** Returns a text that identifies a file with its content. It is another text after the file has changed. */
function readFileState(name: string): string {
  const { size, mtimeMs } = statSync(name);
  return `${realpathSync(name)} ${size} ${mtimeMs}`;
}

async function importAll(
  running: RecordImport,
  file: ImportFile,
  refuse: (line: RefusedLine) => void,
): Promise<number> {
  const progress = makeProgress("Importing");
  let imported = 0;
  let batch: ImportLine[] = [];
  let characters = 0;
  const tell = (line: RefusedLine): void => {
    progress.end();
    refuse(line);
  };
  const flush = async (): Promise<void> => {
    const refused = await running.add(batch, tell);
    imported += batch.length - refused.length;
    batch = [];
    characters = 0;
    const { done, total } = file.progress();
    progress.tell(done, total, imported);
  };

  try {
    let isFirst = running.doneBefore > 0;
    for await (const read of running.orderLines(file.lines)) {
      if (isFirst) printError(`Continuing an interrupted import ${describePlace(read, file, running)}.\n`);
      isFirst = false;
      if ("reasons" in read) tell(read);
      if (!("record" in read)) continue;
      batch.push(read);
      characters += JSON.stringify(read.record).length;
      if (batch.length === BATCH || characters > BATCH_CHARACTERS) await flush();
    }
    if (batch.length > 0) await flush();
    const late = await running.end();
    for (const line of late) tell(line);
    imported -= late.length;
  } catch (error) {
    const before = `${imported} were imported before the error. Run the same command again to continue, with the file unchanged.`;
    throw importError(error, running.doneBefore + imported, before);
  } finally {
    progress.end();
  }
  return imported;
}

/** Describes the place at which an interrupted import continues. Records that refer to later lines are imported after the last line. */
function describePlace(
  next: { readonly line: number; readonly place?: number },
  { unit }: ImportFile,
  { doneBefore }: RecordImport,
): string {
  const isWaiting = next.place !== undefined && next.place !== next.line;
  return isWaiting ? `with the records that refer to later ${unit}s` : `after ${unit} ${doneBefore}`;
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
  mount: MountInPlace,
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
      progress.tell(0, null, tally.count);
    }
  } finally {
    progress.end();
  }
}

/** Writes a new file. It has a temporary name until it is complete. Throws if the file exists already, because it may be the only copy. */
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

function requireResource({ mounts }: Operator, name: string): MountInPlace {
  const mount = mounts.find((each) => formatResourceName(each) === name.replace(/^\//, ""));
  if (mount !== undefined) return mount;
  throw new CommandFailed(
    `There is no resource ${JSON.stringify(name)}. There are ${mounts.map(formatResourceName).join(", ")}.`,
    "not_found",
  );
}

function requireFormat(format: string | undefined, formats: readonly ImportFormat[]): ImportFormat | null {
  const found = formats.find((each) => each === format);
  if (found !== undefined || format === undefined) return found ?? null;
  throw new UsageError(`--format is one of ${formats.join(", ")}.`);
}
