import type { Secret } from "../../../core/crypto/secret.ts";
import { CopyError, countRows, requireVersion, type Checked, type Content, type StoreSource } from "../../copy.ts";
import { createContent, rememberedCollections, tablesToCopy } from "../../sql/content.ts";
import { quote } from "../../sql/language/names.ts";
import { statement } from "../../sql/language/script.ts";
import type { Collection } from "../../store.ts";
import { findSQLState } from "../errors.ts";
import { sendTo, type Session } from "../network/session.ts";
import { connectWhole, unhurried, useWhole, type Whole } from "../network/whole.ts";
import { postgresSchema } from "../table-changes/migration.ts";

/** The longest wait for a writer, in milliseconds. */
const lockMs = 5000;

/** The SQLSTATE of a lock that is not available. */
const lockNotAvailable = "55P03";

/** Opens a database to copy it. Locks the tables against writers until the source is closed. */
export async function openSource(url: Secret): Promise<StoreSource> {
  const whole = await connectWhole(url);
  const { session, convertError, close } = whole;
  try {
    requireVersion(await loadVersion(whole), postgresSchema.version);
    await requireNoOtherProcess(whole);
    // The first query of the transaction fixes the state that the transaction sees, and must run after the locks. So
    // the names of the tables are read before the transaction.
    const before = await rememberedIn(session);
    await session.run(`BEGIN ISOLATION LEVEL REPEATABLE READ; ${unhurried}; SET LOCAL lock_timeout = ${lockMs}`);
    await lock(session, [...tablesToCopy(postgresSchema, before).keys()]);
    return { ...(await contentIn(whole)), close };
  } catch (error) {
    await close();
    throw convertError(error);
  }
}

/** Checks a database, also while it is in use. */
export function checkDatabase(url: Secret): Promise<Checked> {
  return useWhole(url, async (whole) => {
    await whole.session.run(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${unhurried}`);
    const version = await loadVersion(whole);
    const tables = await countRows(await contentIn(whole));
    return { version, tables, problems: [] };
  });
}

/** Returns the declarations of the tables of a database. Returns null if it has no tables of Latchkey. */
export function findCollections(url: Secret): Promise<readonly Collection[] | null> {
  return useWhole(url, async ({ session }) =>
    (await session.play(postgresSchema.findVersion())) === 0
      ? null
      : session.play(rememberedCollections(postgresSchema, true)),
  );
}

async function contentIn({ session, convertError }: Whole): Promise<Content> {
  const send = sendTo(session);
  return createContent(postgresSchema, await rememberedIn(session), async (step) => {
    try {
      return await send(step);
    } catch (error) {
      throw convertError(error);
    }
  });
}

/** Returns the collections whose declarations the database stores. */
export function rememberedIn(session: Session): Promise<readonly Collection[]> {
  return session.play(rememberedCollections(postgresSchema));
}

/** Returns the version of the tables. Throws `CopyError` if there are no tables of Latchkey. */
export async function loadVersion({ session, address }: Whole): Promise<number> {
  const version = await session.play(postgresSchema.findVersion());
  if (version > 0) return version;
  throw new CopyError("not_latchkey", `${address.shown} has no tables of Latchkey. Name another database.`);
}

/**
 * Throws `CopyError` if another process of Latchkey uses the database. The locks would only delay its writes, and the
 * copy would not contain these writes.
 */
async function requireNoOtherProcess({ session, address }: Whole): Promise<void> {
  const [row] = await session.send(
    statement(
      "SELECT count(*) AS counted FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'latchkey' AND pid <> pg_backend_pid()",
    ),
  );
  const count = row!["counted"] as number;
  if (count > 0)
    throw new CopyError(
      "in_use",
      `${address.shown} is in use by ${count} connections of Latchkey. Stop the service and all commands on it, and try again.`,
    );
}

async function lock(session: Session, tables: readonly string[]): Promise<void> {
  try {
    await session.run(`LOCK TABLE ${tables.map(quote).join(", ")} IN SHARE MODE`);
  } catch (error) {
    if (findSQLState(error) !== lockNotAvailable) throw error;
    throw new CopyError("in_use", "Another connection is writing to the database. Stop the service and try again.", {
      cause: error,
    });
  }
}
