import type { DatabaseSync } from "node:sqlite";
import type { Table } from "../../sql/schema/table.ts";
import { PENDING } from "../../sql/word-index.ts";
import type { Key } from "../../store.ts";
import { createStatementCache } from "../connection/connection.ts";

/** The keys of new rows whose words must be indexed, for all transactions that are committed together. */
export interface Notes {
  add(table: Table, key: Key): void;
  /** The number of notes, as an argument for `undo`. */
  readonly length: number;
  /** Drops all notes after this number. Called when their changes are rolled back. */
  undo(length: number): void;
  /** Writes the notes into the database, in the same transaction as the rows. */
  save(): void;
}

export function createNotes(database: DatabaseSync): Notes {
  const statements = createStatementCache(database);
  const noted: (readonly [table: Table, key: Key])[] = [];
  return {
    add: (table, key) => void noted.push([table, key]),
    get length() {
      return noted.length;
    },
    undo: (length) => void (noted.length = length),
    save() {
      for (const [{ name, wordsTable }, notes] of Map.groupBy(noted.splice(0), ([table]) => table)) {
        // The JOIN leaves out rows that were deleted again in the same transaction.
        const sql = `INSERT INTO ${wordsTable} SELECT ${PENDING}, ${name}."id" FROM json_each(?) AS noted JOIN ${name} ON ${name}."id" = noted.value WHERE TRUE ON CONFLICT DO NOTHING`;
        statements(sql, () => sql).run(JSON.stringify(notes.map(([, key]) => key)));
      }
    },
  };
}
