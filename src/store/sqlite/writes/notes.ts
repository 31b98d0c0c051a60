import type { DatabaseSync } from "node:sqlite";
import type { Table } from "../../sql/schema/table.ts";
import { PENDING } from "../../sql/words.ts";
import type { Key } from "../../store.ts";
import { statementsOf } from "../connection.ts";

/** The new rows of a group whose words are to be taken in. */
export interface Notes {
  add(table: Table, key: Key): void;
  /** How many there are, to go back to. */
  readonly length: number;
  /** Forgets all behind so many: what they are about was undone. */
  undo(length: number): void;
  /** Writes them down, as part of the group. */
  save(): void;
}

export function notesOf(database: DatabaseSync): Notes {
  const statements = statementsOf(database);
  const noted: (readonly [table: Table, key: Key])[] = [];
  return {
    add: (table, key) => void noted.push([table, key]),
    get length() {
      return noted.length;
    },
    undo: (length) => void (noted.length = length),
    save() {
      for (const [{ name, wordsTable }, notes] of Map.groupBy(noted.splice(0), ([table]) => table)) {
        // Those whose row is gone again are nobody's.
        const sql = `INSERT INTO ${wordsTable} SELECT ${PENDING}, ${name}."id" FROM json_each(?) AS noted JOIN ${name} ON ${name}."id" = noted.value WHERE TRUE ON CONFLICT DO NOTHING`;
        statements(sql, () => sql).run(JSON.stringify(notes.map(([, key]) => key)));
      }
    },
  };
}
