import { createHash } from "node:crypto";
import type { Account } from "../../door/auth.ts";
import type { MountInPlace } from "../../door/resources.ts";
import type { Change, Collection, Store, Transaction, WrittenValues } from "../../door/stores.ts";
import type { ImportLine, RefusedLine } from "../users/import-users.ts";
import type { GatheringStore, Task } from "./gathering-store.ts";
import { fieldsOfCaller, readRecord, type ReadRecord, type RecordReading } from "./read-record.ts";
import { nameOf, placesOf } from "./records-of.ts";

/** How far imports have come that are not at their end: written with the records, so that both are there or neither. */
export const importsCollection: Collection = {
  name: "unfinished_imports",
  key: "text",
  columns: [{ name: "line", type: "integer" }],
};

export interface RecordImportOptions extends Omit<RecordReading, "missing"> {
  /** The file in its present state: an import of it that was interrupted goes on where it was. Null: it cannot. */
  readonly file: string | null;
  /** Everything is tried and nothing is written. */
  readonly dryRun: boolean;
  /** Who sends the records; null: an administrator who is no user. */
  readonly as: Account | null;
}

/** Puts records into a resource, some lines at a time. */
export interface RecordImport {
  /** The last line that was over when an earlier import of the file was interrupted; 0 where there was none. */
  readonly doneBefore: number;
  /**
   * Writes what can be written, in one transaction as far as possible; gives what cannot, and why. What no rule lets through is told before
   * anything is written: whoever is killed then goes on behind it. Throws where the service cannot go on.
   */
  add(lines: readonly ImportLine[], tell?: (refused: RefusedLine) => void): Promise<readonly RefusedLine[]>;
  /** Says that it is at its end. */
  end(): Promise<void>;
}

/** What records are imported through. */
export interface Importing {
  readonly gathering: GatheringStore;
  readonly store: Store;
  ask(method: string, path: string, body?: unknown, as?: Account): Promise<Answered>;
}

interface Answered {
  readonly status: number;
  readonly value: unknown;
}

const DRY_RUN = "dry run";

/** Begins an import, or goes on with it. */
export async function importRecords(
  { gathering, store, ask }: Importing,
  placed: MountInPlace,
  options: RecordImportOptions,
): Promise<RecordImport> {
  const { file, dryRun } = options;
  const key = file === null || dryRun ? null : keyOf(placed, file, options);
  const row = key === null ? null : await store.find(importsCollection, key);
  const reading = { ...options, missing: options.as === null ? fieldsOfCaller(placed.resource) : [] };

  /** Goes with what is written: up to this line, all are over. */
  function after(line: number): readonly Change[] {
    if (dryRun) return [{ kind: "require", collection: importsCollection, where: NONE, atLeast: 1, name: DRY_RUN }];
    return key === null ? [] : [forget(key), { kind: "insert", collection: importsCollection, key, values: { line } }];
  }

  return {
    doneBefore: row === null ? 0 : (row.record["line"] as number),
    async add(lines, tell = () => undefined) {
      const send: Send = (path, body) => ask("POST", path, body, options.as ?? undefined);
      const tasks = lines.map((line) => telling(taskOf(placed, line, reading, send), tell));
      const told = await gathering.together(tasks, { after, dryRun: dryRun ? DRY_RUN : null });
      return told.filter((each) => each !== null);
    },
    async end() {
      if (key !== null) await store.write({ changes: [forget(key)] });
    },
  };
}

const NONE = { column: "id", operator: "eq", value: "" } as const;

function forget(key: string): Change {
  return { kind: "deleteAll", collection: importsCollection, where: { column: "id", operator: "eq", value: key } };
}

function keyOf(placed: MountInPlace, file: string, { isText, withIds, as }: RecordImportOptions): string {
  const what = JSON.stringify([nameOf(placed), file, isText, withIds, ...(as === null ? [] : [as.id])]);
  return createHash("sha256").update(what).digest("base64url");
}

/** The same task, which tells what comes of it before the others are written. */
function telling(task: Task<RefusedLine | null>, tell: (refused: RefusedLine) => void): Task<RefusedLine | null> {
  const run = async (): Promise<RefusedLine | null> => {
    const refused = await task.run();
    if (refused !== null) tell(refused);
    return refused;
  };
  return { ...task, run };
}

type Send = (path: string, body: unknown) => Promise<Answered>;

/** One line: it asks as a request does, so that every rule of the resource holds. */
function taskOf(
  placed: MountInPlace,
  { line, record }: ImportLine,
  reading: RecordReading,
  send: Send,
): Task<RefusedLine | null> {
  const read = readRecord(placed, record, reading);
  let [isTried, isBroken] = [false, false];
  return {
    place: line,
    uuid: "id" in read && typeof read.id === "string" ? read.id : null,
    adjust: (transaction) => ("reasons" in read ? transaction : withGiven(placed, transaction, read)),
    tried: () => void (isTried = true),
    failed: () => void (isBroken = true),
    async run() {
      if ("reasons" in read) return { line, reasons: read.reasons };
      const { status, value } = await send(read.path, read.body);
      if (status < 400 || isTried) return null;
      const { detail, errors = [] } = value as ProblemShown;
      // A record that the service has a fault with is its own line; what concerns several (a full disk) ends the import.
      if (status > 500 || (status === 500 && isBroken)) throw new Error(detail);
      const within = placesOf(placed).at(-1);
      if (status === 404 && within !== undefined)
        return { line, reasons: [`${within}: There is no record with this id.`] };
      return {
        line,
        reasons: errors.length === 0 ? [detail] : errors.map((each) => `${each.pointer.slice(1)}: ${each.detail}`),
      };
    },
  };
}

interface ProblemShown {
  readonly detail: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
}

/** The record as it was exported: with its id, and what the service has given it then. */
function withGiven({ collection }: MountInPlace, transaction: Transaction, { id, given }: ReadRecord): Transaction {
  const [first, ...others] = transaction.changes;
  if (first?.kind !== "insert" || first.collection !== collection) return transaction;
  const values = { ...first.values, ...given } as WrittenValues;
  return { ...transaction, changes: [{ ...first, ...(id === null ? {} : { key: id }), values }, ...others] };
}
