import type { DatabaseSync } from "node:sqlite";
import {
  copiedAtOnce,
  copiedTables,
  CopyError,
  readDeclaration,
  unknownTables,
  type Cells,
  type Content,
  type CopiedTable,
  type Counters,
} from "../copy.ts";
import type { Collection, Value } from "../store.ts";
import { decoderOf } from "./codec.ts";
import { prepare, type Cell } from "./connection.ts";
import { findTable } from "./found-table.ts";
import { quote, shadowOf } from "./table.ts";

/** All that stands in a database, over a connection that nobody else writes beside. */
export function contentOf(database: DatabaseSync, collections: readonly Collection[]): Content {
  const tables = copiedTables(collections, shadowOf);
  return {
    collections,
    async counters() {
      return readCounters(database, collections);
    },
    async count(name) {
      return prepare(database, `SELECT count(*) FROM ${quote(name)}`).get()![0] as number;
    },
    read: (name) => readPages(database, tables.get(name)!),
  };
}

/** Every collection that the database remembers. Throws `CopyError` where it holds what nobody remembers. */
export function rememberedCollections(database: DatabaseSync): readonly Collection[] {
  const unknown = prepare(
    database,
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN (SELECT collection FROM latchkey_schema) " +
      "AND EXISTS (SELECT 1 FROM pragma_table_info(sqlite_schema.name) AS c WHERE c.name = '_revision')",
  ).all();
  if (unknown.length > 0) throw unknownTables(unknown.map(([name]) => name as string));
  const remembered = prepare(database, "SELECT declaration, types FROM latchkey_schema ORDER BY collection").all();
  return remembered.map(([declaration, types]) => {
    const declared = JSON.parse(declaration as string) as Collection;
    const found = findTable(database, declared);
    if (found === null) throw new CopyError("schema", `The table ${declared.name} is not there any more.`);
    const known = JSON.parse(types as string) as Record<string, string>;
    return readDeclaration(declaration as string, known, [...found.columns.keys()]);
  });
}

function readCounters(database: DatabaseSync, collections: readonly Collection[]): Counters {
  const [revision] = prepare(database, "SELECT revision FROM latchkey_revision").get()!;
  const next = prepare(database, "SELECT next FROM latchkey_keys WHERE collection = ?");
  const keyed = collections.filter(({ key }) => key === "integer");
  const nextKeys = keyed.map(({ name }) => [name, (next.get(name)?.[0] as number | undefined) ?? 1] as const);
  return { revision: revision as number, nextKeys: Object.fromEntries(nextKeys) };
}

async function* readPages(database: DatabaseSync, table: CopiedTable): AsyncGenerator<readonly Cells[]> {
  const { columns, key } = table;
  const selected = columns.map(({ name, type }) =>
    // As numbers the large ones would be refused.
    type === "decimal" ? `CAST(${quote(name)} AS TEXT)` : quote(name),
  );
  const order = key.map(quote).join(", ");
  const all = `SELECT ${selected.join(", ")} FROM ${quote(table.name)}`;
  const end = `ORDER BY ${order} LIMIT ${copiedAtOnce}`;
  const first = prepare(database, `${all} ${end}`);
  const behind = prepare(database, `${all} WHERE (${order}) > (${key.map(() => "?").join(", ")}) ${end}`);
  const decoders = columns.map(decoderOf);
  const decode = (cells: readonly Cell[]): Cells =>
    cells.map((cell, at) => (decoders[at] === null ? (cell as Value) : decoders[at]!(cell)));
  for (let rows = first.all(); rows.length > 0; rows = behind.all(...rows.at(-1)!.slice(0, key.length)))
    yield rows.map(decode);
}
