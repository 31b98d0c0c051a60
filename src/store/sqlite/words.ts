import type { DatabaseSync } from "node:sqlite";
import { play } from "../sql/schema/script.ts";
import { takeWords } from "../sql/words.ts";
import type { Collection } from "../store.ts";
import { sendTo } from "./connection.ts";
import { tableOf } from "./dialect.ts";
import { sqliteSchema } from "./migration.ts";

/** Takes the words of some rows into the index; false where none are left. */
export function takeSomeWords(database: DatabaseSync, searched: readonly Collection[]): boolean {
  const send = sendTo(database);
  try {
    return searched.map((each) => play(takeWords(sqliteSchema, tableOf(each)), send)).some((hasTaken) => hasTaken);
  } finally {
    if (database.isTransaction) database.exec("ROLLBACK");
  }
}
