import { quote } from "../../sql/names.ts";
import { statement } from "../../sql/schema/script.ts";
import { StoreUnavailable, type Collection } from "../../store.ts";
import type { Session } from "../network/session.ts";

/** Says who does not let go of tables that have to be changed: the transaction that has had any of them for longest. */
export async function whoHolds(
  session: Session,
  collections: readonly Collection[],
  cause: unknown,
): Promise<StoreUnavailable> {
  const [found] = await session.send(
    statement(
      "SELECT a.pid, a.state, extract(epoch FROM now() - a.xact_start)::integer, left(a.query, 200), l.relation::regclass::text " +
        "FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid " +
        "WHERE l.granted AND a.pid <> pg_backend_pid() AND l.relation = ANY(ARRAY(SELECT to_regclass(name) FROM unnest($1::text[]) AS name)) " +
        "ORDER BY a.xact_start LIMIT 1",
      [collections.map(({ name }) => quote(name))],
    ),
  );
  const [pid, doing, seconds, query, table] = found ?? [];
  const who =
    found === undefined
      ? "Others do not let go of tables that have to be changed."
      : `The connection ${String(pid)} (${String(doing)}) has had ${String(table)} for ${String(seconds)} s, and it has to be changed: ${String(query)}. ` +
        `Let it end, or end it: SELECT pg_terminate_backend(${String(pid)});`;
  return new StoreUnavailable(`PostgreSQL: ${who}`, { cause });
}
