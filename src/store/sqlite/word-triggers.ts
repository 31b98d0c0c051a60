import { isSearched } from "../searched.ts";
import { quote, formatWordsColumn, formatWordsTable } from "../sql/language/names.ts";
import { PENDING, triggerPrefix, watchedColumns } from "../sql/word-index.ts";
import type { Collection } from "../store.ts";
import { sqlite } from "./dialect.ts";

/**
 * Returns the triggers that keep the word index of a collection up to date, by name. They call no function of Latchkey,
 * so that other programs can also write to the table.
 */
export function watchWords(collection: Collection): ReadonlyMap<string, string> {
  const searched = collection.columns.filter(isSearched);
  if (searched.length === 0) return new Map();
  const [table, words] = [collection.name, formatWordsTable(sqlite, collection)].map(quote);
  const watched = watchedColumns(sqlite, collection);
  const old = searched.map(
    (column) => `UNION ALL SELECT value FROM json_each(OLD.${quote(formatWordsColumn(sqlite, column))})`,
  );
  const remove = `DELETE FROM ${words!} WHERE "word" IN (SELECT ${PENDING} ${old.join(" ")}) AND "id" = OLD."id";`;
  const note = `INSERT INTO ${words!} VALUES (${PENDING}, NEW."id") ON CONFLICT DO NOTHING;`;
  const isOther = watched.map((column) => `OLD.${column} IS NOT NEW.${column}`).join(" OR ");
  const isUnknown = searched.map((column) => `NEW.${quote(formatWordsColumn(sqlite, column))} IS NULL`).join(" OR ");
  const triggers = {
    // For its own inserts, Latchkey adds the notes of a whole group at once (`notes.ts`), at a fifth of the cost. The
    // trigger is for inserts of other programs.
    insert: `AFTER INSERT ON ${table!} WHEN ${isUnknown} BEGIN ${note} END`,
    update: `AFTER UPDATE OF ${watched.join(", ")} ON ${table!} WHEN ${isOther} BEGIN ${remove} ${note} END`,
    delete: `AFTER DELETE ON ${table!} BEGIN ${remove} END`,
  };
  const place = `${collection.name}(${searched.map(({ name }) => name).join(", ")})`;
  return new Map(
    Object.entries(triggers).map(([when, rest]) => {
      const name = `${triggerPrefix}${place} ${when}`;
      return [name, `CREATE TRIGGER ${quote(name)} ${rest}`];
    }),
  );
}
