import { setTimeout as sleep } from "node:timers/promises";
import { prepareTables, requireVersion } from "../sql/schema/prepare.ts";
import { playAsync, statement } from "../sql/schema/script.ts";
import { StoreUnavailable, type Collection } from "../store.ts";
import { isPassing, ReadOnly } from "./errors.ts";
import { lockTable, postgresSchema } from "./migration.ts";
import { sendTo, type Session } from "./network/session.ts";

/** How often a migration is tried that others were in the way of. */
const maxTries = 20;

/** Creates what is not there and adds to what is; all of it or nothing, and one process at a time. */
export async function prepareSchema(session: Session, collections: readonly Collection[]): Promise<void> {
  let schema = postgresSchema;
  for (let tries = 1; ; tries++) {
    try {
      return await playAsync(prepareTables(schema, collections), sendTo(session));
    } catch (error) {
      await session.run("ROLLBACK").catch(() => undefined);
      if (!isPassing(error) || tries === maxTries) throw error;
    }
    await sleep(Math.random() * Math.min(2 ** tries, 100));
    schema = { ...postgresSchema, begin: `${postgresSchema.begin}; ${await lockTables(session)}` };
  }
}

/**
 * Of a migration and one who writes, who wait for each other, PostgreSQL ends either. Those who write go on taking the tables in the same
 * order, so the next try takes them all in another one before it changes anything.
 */
async function lockTables(session: Session): Promise<string> {
  const rows = await session.send(
    statement(
      "SELECT collection FROM latchkey_schema WHERE to_regclass(format('%I', collection)) IS NOT NULL ORDER BY random()",
    ),
  );
  return rows.map(([name]) => lockTable(name as string)).join("; ");
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
