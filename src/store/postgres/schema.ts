import { prepareTables, requireVersion } from "../sql/prepare.ts";
import { playAsync } from "../sql/script.ts";
import { StoreUnavailable, type Collection } from "../store.ts";
import { ReadOnly } from "./errors.ts";
import { postgresSchema } from "./migration.ts";
import { sendTo, type Session } from "./session.ts";

/** Creates what is not there and adds to what is; all of it or nothing, and one process at a time. */
export async function prepareSchema(session: Session, collections: readonly Collection[]): Promise<void> {
  try {
    await playAsync(prepareTables(postgresSchema, collections), sendTo(session));
  } catch (error) {
    await session.run("ROLLBACK").catch(() => undefined);
    throw error;
  }
}

/** Rejects unless the tables are there and can be written. */
export async function requireSchema(session: Session, collections: readonly Collection[]): Promise<void> {
  const names = collections.map(({ name }) => name);
  const [found] = await session.send({
    name: "latchkey_check",
    text:
      "SELECT version, current_setting('transaction_read_only') = 'on', " +
      "ARRAY(SELECT name FROM unnest($1::text[]) AS name WHERE name NOT IN (SELECT collection FROM latchkey_schema))::text " +
      "FROM latchkey_version",
    values: [names],
  });
  const [version, readOnly, missing] = found!;
  requireVersion(postgresSchema, version as number);
  if (missing !== "{}") throw new StoreUnavailable(`PostgreSQL: the tables ${String(missing)} are not there any more`);
  if (readOnly === true) throw new ReadOnly();
}
