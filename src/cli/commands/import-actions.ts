import { realpathSync, statSync } from "node:fs";
import type { Account } from "../../door/auth.ts";
import type { ServedMount } from "../../door/resources.ts";
import type { Key } from "../../door/stores.ts";
import { importRecords, type RecordImport } from "../../service/records/import-records.ts";
import { orderMounts } from "../../service/records/import-together.ts";
import type { ImportLine, RefusedLine } from "../../service/records/import-users.ts";
import { parseId } from "../../service/records/read-record.ts";
import { formatResourceName } from "../../service/records/resource-names.ts";
import type { Operator } from "../../service/system/operator.ts";
import { importError, openRecordFile, type ImportFile } from "../input/import-file.ts";
import { CommandFailed, exits, UsageError, print, printError } from "../output.ts";
import { makeProgress } from "../progress.ts";
import { requireAccount, withOperator } from "../with-operator.ts";
import { requireFormat, requireResource } from "./record-actions.ts";

/** The options of `latchkey import`. */
export interface RecordImportCommand {
  readonly format?: string;
  readonly withIds?: boolean;
  readonly as?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

// The number of records in a transaction: enough to share a disk sync, but few enough to let the service write in
// between.
const BATCH = 500;
/**
 * The length of the records after which a transaction ends, in characters. Each record is the body of a request, and
 * the service limits the memory for the bodies of one caller.
 */
const BATCH_CHARACTERS = 2 * 1024 * 1024;

/** A file and its resource. */
interface Source {
  readonly mount: ServedMount;
  readonly name: string;
  open(): Promise<ImportFile>;
}

/** A refused line. With several files, it has the name of its resource. */
type Reported = RefusedLine & { readonly resource?: string };

/**
 * Imports records from a file, or from several files whose records refer to each other. Reports every line that was
 * refused, and the number of imported lines.
 */
export async function importFiles(names: readonly string[], options: RecordImportCommand): Promise<void> {
  const { withIds = false, dryRun = false, json = false } = options;
  requirePairs(names, withIds);
  const format = requireFormat(options.format, ["csv", "jsonl", "json"]);
  const refusedLines: Reported[] = [];
  const imported = await withOperator(async (operator) => {
    const sources = orderSources(
      Array.from({ length: names.length / 2 }, (_, at) => {
        const mount = requireResource(operator, names[2 * at]!);
        const name = names[2 * at + 1]!;
        return { mount, name, open: () => openRecordFile(name, format, (column) => !hasLines(mount, column)) };
      }),
      operator,
    );
    const as = options.as === undefined ? null : await requireActive(operator, options.as);
    return importSources(operator, sources, { withIds, dryRun, as }, (line, unit) => {
      refusedLines.push(line);
      const where = line.resource === undefined ? "" : `${line.resource} `;
      if (!json) printError(`${where}${unit} ${line.line}: ${line.reasons.join(" ")}\n`);
    });
  });
  const refused = refusedLines.length;
  const summary = { imported, refused: refusedLines.toSorted((one, other) => one.line - other.line) };
  const done = dryRun ? "could be imported" : "imported";
  print(json ? `${JSON.stringify(summary)}\n` : `${imported} ${done}, ${refused} refused.\n`);
  if (refused > 0) process.exitCode = exits.failed;
}

function requirePairs(names: readonly string[], withIds: boolean): void {
  if (names.length % 2 !== 0) throw new UsageError("Each resource is followed by its file.");
  if (names.length === 2) return;
  if (!withIds)
    throw new UsageError("Several files need --with-ids. Without it each record gets a new id, which no file names.");
  if (names.some((name, at) => at % 2 === 1 && name === "-"))
    throw new UsageError(
      "Several files cannot come from standard input, because the command reads each of them twice.",
    );
}

/** Returns the files in the order of their import. */
function orderSources(sources: readonly Source[], { mounts }: Operator): readonly Source[] {
  const given = mounts.filter((mount) => sources.some((each) => each.mount === mount));
  const collections = new Set(given.map(({ collection }) => collection.name));
  if (collections.size < sources.length)
    throw new UsageError("Name each resource once. Join files of one resource first.");
  const found = orderMounts(given);
  if ("circle" in found)
    throw new CommandFailed(
      `The records of ${found.circle.map(formatResourceName).join(" and ")} require each other, so none of them can be the first. ` +
        "Make one of these references optional, or import the files one after the other if their records exist already.",
    );
  return found.ordered.map((mount) => sources.find((each) => each.mount === mount)!);
}

async function importSources(
  operator: Operator,
  sources: readonly Source[],
  options: { readonly withIds: boolean; readonly dryRun: boolean; readonly as: Account | null },
  refuse: (line: Reported, unit: string) => void,
): Promise<number> {
  const isAlone = sources.length === 1;
  const ids = isAlone || !options.dryRun ? null : await readIds(sources);
  const running: {
    readonly source: Source;
    readonly run: RecordImport;
    report(line: RefusedLine, unit: string): void;
  }[] = [];
  let imported = 0;
  // Opens every file first, so that a mistake in a whole file is reported before anything is created.
  const files = await Promise.all(sources.map((source) => source.open()));
  for (const [at, source] of sources.entries()) {
    const file = files[at]!;
    const state = source.name === "-" ? null : readFileState(source.name);
    const others = { later: sources.slice(at + 1).map(({ mount }) => mount.collection.name), ids };
    const reading = { ...options, file: state, isText: file.format === "csv", ...(isAlone ? {} : { others }) };
    const run = await importRecords(operator, source.mount, reading);
    const resource = isAlone ? {} : { resource: formatResourceName(source.mount) };
    const report = (line: RefusedLine, unit: string): void => refuse({ ...line, ...resource }, unit);
    imported += await importAll(run, file, imported, (line) => report(line, file.unit));
    running.push({ source, run, report });
  }
  if (isAlone || options.dryRun) return imported;
  try {
    for (const { source, run, report } of running.slice(0, -1))
      imported -= await connectAll(run, await source.open(), report);
    await operator.store.write({ changes: running.flatMap(({ run }) => run.finished()) });
  } catch (error) {
    throw stopped(error, imported, 1);
  }
  return imported;
}

/**
 * Reads a file again, and sets its references to records of later files. Returns the number of lines whose references
 * have no target.
 */
async function connectAll(
  run: RecordImport,
  { lines, unit }: ImportFile,
  refuse: (line: RefusedLine, unit: string) => void,
): Promise<number> {
  let refused = 0;
  let batch: ImportLine[] = [];
  const flush = async (): Promise<void> => {
    const without = await run.connect(batch);
    for (const line of without) refuse(line, unit);
    refused += without.length;
    batch = [];
  };
  for await (const read of lines) {
    if ("record" in read) batch.push(read);
    if (batch.length === BATCH) await flush();
  }
  await flush();
  return refused;
}

/** Returns the ids of each file by the name of its collection. */
async function readIds(sources: readonly Source[]): Promise<ReadonlyMap<string, ReadonlySet<Key>>> {
  const ids = new Map<string, Set<Key>>();
  for (const { mount, open } of sources) {
    const found = new Set<Key>();
    for await (const read of (await open()).lines) {
      const id = "record" in read ? parseId(read.record["id"], mount.resource.id) : null;
      if (typeof id === "number" || typeof id === "string") found.add(id);
    }
    ids.set(mount.collection.name, found);
  }
  return ids;
}

/** Returns true if the values of a field may have several lines: multiline texts, and JSON. */
function hasLines({ resource: { fields } }: ServedMount, name: string): boolean {
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
  before: number,
  refuse: (line: RefusedLine) => void,
): Promise<number> {
  const progress = makeProgress("Importing");
  let imported = 0;
  let batch: ImportLine[] = [];
  let characters = 0;
  const report = (line: RefusedLine): void => {
    progress.end();
    refuse(line);
  };
  const flush = async (): Promise<void> => {
    const refused = await running.add(batch, report);
    imported += batch.length - refused.length;
    batch = [];
    characters = 0;
    const { done, total } = file.progress();
    progress.report(done, total, imported);
  };

  try {
    let isFirst = running.doneBefore > 0;
    for await (const read of running.orderLines(file.lines)) {
      if (isFirst) printError(`Continuing an interrupted import ${describePlace(read, file, running)}.\n`);
      isFirst = false;
      if ("reasons" in read) refuse(read);
      if (!("record" in read)) continue;
      batch.push(read);
      characters += JSON.stringify(read.record).length;
      if (batch.length === BATCH || characters > BATCH_CHARACTERS) await flush();
    }
    if (batch.length > 0) await flush();
    const late = await running.end();
    for (const line of late) refuse(line);
    imported -= late.length;
  } catch (error) {
    throw stopped(error, before + imported, running.doneBefore);
  } finally {
    progress.end();
  }
  return imported;
}

/**
 * Describes the place at which an interrupted import continues. Records that refer to later lines are imported after
 * the last line.
 */
function describePlace(
  next: { readonly line: number; readonly place?: number },
  { unit }: ImportFile,
  { doneBefore }: RecordImport,
): string {
  const isWaiting = next.place !== undefined && next.place !== next.line;
  return isWaiting ? `with the records that refer to later ${unit}s` : `after ${unit} ${doneBefore}`;
}

/** Returns the error for an import that can be continued. */
function stopped(error: unknown, imported: number, doneBefore: number): CommandFailed {
  const before = `${imported} were imported before the error. Run the same command again to continue, with the file unchanged.`;
  return importError(error, doneBefore + imported, before);
}
