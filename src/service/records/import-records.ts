import { createHash } from "node:crypto";
import type { Account } from "../../door/auth.ts";
import { Flaw, type ServedMount } from "../../door/resources.ts";
import type { Change, Collection, Store, Transaction, WrittenValues } from "../../door/stores.ts";
import type { GatheringStore, Task, Together } from "./gathering-store.ts";
import { importOrder, type ImportOrder, type OrderedLine } from "./import-order.ts";
import { leftOutMarks, openReferences, type OtherFiles } from "./import-together.ts";
import type { ImportLine, RefusedLine } from "./import-users.ts";
import { lateTask, NO_RECORD } from "./late-references.ts";
import { fieldsOfCaller, parseId, readRecord, type ReadRecord, type RecordReading } from "./read-record.ts";
import { formatResourceName, listPathParameters } from "./resource-names.ts";

/** The progress of unfinished imports. It is written together with the records, so that both are stored or neither. */
export const importsCollection: Collection = {
  name: "unfinished_imports",
  key: "text",
  columns: [{ name: "line", type: "integer" }],
};

export interface RecordImportOptions extends Omit<RecordReading, "missing"> {
  /**
   * Identifies the file and its present content, so that an interrupted import of it is resumed. Null if it cannot be
   * resumed.
   */
  readonly file: string | null;
  /** True to try everything and write nothing. */
  readonly dryRun: boolean;
  /** The sender of the records. Null for an administrator who is not a user. */
  readonly as: Account | null;
  /** The other files of the same command. Left out for a single file. */
  readonly others?: OtherFiles;
}

/** Imports records into a resource, some lines at a time. */
export interface RecordImport {
  /** The last line that an interrupted import of the file has finished. 0 if there was none. */
  readonly doneBefore: number;
  /**
   * Returns the remaining lines, each after the records of the file that it refers to. A line without a record is
   * passed on in its position.
   */
  orderLines<L extends { readonly line: number }>(lines: AsyncIterable<ImportLine | L>): AsyncIterable<OrderedLine | L>;
  /**
   * Writes the accepted lines, in one transaction if possible, and returns the refused ones with their reasons. Calls
   * `report` for a line that a rule refuses, before anything is written. If the import is then killed, the line is
   * already reported, so the import can resume after it. Throws if the service cannot continue.
   */
  add(
    lines: readonly (ImportLine | OrderedLine)[],
    report?: (refused: RefusedLine) => void,
  ): Promise<readonly RefusedLine[]>;
  /**
   * Sets the references that no order of the lines could satisfy, and marks the import of a single file as finished.
   * Returns the lines whose references have no target.
   */
  end(): Promise<readonly RefusedLine[]>;
  /** Sets the references of lines to records of later files. Returns the lines whose references have no target. */
  connect(lines: readonly ImportLine[]): Promise<readonly RefusedLine[]>;
  /** Returns the changes that mark the import of one of several files as finished. */
  finished(): readonly Change[];
}

/** The service that records are imported through. */
export interface Importing {
  readonly gathering: GatheringStore;
  readonly store: Store;
  ask(method: string, path: string, body?: unknown, as?: Account): Promise<ImportReply>;
}

interface ImportReply {
  readonly status: number;
  readonly value: unknown;
}

const DRY_RUN = "dry run";

/** Starts or resumes an import. */
export async function importRecords(
  { gathering, store, ask }: Importing,
  mount: ServedMount,
  options: RecordImportOptions,
): Promise<RecordImport> {
  const { file, dryRun } = options;
  const key = file === null || dryRun ? null : createImportKey(mount, file, options);
  const row = key === null ? null : await store.find(importsCollection, key);
  const reading = { ...options, missing: options.as === null ? fieldsOfCaller(mount.resource) : [] };

  /** Returns the change that records the progress: all lines up to this one are finished. */
  function after(line: number): readonly Change[] {
    if (dryRun) return [{ kind: "require", collection: importsCollection, where: NONE, atLeast: 1, name: DRY_RUN }];
    return key === null ? [] : [forget(key), { kind: "insert", collection: importsCollection, key, values: { line } }];
  }

  const doneBefore = row === null ? 0 : (row.record["line"] as number);
  const order = importOrder(mount, options);
  const refused = new Set<number>();
  const together = async (
    tasks: readonly Task<RefusedLine | null>[],
    how: Together = { after, dryRun: dryRun ? DRY_RUN : null },
  ): Promise<readonly RefusedLine[]> => (await gathering.together(tasks, how)).filter((each) => each !== null);
  const open = options.others === undefined ? null : openReferences(mount, options.others, options);
  const marks = key === null ? null : leftOutMarks(importsCollection, key);
  const unset: number[] = [];
  const send: ImportSender = (path, body) => ask("POST", path, body, options.as ?? undefined);

  return {
    doneBefore,
    async *orderLines(lines) {
      for await (const each of order.orderLines(lines)) if (choosePlace(each) > doneBefore) yield each;
    },
    async add(lines, report = () => undefined) {
      const tasks = lines.map((line) => {
        const others = open?.list(line.record) ?? [];
        const late = [...lateFields(order, line, dryRun), ...others];
        const added = marks === null || others.length === 0 ? [] : [marks.add(line.line)];
        const isGiven = (name: string): boolean => open?.isGiven(name, line.record) ?? false;
        return withReport(createTask(mount, line, { late, added, isGiven }, reading, send), report);
      });
      const refusedLines = await together(tasks);
      for (const { line } of refusedLines) refused.add(line);
      return refusedLines;
    },
    async end() {
      const refusedLines: RefusedLine[] = [];
      const isLeft = ({ place, line }: OrderedLine): boolean => place > doneBefore && !refused.has(line);
      const late = dryRun ? [] : order.lateReferences().filter(isLeft);
      for (let at = 0; at < late.length; at += LATE_REFERENCES_PER_WRITE)
        refusedLines.push(
          ...(await together(
            late.slice(at, at + LATE_REFERENCES_PER_WRITE).map((each) => lateTask(mount, each, options, store)),
          )),
        );
      if (key !== null && open === null) await store.write({ changes: [forget(key)] });
      return refusedLines;
    },
    async connect(lines) {
      if (marks === null) return [];
      const tasks = lines.flatMap(({ line, record }) => {
        const late = open?.list(record) ?? [];
        const id = parseId(record["id"], mount.resource.id);
        if (late.length === 0 || id instanceof Flaw || refused.has(line)) return [];
        const each = { line, record, id, late, place: line };
        return [lateTask(mount, each, options, store, [marks.take(line)])];
      });
      const refusedLines = await together(tasks, { after: () => [], dryRun: null });
      unset.push(...refusedLines.map(({ line }) => line));
      return refusedLines;
    },
    finished: () => [...(key === null ? [] : [forget(key)]), ...unset.flatMap((line) => marks?.forget(line) ?? [])],
  };
}

/** The number of references that are set in one transaction. */
const LATE_REFERENCES_PER_WRITE = 200;

function choosePlace(read: { readonly line: number } | OrderedLine): number {
  return "place" in read ? read.place : read.line;
}

/**
 * Returns the fields that a record is created without. A dry run writes no record, so it also leaves out references to
 * other records of the file.
 */
function lateFields(order: ImportOrder, line: ImportLine | OrderedLine, dryRun: boolean): readonly string[] {
  const late = "late" in line ? line.late : [];
  return dryRun ? [...late, ...order.givenReferences(line.record)] : late;
}

const NONE = { column: "id", operator: "eq", value: "" } as const;

function forget(key: string): Change {
  return { kind: "deleteAll", collection: importsCollection, where: { column: "id", operator: "eq", value: key } };
}

function createImportKey(mount: ServedMount, file: string, options: RecordImportOptions): string {
  const { isText, withIds, as, others } = options;
  const together = others === undefined ? [] : [others.later];
  const who = as === null ? [] : [as.id];
  const what = JSON.stringify([formatResourceName(mount), file, isText, withIds, ...who, ...together]);
  return createHash("sha256").update(what).digest("base64url");
}

/** Wraps a task so that its result is reported before the others are written. */
function withReport(task: Task<RefusedLine | null>, report: (refused: RefusedLine) => void): Task<RefusedLine | null> {
  const run = async (): Promise<RefusedLine | null> => {
    const refused = await task.run();
    if (refused !== null) report(refused);
    return refused;
  };
  return { ...task, run };
}

type ImportSender = (path: string, body: unknown) => Promise<ImportReply>;

/** How a record is created whose references to others cannot all be set yet. */
interface LeftOut {
  /** The fields that are left out. */
  readonly late: readonly string[];
  /** The changes that are written together with the record. */
  readonly added: readonly Change[];
  /** Returns true if a field refers to a record that only a dry run does not write. */
  isGiven(name: string): boolean;
}

/** Makes the task of one line. It sends a request, so that every rule of the resource applies. */
function createTask(
  mount: ServedMount,
  each: ImportLine | OrderedLine,
  left: LeftOut,
  reading: RecordReading,
  send: ImportSender,
): Task<RefusedLine | null> {
  const { line, record } = each;
  const read = readRecord(mount, record, reading);
  let [isTried, isBroken] = [false, false];
  return {
    place: choosePlace(each),
    uuid: "id" in read && typeof read.id === "string" ? read.id : null,
    adjust: (transaction) => ("reasons" in read ? transaction : withServerValues(mount, transaction, read, left)),
    tried: () => void (isTried = true),
    failed: () => void (isBroken = true),
    async run() {
      if ("reasons" in read) return { line, reasons: read.reasons };
      const { status, value } = await send(read.path, read.body);
      if (status < 400 || isTried) return null;
      const { detail, errors = [] } = value as ProblemShown;
      // An error of one record is only the result of its line. An error that affects several lines, for example a full
      // disk, ends the import.
      if (status > 500 || (status === 500 && isBroken)) throw new Error(detail);
      const within = listPathParameters(mount).at(-1);
      if (status === 404 && within !== undefined)
        return left.isGiven(within) ? null : { line, reasons: [`${within}: ${NO_RECORD}`] };
      if (errors.length === 0) return { line, reasons: [detail] };
      const found = errors.filter(({ pointer, detail }) => detail !== NO_RECORD || !left.isGiven(pointer.slice(1)));
      if (found.length === 0) return null;
      return { line, reasons: found.map((each) => `${each.pointer.slice(1)}: ${each.detail}`) };
    },
  };
}

interface ProblemShown {
  readonly detail: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
}

/**
 * Returns the transaction that creates the record with its exported id and the exported values that callers may not
 * send. Leaves out the references in `late`, which are set later, and adds the changes that belong to the record.
 */
function withServerValues(
  { collection, links }: ServedMount,
  transaction: Transaction,
  { id, serverValues }: ReadRecord,
  { late, added }: LeftOut,
): Transaction {
  const [first, ...others] = transaction.changes;
  if (first?.kind !== "insert" || first.collection !== collection) return transaction;
  const lists = links.filter(({ field }) => late.includes(field));
  const columns = late.filter((name) => !lists.some(({ field }) => field === name));
  const empty = Object.fromEntries(columns.map((name) => [name, null]));
  const values = { ...first.values, ...serverValues, ...empty } as WrittenValues;
  // Empties the ids of a link but does not remove the change, because other changes refer to changes by their position.
  const left = others.map((change) =>
    change.kind === "link" && lists.some((each) => each.collection === change.collection)
      ? { ...change, ids: [] }
      : change,
  );
  return { ...transaction, changes: [{ ...first, ...(id === null ? {} : { key: id }), values }, ...left, ...added] };
}
