import type { Secret } from "../../../core/crypto/secret.ts";
import { valueOfJSON } from "../../../core/exact-numbers.ts";
import { quote } from "../../sql/language/names.ts";
import { statement } from "../../sql/language/script.ts";
import { findOldest, ownTables, type Oldest, type Stats, type TableStats } from "../../sql/stats.ts";
import type { Collection } from "../../store.ts";
import { findSQLState, isTimeout, state } from "../errors.ts";
import type { Session } from "../network/session.ts";
import { useWhole } from "../network/whole.ts";
import { postgresSchema } from "../table-changes/migration.ts";
import { rememberedIn, loadVersion } from "./source.ts";

/** The time limit for one query, in milliseconds. */
const patienceMs = 1000;

/** The maximum number of rows to count. Above it, the result is an estimate. */
const mostCounted = 100_000;

/** Measures a database, also while it is in use. */
export function statsOfDatabase(url: Secret): Promise<Stats> {
  return useWhole(url, async (whole) => {
    const { session } = whole;
    await loadVersion(whole);
    await session.run(`SET default_transaction_read_only = on; SET statement_timeout = ${patienceMs}`);
    const [whole_size] = await session.send(statement("SELECT pg_database_size(current_database()) AS bytes"));
    const found = await session.send(
      statement(
        "SELECT relname::text AS name, pg_total_relation_size(oid) AS bytes FROM pg_class " +
          "WHERE relnamespace = to_regnamespace(current_schema()::text) AND relkind IN ('r', 'p') ORDER BY 1",
      ),
    );
    const sizes = new Map(found.map((table) => [table["name"] as string, table["bytes"] as number]));
    const tables: TableStats[] = [];
    for (const [table, collection] of ownTables(postgresSchema, await rememberedIn(session), [...sizes.keys()]))
      tables.push({
        table,
        ...(await countRows(session, table)),
        bytes: sizes.get(table)!,
        oldest: collection === null ? null : await findOldestInTime(session, collection),
      });
    return { bytes: whole_size!["bytes"] as number, freeBytes: null, walBytes: null, tables };
  });
}

async function countRows(session: Session, table: string): Promise<Pick<TableStats, "rows" | "estimated">> {
  const name = quote(table);
  const some = statement(`SELECT count(*) AS counted FROM (SELECT 1 FROM ${name} LIMIT ${mostCounted + 1}) AS found`);
  const counted = await inTime(async () => (await session.send(some))[0]!["counted"] as number);
  if (counted !== null && counted <= mostCounted) return { rows: counted, estimated: false };
  // For a table without statistics, the server's counter since its last start is more accurate than the planner's
  // estimate.
  const [statistics] = await session.send(
    statement("SELECT coalesce(pg_stat_get_live_tuples(to_regclass($1)), 0) AS living", [name]),
  );
  const living = statistics!["living"] as number;
  if (living > 0 && living >= (counted ?? 0)) return { rows: living, estimated: true };
  const [row] = await session.send(statement(`EXPLAIN (FORMAT JSON) SELECT 1 FROM ${name}`));
  return { rows: plannedRows(row!["QUERY PLAN"]), estimated: true };
}

function plannedRows(explanation: unknown): number {
  const [{ Plan: plan }] = (typeof explanation === "string" ? valueOfJSON(explanation) : explanation) as [
    { Plan: { "Plan Rows": number } },
  ];
  return plan["Plan Rows"];
}

/**
 * Returns the oldest record. Returns null if the query takes too long, because it also reads deleted rows that are not
 * vacuumed yet.
 */
function findOldestInTime(session: Session, collection: Collection): Promise<Oldest | null> {
  return inTime(() => session.play(findOldest(collection)));
}

/** Returns the result of a query. Returns null if the server or this process has stopped it after the time limit. */
async function inTime<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (findSQLState(error) === state.canceled || isTimeout(error)) return null;
    throw error;
  }
}
