import {
  copiedAtOnce,
  copiedTables,
  readDeclaration,
  unknownTables,
  CopyError,
  type Cells,
  type Content,
  type CopiedTable,
  type Counters,
} from "../copy.ts";
import type { Collection, Value } from "../store.ts";
import { storageOf } from "./definition.ts";
import { findTable } from "./found-table.ts";
import { quote, sequenceOf, shadowOf } from "./names.ts";
import { plain } from "./parameters.ts";
import type { Session } from "./session.ts";

/** All that stands in a database, over a session in a transaction that sees one state of it. */
export function contentOf(session: Session, collections: readonly Collection[]): Content {
  const tables = copiedTables(collections, shadowOf);
  return {
    collections,
    counters: () => readCounters(session, collections),
    async count(name) {
      const [row] = await session.send(plain(`SELECT count(*) FROM ${quote(name)}`));
      return row![0] as number;
    },
    read: (name) => readPages(session, tables.get(name)!),
  };
}

/** Every collection that the database remembers. Throws `CopyError` where it holds what nobody remembers. */
export async function rememberedCollections(session: Session): Promise<readonly Collection[]> {
  const unknown = await session.send(
    plain(
      "SELECT relname::text FROM pg_class WHERE relkind = 'r' " +
        "AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('latchkey_schema')) " +
        "AND relname::text NOT IN (SELECT collection FROM latchkey_schema) " +
        "AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = '_revision' AND NOT attisdropped)",
    ),
  );
  if (unknown.length > 0) throw unknownTables(unknown.map(([name]) => name as string));
  const remembered = await session.send(plain("SELECT declaration, types FROM latchkey_schema ORDER BY collection"));
  const collections: Collection[] = [];
  for (const [declaration, types] of remembered) {
    const declared = JSON.parse(declaration as string) as Collection;
    const found = await findTable(session, declared);
    if (found === null) throw new CopyError("schema", `The table ${declared.name} is not there any more.`);
    const names = [...found.columns.keys()];
    collections.push(readDeclaration(declaration as string, types as Record<string, string>, names));
  }
  return collections;
}

/** As far as a sequence was used; where it was not, its first value is the next. */
async function readCounters(session: Session, collections: readonly Collection[]): Promise<Counters> {
  const next = async (sequence: string): Promise<number> => {
    const [row] = await session.send(
      plain(`SELECT CASE WHEN is_called THEN last_value + 1 ELSE last_value END FROM ${quote(sequence)}`),
    );
    return row![0] as number;
  };
  const nextKeys: Record<string, number> = {};
  for (const collection of collections)
    if (collection.key === "integer") nextKeys[collection.name] = await next(sequenceOf(collection));
  return { revision: (await next("latchkey_revision")) - 1, nextKeys };
}

async function* readPages(session: Session, table: CopiedTable): AsyncGenerator<readonly Cells[]> {
  const order = table.key.map(quote).join(", ");
  const all = `SELECT ${table.columns.map(({ name }) => quote(name)).join(", ")} FROM ${quote(table.name)}`;
  const end = `ORDER BY ${order} LIMIT ${copiedAtOnce}`;
  const places = table.key.map((name, at) => {
    const { type } = table.columns.find((column) => column.name === name)!;
    return `$${at + 1}::${storageOf({ name, type })}`;
  });
  const behind = `${all} WHERE (${order}) > (${places.join(", ")}) ${end}`;
  for (
    let rows = await session.send(plain(`${all} ${end}`));
    rows.length > 0;
    rows = await session.send(plain(behind, lastKey(rows, table)))
  )
    yield rows;
}

function lastKey(rows: readonly Cells[], { key }: CopiedTable): (string | number)[] {
  return rows.at(-1)!.slice(0, key.length) as (Value & (string | number))[];
}
