import { valueOfJSON } from "../../core/exact-numbers.ts";
import {
  copiedAtOnce,
  copiedTables,
  CopyError,
  readDeclaration,
  unknownTables,
  type CopiedRow,
  type Content,
  type CopiedTable,
} from "../copy.ts";
import type { Collection, Value } from "../store.ts";
import { findDecoder } from "./language/codec.ts";
import type { Cell, Dialect } from "./language/dialect.ts";
import { quote } from "./language/names.ts";
import {
  ask,
  askCells,
  playAsync,
  statement,
  type CellRow,
  type Rows,
  type Script,
  type Statement,
  type ScriptStep,
} from "./language/script.ts";
import { collectShadows } from "./schema/definition.ts";
import { findTable, readTypes } from "./schema/found-table.ts";
import type { SchemaDialect } from "./schema/schema.ts";
import { selectedAs } from "./schema/table.ts";

/** Returns the tables of the collections and the store's own tables, in the form for a copy, by name. */
export function tablesToCopy(dialect: Dialect, collections: readonly Collection[]): ReadonlyMap<string, CopiedTable> {
  return copiedTables(collections, (collection) => collectShadows(dialect, collection));
}

/** Returns the whole content of a database. The connection of `send` must read one unchanging state. */
export function createContent(
  schema: SchemaDialect,
  collections: readonly Collection[],
  send: (step: ScriptStep) => Promise<Rows>,
): Content {
  const tables = tablesToCopy(schema, collections);
  return {
    collections,
    counters: () => playAsync(schema.readCounters(collections), send),
    async count(name) {
      if (!(await isThere(schema, name, send))) return 0;
      const [row] = await playAsync(ask(statement(`SELECT count(*) AS counted FROM ${quote(name)}`)), send);
      return row!["counted"] as number;
    },
    async *read(name) {
      if (await isThere(schema, name, send)) yield* readPages(schema, tables.get(name)!, send);
    },
  };
}

/** Returns true if the table exists. The history of migrations exists only after a migration. */
async function isThere(
  schema: SchemaDialect,
  name: string,
  send: (step: ScriptStep) => Promise<Rows>,
): Promise<boolean> {
  return (await send(schema.findColumns(name))).length > 0;
}

/**
 * Returns every collection whose declaration is stored in the database. Throws `CopyError` if the database has a table
 * of Latchkey without a stored declaration. `declaredAlone` skips columns that were never declared.
 */
export function* rememberedCollections(schema: SchemaDialect, declaredAlone = false): Script<readonly Collection[]> {
  const unknown = yield* ask(schema.findUnknownTables);
  if (unknown.length > 0) throw unknownTables(unknown.map(({ name }) => name as string));
  const remembered = yield* ask(statement("SELECT declaration, types FROM latchkey_schema ORDER BY collection"));
  const collections: Collection[] = [];
  for (const { declaration, types } of remembered) {
    const declared = valueOfJSON(declaration as string) as Collection;
    const found = yield* findTable(schema, declared);
    if (found === null) throw new CopyError("schema", `The table ${declared.name} does not exist any more.`);
    const knownTypes = readTypes(types);
    const there = [...found.columns.keys()].filter((name) => !declaredAlone || knownTypes[name] !== undefined);
    collections.push(readDeclaration(declaration as string, knownTypes, there));
  }
  return collections;
}

async function* readPages(
  schema: SchemaDialect,
  { name, columns, key }: CopiedTable,
  send: (step: ScriptStep) => Promise<Rows>,
): AsyncGenerator<readonly CopiedRow[]> {
  const order = key.map(quote).join(", ");
  const selected = columns.map((column) => selectedAs(schema, column, quote(column.name))).join(", ");
  const places = key.map((_, at) => schema.place(at + 1)).join(", ");
  const all = `SELECT ${selected} FROM ${quote(name)}`;
  const end = `ORDER BY ${order} LIMIT ${copiedAtOnce}`;
  const behind = `${all} WHERE (${order}) > (${places}) ${end}`;
  const decoders = columns.map((column) => findDecoder(schema, column));
  const decode = (cells: readonly unknown[]): CopiedRow =>
    cells.map((cell, at) => (decoders[at] === null ? (cell as Value) : decoders[at]!(cell)));
  const read = (query: Statement): Promise<readonly CellRow[]> => playAsync(askCells(query), send);
  let rows = await read(statement(`${all} ${end}`));
  while (rows.length > 0) {
    yield rows.map(decode);
    rows = await read(statement(behind, rows.at(-1)!.slice(0, key.length) as Cell[]));
  }
}
