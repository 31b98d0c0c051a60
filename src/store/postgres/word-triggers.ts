import { isSearched } from "../searched.ts";
import { fitting, quote, formatWordsColumn, formatWordsTable } from "../sql/language/names.ts";
import { PENDING, triggerPrefix, watchedColumns } from "../sql/word-index.ts";
import type { Collection } from "../store.ts";
import { postgres } from "./dialect.ts";

/**
 * Returns the triggers that keep the word index of a collection up to date, by name. The SQL of each trigger also
 * creates the function that it calls.
 */
export function watchWords(collection: Collection): ReadonlyMap<string, string> {
  const searched = collection.columns.filter(isSearched);
  if (searched.length === 0) return new Map();
  const [table, words] = [collection.name, formatWordsTable(postgres, collection)].map(quote);
  const watched = watchedColumns(postgres, collection);
  const old = searched.map(
    (column) => `UNION ALL SELECT json_array_elements_text(OLD.${quote(formatWordsColumn(postgres, column))}::json)`,
  );
  const call = quote(fitting(postgres, `${triggerPrefix}${collection.name}`));
  const define = `
    CREATE OR REPLACE FUNCTION ${call}() RETURNS trigger LANGUAGE plpgsql AS $function$
    BEGIN
      IF TG_OP <> 'INSERT' THEN
        DELETE FROM ${words!} WHERE "id" = OLD."id" AND "word" = ANY(ARRAY(SELECT ${PENDING} ${old.join(" ")}));
      END IF;
      IF TG_OP <> 'DELETE' THEN
        INSERT INTO ${words!} VALUES (${PENDING}, NEW."id") ON CONFLICT DO NOTHING;
      END IF;
      RETURN NULL;
    END $function$;`;
  const isOther = watched.map((column) => `OLD.${column} IS DISTINCT FROM NEW.${column}`).join(" OR ");
  const triggers = {
    written: `AFTER INSERT OR DELETE ON ${table!} FOR EACH ROW`,
    changed: `AFTER UPDATE OF ${watched.join(", ")} ON ${table!} FOR EACH ROW WHEN (${isOther})`,
  };
  const place = `${collection.name}(${searched.map(({ name }) => name).join(", ")})`;
  return new Map(
    Object.entries(triggers).map(([when, rest]) => {
      const name = fitting(postgres, `${triggerPrefix}${when} ${place}`);
      return [name, `${define} CREATE TRIGGER ${quote(name)} ${rest} EXECUTE FUNCTION ${call}()`];
    }),
  );
}
