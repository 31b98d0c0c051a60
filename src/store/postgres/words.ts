import { playAsync } from "../sql/schema/script.ts";
import { takeWords } from "../sql/words.ts";
import type { Collection } from "../store.ts";
import { tableOf } from "./dialect.ts";
import { postgresSchema } from "./migration.ts";
import { sendTo, type Session } from "./network/session.ts";

/** Takes the words of some rows into the index; false where none are left. */
export async function takeSomeWords(session: Session, searched: readonly Collection[]): Promise<boolean> {
  let hasTaken = false;
  try {
    for (const each of searched)
      hasTaken = (await playAsync(takeWords(postgresSchema, tableOf(each)), sendTo(session))) || hasTaken;
    return hasTaken;
  } catch (error) {
    await session.run("ROLLBACK").catch(() => undefined);
    throw error;
  }
}
