import type { DatabaseSync } from "node:sqlite";
import { encode } from "../../sql/language/codec.ts";
import type { Table } from "../../sql/schema/table.ts";
import { requireRelation } from "../../sql/writes/changing.ts";
import type { Collection, Key } from "../../store.ts";
import type { Statements } from "../connection/connection.ts";
import { sqlite } from "../dialect.ts";
import { keyIn, type RowChange } from "../named.ts";
import { withFreeKeys, type Counters } from "./counters.ts";

/**
 * Adds the rows that link one record to other records in a many-to-many relation, with one statement. `keys` are the
 * keys of the rows from earlier changes.
 */
type Link = (
  table: Table,
  change: Extract<RowChange, { readonly kind: "link" }>,
  keys: readonly (Key | null)[],
) => null;

/** Returns the function that adds links over a connection. */
export function linksOver(database: DatabaseSync, statements: Statements, counters: Counters): Link {
  /** The relation of the running statement. */
  let linking: Collection | null = null;
  database.function("latchkey_next_key", () => counters.nextKey(linking!));

  return (table, { record: of, ids }, keys) => {
    const { collection } = table;
    const { record, linked } = requireRelation(table);
    const statement = statements(`link ${collection.name}`, () => {
      const into = [table.id.sql, table.revision, record.sql, linked.sql].join(", ");
      return `INSERT INTO ${table.name} (${into}) SELECT latchkey_next_key(), latchkey_next_revision(), ?, value FROM json_each(?)`;
    });
    const sent = JSON.stringify(ids.map((id) => encode(sqlite, linked, id)));
    linking = collection;
    const key = encode(sqlite, record, keyIn(of, keys));
    withFreeKeys(() => statement.run(key, sent));
    return null;
  };
}
