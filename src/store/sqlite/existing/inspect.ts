import type { FoundExisting } from "../../sql/existing/found.ts";
import { play, statement } from "../../sql/schema/script.ts";
import { connectReadOnly, sendTo } from "../connection.ts";
import { findExisting } from "./existing.ts";

/** Every table of a file that is not ours, by its name; it is only read. */
export function inspectFile(path: string): ReadonlyMap<string, FoundExisting> {
  const database = connectReadOnly(path);
  try {
    database.exec("BEGIN");
    const send = sendTo(database);
    const isOurs = send(statement("SELECT 1 FROM sqlite_schema WHERE name = 'latchkey_schema'")).length > 0;
    const names = send(
      statement(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'latchkey\\_%' ESCAPE '\\' " +
          (isOurs
            ? "AND name NOT IN (SELECT collection FROM latchkey_schema UNION SELECT '_' || collection || '_words' FROM latchkey_schema) "
            : "") +
          "ORDER BY name",
      ),
    );
    const found = new Map<string, FoundExisting>();
    for (const [name] of names) found.set(String(name), play(findExisting(String(name)), send)!);
    return found;
  } finally {
    database.close();
  }
}
