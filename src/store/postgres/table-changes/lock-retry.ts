import { setTimeout as sleep } from "node:timers/promises";
import { quote } from "../../sql/language/names.ts";
import { statement, type ScriptStep } from "../../sql/language/script.ts";
import { StoreUnavailable, type Collection } from "../../store.ts";
import { state, findSQLState } from "../errors.ts";
import { sendTo, type Session } from "../network/session.ts";

/** The settings of a connection for long work. They replace the time limits of the server. */
export const unhurried = "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0";

/**
 * The longest wait for a lock, in milliseconds. Statements of clients queue behind the waiting statement for the same
 * time.
 */
const lockMs = 50;
/** The time limit for all attempts of the transaction, in milliseconds. */
const patienceMs = 135_000;
/**
 * The longest wait for an autovacuum, in milliseconds. The server cancels it after `deadlock_timeout`, which is a
 * second by default.
 */
const vacuumMs = 5000;

/**
 * The errors after which a retry can succeed: a lock was not available, a deadlock, and rows that other transactions
 * have changed.
 */
export const transientStates: ReadonlySet<string | null> = new Set(["55P03", "40P01", "40001"]);

/**
 * How long one transaction may delay other transactions, in milliseconds. After `maxTimedTries` attempts, this limit no
 * longer applies.
 */
const longestMs = 150;
const maxTimedTries = 20;

/** A step that fails if other transactions have already waited for too long. */
const failIfSlow: ScriptStep = statement(
  `SELECT latchkey_refuse('slow') WHERE clock_timestamp() - now() > interval '${longestMs} milliseconds'`,
);

/**
 * Runs statements in one transaction. Tries again until an attempt does not delay other transactions for long. `tables`
 * are the tables that change. `more` returns the steps that are sent together with the COMMIT, so that no lock is held
 * during another round trip.
 */
export async function retryOnLock(
  session: Session,
  tables: readonly string[],
  steps: readonly string[],
  more: () => Promise<readonly ScriptStep[]> = async () => [],
): Promise<void> {
  const begin = `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = ${lockMs}`;
  const start = performance.now();
  for (let hurries = 0; ;) {
    try {
      await session.run([begin, ...steps].join(";\n"));
      await commit(session, [...(await more()), ...(hurries < maxTimedTries ? [failIfSlow] : [])]);
      return;
    } catch (error) {
      await session.run("ROLLBACK");
      if (findSQLState(error) === state.refused) hurries++;
      else if (!transientStates.has(findSQLState(error)) || performance.now() - start > patienceMs) throw error;
      else await cancelVacuum(session, tables);
    }
    await sleep(50 + Math.random() * 150);
  }
}

/** Sends the last steps and the COMMIT together, without waiting in between. */
export async function commit(session: Session, steps: readonly ScriptStep[]): Promise<void> {
  const sent = await Promise.allSettled([...steps.map(sendTo(session)), session.run("COMMIT")]);
  for (const each of sent) if (each.status === "rejected") throw each.reason;
}

/**
 * Makes the server cancel an autovacuum of the tables, which can take minutes after a million rows were rewritten. The
 * server cancels the autovacuum if a lock waits for it longer than `deadlock_timeout`, and runs the autovacuum again
 * later. Readers and writers do not queue behind the lock that this function requests.
 */
async function cancelVacuum(session: Session, tables: readonly string[]): Promise<void> {
  const locks = tables.map((table) => `LOCK TABLE ${quote(table)} IN SHARE UPDATE EXCLUSIVE MODE`);
  try {
    await session.run([`BEGIN; SET LOCAL lock_timeout = ${vacuumMs}`, ...locks, "COMMIT"].join(";\n"));
  } catch (error) {
    await session.run("ROLLBACK");
    if (!transientStates.has(findSQLState(error))) throw error;
  }
}

/** Returns an error that names the oldest transaction with a lock on one of the tables. */
export async function describeLockHolder(
  session: Session,
  collections: readonly Collection[],
  cause: unknown,
): Promise<StoreUnavailable> {
  const [found] = await session.send(
    statement(
      "SELECT a.pid, a.state AS doing, extract(epoch FROM now() - a.xact_start)::integer AS seconds, left(a.query, 200) AS query, l.relation::regclass::text AS table " +
        "FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid " +
        "WHERE l.granted AND a.pid <> pg_backend_pid() AND l.relation = ANY(ARRAY(SELECT to_regclass(name) FROM unnest($1::text[]) AS name)) " +
        "ORDER BY a.xact_start LIMIT 1",
      [collections.map(({ name }) => quote(name))],
    ),
  );
  const { pid, doing, seconds, query, table } = found ?? {};
  const who =
    found === undefined
      ? "Other connections hold locks on tables that have to be changed. Wait until they end, and try again."
      : `The connection ${String(pid)} (${String(doing)}) has locked ${String(table)}, which has to be changed, for ${String(seconds)} s: ${String(query)}. ` +
        `Wait until it ends, or end it: SELECT pg_terminate_backend(${String(pid)});`;
  return new StoreUnavailable(`PostgreSQL: ${who}`, { cause });
}
