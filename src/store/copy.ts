import { createHash } from "node:crypto";
import { aFunction, objectWith, optional } from "../core/checking/members.ts";
import { requireArguments } from "../core/checking/options.ts";
import { made } from "../core/copy.ts";
import { valueOfJSON } from "../core/exact-numbers.ts";
import type { Collection, Column, Value } from "./store.ts";

/** A row during a copy: the values of all columns of its table, including its revision and folded values. */
export type CopiedRow = readonly Value[];

/** The numbers that a store issues only once. */
export interface Counters {
  /** The last revision. */
  readonly revision: number;
  /** The next key of each collection with integer keys. */
  readonly nextKeys: Readonly<Record<string, number>>;
}

/** The whole content of a store, in a form that every engine understands. */
export interface Content {
  /** Every collection whose rows are stored, including those that are no longer declared. */
  readonly collections: readonly Collection[];
  counters(): Promise<Counters>;
  count(table: string): Promise<number>;
  /** Returns the rows in the order of their keys, in pages. */
  read(table: string): AsyncIterable<readonly CopiedRow[]>;
}

/** A store that is being copied. It shows one state until it is closed, and no process writes to it in that time. */
export interface StoreSource extends Content {
  close(): Promise<void>;
}

/** A new store that is being filled. Other programs see nothing of it before `keep`, and all of it afterwards. */
export interface StoreTarget {
  create(collections: readonly Collection[]): Promise<void>;
  write(table: string, rows: readonly CopiedRow[]): Promise<void>;
  /** Sets the counters and checks the references. Returns the content of the store. */
  complete(counters: Counters): Promise<Content>;
  keep(): Promise<void>;
  /** Discards the new store if `keep` was not called. */
  close(): Promise<void>;
}

/** The layout of a table during a copy. */
export interface CopiedTable {
  readonly name: string;
  /** The columns, in the order of the cells. */
  readonly columns: readonly Column[];
  /** The columns of the key, which order the rows. They are the first of `columns`. */
  readonly key: readonly string[];
}

/** The store's own tables, for example idempotency records. No collection can have one of their names. */
export const internalTables: readonly CopiedTable[] = [
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

/** Reports why a store could not be copied, backed up or restored. The message says how to fix it. */
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

/** The state that a database reports about itself. */
export interface Checked {
  readonly version: number;
  readonly tables: readonly { readonly table: string; readonly rows: number }[];
  /** The damage that was found. Empty if there is none. */
  readonly problems: readonly string[];
}

/** The number of rows that are copied at a time. The number is small, because one row can have a megabyte. */
export const copiedAtOnce = 250;

/** The result of copying one table. */
export interface CopiedCount {
  readonly table: string;
  readonly rows: number;
  /** The SHA-256 digest of the rows. It is the same in the source and in the copy. */
  readonly digest: string;
}

/** Receives the progress after each page: how many rows are copied or compared so far, and how many there are. */
export type ReportCopied = (step: "copying" | "verifying", done: number, total: number) => void;

/**
 * Copies all rows and counters, and then compares the copy with the source. Keeps the copy if both are equal. Otherwise
 * throws `CopyError`.
 */
export async function copyStore(
  source: StoreSource,
  target: StoreTarget,
  report: ReportCopied,
): Promise<readonly CopiedCount[]> {
  requireArguments("copyStore", arguments, {
    source: objectWith("the result of sqliteSource() or postgresSource()", "count", "read", "counters"),
    target: objectWith("the result of sqliteTarget() or postgresTarget()", "create", "write", "complete", "keep"),
    report: optional(aFunction),
  });
  const tables = [...source.collections, ...internalTables].map(({ name }) => name);
  let total = 0;
  for (const table of tables) total += await source.count(table);
  await target.create(source.collections);
  let done = 0;
  for (const table of tables) {
    for await (const page of source.read(table)) {
      await write(target, table, page);
      report("copying", (done += page.length), total);
    }
  }
  const counters = await source.counters();
  const found = await target.complete(counters);
  requireSameCounters(counters, await found.counters());
  const copied: CopiedCount[] = [];
  let compared = 0;
  for (const table of tables) {
    const count = (rows: number): void => report("verifying", (compared += rows), total * 2);
    const [one, other] = [await digestRows(source, table, count), await digestRows(found, table, count)];
    if (one.rows !== other.rows || one.digest !== other.digest)
      throw new CopyError(
        "differs",
        `${table} differs in the copy: ${one.rows} rows (${one.digest}) were copied, but ${other.rows} rows (${other.digest}) arrived. The copy was discarded.`,
      );
    copied.push({ table, ...one });
  }
  await target.keep();
  return copied;
}

async function write(target: StoreTarget, table: string, page: readonly CopiedRow[]): Promise<void> {
  try {
    await target.write(table, page);
  } catch (error) {
    // The other engine cannot store a value, for example U+0000 or a text that is too long for an index.
    if (!(error instanceof TypeError)) throw error;
    const cause = { cause: error };
    throw new CopyError("refused", `${table} has a value that the target cannot store. ${error.message}`, cause);
  }
}

/** Counts the rows of each collection. */
export async function countRows(content: Content): Promise<Checked["tables"]> {
  const counted: { table: string; rows: number }[] = [];
  for (const { name } of content.collections) counted.push({ table: name, rows: await content.count(name) });
  return counted;
}

/** Returns a digest of the rows of a table. It uses a form that is the same for every engine. */
async function digestRows(
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
  throw new CopyError("differs", `The counters of the copy differ (${differing}). The copy was discarded.`);
}

/**
 * Returns the shadow columns of a collection. The store derives their values from other columns, for example the folded
 * values.
 */
type CollectShadows = (collection: Collection) => readonly Column[];

/** Returns the tables of the collections and of the store itself, by name. */
export function copiedTables(
  collections: readonly Collection[],
  collectShadows: CollectShadows,
): ReadonlyMap<string, CopiedTable> {
  const tables = [...collections.map((each) => copiedTable(each, collectShadows)), ...internalTables];
  return new Map(tables.map((table) => [table.name, table]));
}

function copiedTable(collection: Collection, collectShadows: CollectShadows): CopiedTable {
  return {
    name: collection.name,
    columns: [
      { name: "id", type: collection.key },
      { name: "_revision", type: "integer" },
      ...collection.columns,
      ...collectShadows(collection),
    ],
    key: ["id"],
  };
}

/**
 * Reads the declaration that is stored with a table (JSON). Adds the columns that are no longer declared but still have
 * values. `types` has the types of all columns that were ever declared. `there` has the names of all columns that
 * exist.
 */
export function readDeclaration(
  text: string,
  types: Readonly<Record<string, string>>,
  there: readonly string[],
): Collection {
  const declared = valueOfJSON(text) as Collection;
  const declaredNames = new Set(["id", ...declared.columns.map(({ name }) => name)]);
  const leftOvers = there.filter((name) => !declaredNames.has(name) && !name.startsWith("_"));
  return {
    ...declared,
    columns: [...declared.columns, ...leftOvers.map((name) => leftOver(declared.name, name, types[name]))],
  };
}

/** The known types. The compiler reports a new type that is missing here. */
const knownTypes: Readonly<Record<Column["type"], true>> = {
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
  if (match === null || !Object.hasOwn(knownTypes, match[1]!))
    throw new CopyError(
      "schema",
      `${table}.${name} is a column that was never declared, so its type is unknown. Copy it to another table, and drop it here.`,
    );
  const type = match[1] as Column["type"];
  return { name, type, nullable: true, ...(match[2] === undefined ? {} : { scale: Number(match[2]) }) };
}

/**
 * Throws `CopyError` if the tables have another schema version than this program, because a copy does not migrate them.
 */
export function requireVersion(found: number, supportedVersion: number): void {
  if (found === supportedVersion) return;
  const cure =
    found > supportedVersion
      ? "Use the newer program."
      : "Start and stop the service on it once, which updates the schema.";
  throw new CopyError(
    "schema",
    `The database has schema version ${found}, but this program knows ${supportedVersion}. ${cure}`,
  );
}

/**
 * Returns the error for tables that no stored declaration describes. This is the state after a manual migration, until
 * the next start stores the declarations.
 */
export function unknownTables(names: readonly string[]): CopyError {
  return new CopyError(
    "schema",
    `${names.join(", ")}: the database has no stored declaration of this. Start and stop the service on this database once, which stores it.`,
  );
}
