import { createHash } from "node:crypto";
import { aFunction, objectWith, optional } from "../core/checking/members.ts";
import { requireArguments } from "../core/checking/options.ts";
import { made } from "../core/copy.ts";
import { valueOfJSON } from "../core/exact-numbers.ts";
import type { Collection, Column, Value } from "./store.ts";

/** A row as it is copied: the values of all columns of its table, its revision and folded values among them. */
export type Cells = readonly Value[];

/** What is handed out once and never again. */
export interface Counters {
  /** The last revision. */
  readonly revision: number;
  /** The next key of each collection with integer keys. */
  readonly nextKeys: Readonly<Record<string, number>>;
}

/** All that a store holds, in a form that every engine understands. */
export interface Content {
  /** Every collection that was ever stored, whoever declares it today. */
  readonly collections: readonly Collection[];
  counters(): Promise<Counters>;
  count(table: string): Promise<number>;
  /** Pages of rows in the order of their keys. */
  read(table: string): AsyncIterable<readonly Cells[]>;
}

/** A store that is copied, in one state for as long as it is open. Nobody writes to it meanwhile. */
export interface StoreSource extends Content {
  close(): Promise<void>;
}

/** A new store that is filled. It is there when it is kept, as a whole; before that, nothing is. */
export interface StoreTarget {
  create(collections: readonly Collection[]): Promise<void>;
  write(table: string, rows: readonly Cells[]): Promise<void>;
  /** Sets the counters and checks the references. Gives what stands in the store now. */
  complete(counters: Counters): Promise<Content>;
  keep(): Promise<void>;
  /** Gives up what was not kept. */
  close(): Promise<void>;
}

/** A table as it is copied. */
export interface CopiedTable {
  readonly name: string;
  /** The order of the cells. */
  readonly columns: readonly Column[];
  /** The columns that order the rows; they are the first. */
  readonly key: readonly string[];
}

/** What a store keeps beside the collections. Its columns have no name that a collection could have. */
export const keptBeside: readonly CopiedTable[] = [
  {
    name: "latchkey_taken_keys",
    columns: [
      { name: "collection", type: "text" },
      { name: "key", type: "integer" },
    ],
    key: ["collection", "key"],
  },
  {
    name: "latchkey_idempotency",
    columns: [
      { name: "key", type: "text" },
      { name: "fingerprint", type: "text" },
      { name: "rows", type: "text", nullable: true },
      { name: "expires_at", type: "integer" },
    ],
    key: ["key"],
  },
  {
    name: "latchkey_migrations",
    columns: [
      { name: "at", type: "text" },
      { name: "collection", type: "text" },
      { name: "words", type: "text" },
      { name: "program", type: "text" },
      { name: "written", type: "integer" },
      { name: "ms", type: "integer" },
    ],
    key: ["at", "collection", "words"],
  },
];

/** Why a store could not be copied, kept safe or put back; the message names the cure. */
export class CopyError extends Error {
  static {
    made(this.prototype);
  }

  readonly code: "in_use" | "not_empty" | "not_latchkey" | "schema" | "damaged" | "differs" | "refused";

  constructor(code: CopyError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "CopyError";
    this.code = code;
  }
}

/** What a database says of itself. */
export interface Checked {
  readonly version: number;
  readonly tables: readonly { readonly table: string; readonly rows: number }[];
  /** What is damaged; empty where all is well. */
  readonly problems: readonly string[];
}

/** How many rows are copied at a time: each may have a megabyte. */
export const copiedAtOnce = 250;

/** What was copied of one table. */
export interface CopiedCount {
  readonly table: string;
  readonly rows: number;
  /** SHA-256 over the rows, the same on both sides. */
  readonly digest: string;
}

/** Is told of each page: how many rows were copied or compared so far, of how many. */
export type TellCopied = (step: "copying" | "verifying", done: number, total: number) => void;

/** Copies everything, and keeps it only when both sides hold the same. */
export async function copyStore(
  source: StoreSource,
  target: StoreTarget,
  tell: TellCopied,
): Promise<readonly CopiedCount[]> {
  requireArguments("copyStore", arguments, {
    source: objectWith("what sqliteSource() or postgresSource() gives", "count", "read", "counters"),
    target: objectWith("what sqliteTarget() or postgresTarget() gives", "create", "write", "complete", "keep"),
    tell: optional(aFunction),
  });
  const tables = [...source.collections, ...keptBeside].map(({ name }) => name);
  let total = 0;
  for (const table of tables) total += await source.count(table);
  await target.create(source.collections);
  let done = 0;
  for (const table of tables) {
    for await (const page of source.read(table)) {
      await write(target, table, page);
      tell("copying", (done += page.length), total);
    }
  }
  const counters = await source.counters();
  const found = await target.complete(counters);
  requireSameCounters(counters, await found.counters());
  const copied: CopiedCount[] = [];
  let compared = 0;
  for (const table of tables) {
    const count = (rows: number): void => tell("verifying", (compared += rows), total * 2);
    const [one, other] = [await digestOf(source, table, count), await digestOf(found, table, count)];
    if (one.rows !== other.rows || one.digest !== other.digest)
      throw new CopyError(
        "differs",
        `${table} is not the same on both sides: ${one.rows} rows (${one.digest}) were copied and ${other.rows} rows (${other.digest}) arrived. Nothing was kept.`,
      );
    copied.push({ table, ...one });
  }
  await target.keep();
  return copied;
}

async function write(target: StoreTarget, table: string, page: readonly Cells[]): Promise<void> {
  try {
    await target.write(table, page);
  } catch (error) {
    // A value that the other engine cannot hold, such as U+0000 or a text that is too long for an index.
    if (!(error instanceof TypeError)) throw error;
    const cause = { cause: error };
    throw new CopyError("refused", `${table} holds what the target cannot keep. ${error.message}`, cause);
  }
}

/** How many rows each collection has. */
export async function countRows(content: Content): Promise<Checked["tables"]> {
  const counted: { table: string; rows: number }[] = [];
  for (const { name } of content.collections) counted.push({ table: name, rows: await content.count(name) });
  return counted;
}

/** A digest of what is read, over a form that is the same for every engine. */
async function digestOf(
  content: Content,
  table: string,
  count: (rows: number) => void,
): Promise<{ rows: number; digest: string }> {
  const hash = createHash("sha256");
  let rows = 0;
  for await (const page of content.read(table)) {
    for (const cells of page) hash.update(`${JSON.stringify(cells)}\n`);
    rows += page.length;
    count(page.length);
  }
  return { rows, digest: hash.digest("hex") };
}

function requireSameCounters(one: Counters, other: Counters): void {
  const names = Object.keys(one.nextKeys).filter((name) => one.nextKeys[name] !== other.nextKeys[name]);
  if (one.revision === other.revision && names.length === 0) return;
  const differing = [...(one.revision === other.revision ? [] : ["the revision"]), ...names].join(", ");
  throw new CopyError("differs", `What is handed out next differs on both sides (${differing}). Nothing was kept.`);
}

/** The tables of collections and those beside them, by name. `shadowsOf` gives the columns that keep something of others. */
export function copiedTables(
  collections: readonly Collection[],
  shadowsOf: (collection: Collection) => readonly Column[],
): ReadonlyMap<string, CopiedTable> {
  const tables = [...collections.map((each) => copiedTable(each, shadowsOf)), ...keptBeside];
  return new Map(tables.map((table) => [table.name, table]));
}

function copiedTable(collection: Collection, shadowsOf: (collection: Collection) => readonly Column[]): CopiedTable {
  return {
    name: collection.name,
    columns: [
      { name: "id", type: collection.key },
      { name: "_revision", type: "integer" },
      ...collection.columns,
      ...shadowsOf(collection),
    ],
    key: ["id"],
  };
}

/**
 * The declaration that a store remembers (JSON), with the columns that are declared no more and still hold something.
 * `types` are those of all columns that were ever declared, `there` the names of all columns as they are.
 */
export function readDeclaration(
  text: string,
  types: Readonly<Record<string, string>>,
  there: readonly string[],
): Collection {
  const declared = valueOfJSON(text) as Collection;
  const known = new Set(["id", ...declared.columns.map(({ name }) => name)]);
  const leftOvers = there.filter((name) => !known.has(name) && !name.startsWith("_"));
  return {
    ...declared,
    columns: [...declared.columns, ...leftOvers.map((name) => leftOver(declared.name, name, types[name]))],
  };
}

/** Whoever adds a type adds it here: the compiler sees to it. */
const remembered: Readonly<Record<Column["type"], true>> = {
  integer: true,
  text: true,
  boolean: true,
  decimal: true,
  double: true,
  date: true,
  "date-time": true,
  json: true,
};

function leftOver(table: string, name: string, text = ""): Column {
  const match = /^([a-z-]+)(?:\((\d+)\))?$/.exec(text);
  if (match === null || !Object.hasOwn(remembered, match[1]!))
    throw new CopyError(
      "schema",
      `${table}.${name} is a column that was never declared, so nobody knows what it holds. Copy it to a table of your own and drop it here.`,
    );
  const type = match[1] as Column["type"];
  return { name, type, nullable: true, ...(match[2] === undefined ? {} : { scale: Number(match[2]) }) };
}

/** Throws unless the tables are as this program makes them: what is copied is not migrated. */
export function requireVersion(found: number, known: number): void {
  if (found === known) return;
  const cure =
    found > known
      ? "Use the newer program."
      : "Start the service on it once, so that it is brought up to date, and stop it.";
  throw new CopyError("schema", `The database has schema version ${found} and this program knows ${known}. ${cure}`);
}

/** Says that tables of ours are there which no declaration knows; such is the state between a migration by hand and the next start. */
export function unknownTables(names: readonly string[]): CopyError {
  return new CopyError(
    "schema",
    `${names.join(", ")}: no declaration is remembered for what is there. Start the service on this database once, so that it is, and stop it.`,
  );
}
