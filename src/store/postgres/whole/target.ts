import type { Secret } from "../../../core/crypto/secret.ts";
import { CopyError, type StoreTarget } from "../../copy.ts";
import { targetOver } from "../../sql/target.ts";
import { StoreUnavailable } from "../../store.ts";
import { describeReason, spoilsConnection, storeError } from "../errors.ts";
import { sendTo, type Session } from "../network/session.ts";
import { connectWhole, unhurried } from "../network/whole.ts";
import { migrationLock } from "../own-tables.ts";
import { postgresSchema } from "../table-changes/migration.ts";

/**
 * Starts to fill an empty database, in one transaction. If the connection is lost before the commit, the database stays
 * empty. A service that starts on this database waits until the transaction ends.
 */
export async function openTarget(url: Secret): Promise<StoreTarget> {
  const { session, address, convertError, close } = await connectWhole(url);
  try {
    await session.run(`BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; ${unhurried}; ${migrationLock}`);
    if ((await session.play(postgresSchema.findVersion())) > 0)
      throw new CopyError(
        "not_empty",
        `${address.shown} has tables of Latchkey already. Name an empty database: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0;`,
      );
  } catch (error) {
    await close();
    throw convertError(error);
  }
  return targetOver(postgresSchema, sendTo(session), {
    // A TypeError means that PostgreSQL cannot hold a value.
    convertError(error) {
      const read = storeError(error);
      return read instanceof TypeError ? read : convertError(error);
    },
    keep: () => commit(session),
    close,
  });
}

/**
 * Commits the copy, all or nothing. If the answer is lost, the error says how to find out whether the copy was made.
 */
async function commit(session: Session): Promise<void> {
  try {
    await session.run("COMMIT");
  } catch (error) {
    if (!spoilsConnection(error)) throw error;
    const words =
      "The connection ended before PostgreSQL confirmed the copy. Run latchkey db check: if it finds the copy, the copy is complete; otherwise start again.";
    throw new StoreUnavailable(`PostgreSQL: ${describeReason(error)}. ${words}`, { cause: error });
  }
}
