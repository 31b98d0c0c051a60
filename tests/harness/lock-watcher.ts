import { setTimeout as sleep } from "node:timers/promises";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import pg from "pg";

// Watches the connections that lock a table, or wait for a lock on it, so that others cannot write. A separate thread
// checks every few milliseconds.

/** A lock that blocks writers, or also readers. */
export interface Held {
  readonly table: string;
  readonly mode: string;
  /** True if the lock was granted. False while it was requested, which also blocks later requests. */
  readonly granted: boolean;
  /** The time for which every check saw the lock, in milliseconds. */
  readonly ms: number;
  /** The same time plus the time before the first check that saw the lock. */
  readonly atMostMs: number;
}

const conflicting = ["ShareLock", "ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock"];

/**
 * Watches tables until it is stopped. Returns the longest lock of each kind, and the longest time between two checks.
 */
export async function watchLocks(
  url: string,
  tables: readonly string[],
): Promise<{ stop(): Promise<{ readonly longest: readonly Held[]; readonly blindMs: number }> }> {
  const worker = new Worker(import.meta.filename, { workerData: { url, tables } });
  await new Promise((resolve) => worker.once("message", resolve));
  return {
    async stop() {
      const message = new Promise((resolve) => worker.once("message", resolve));
      worker.postMessage("stop");
      return (await message) as { longest: readonly Held[]; blindMs: number };
    },
  };
}

if (!isMainThread) {
  const { url, tables } = workerData as { readonly url: string; readonly tables: readonly string[] };
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  let isOver = false;
  parentPort!.once("message", () => (isOver = true));
  parentPort!.postMessage("ready");
  const since = new Map<string, { readonly seen: number; readonly before: number }>();
  const longest = new Map<string, Held>();
  let blindMs = 0;
  let last = performance.now();
  while (!isOver) {
    const { rows } = await client.query<[number, string, string, boolean]>({
      text:
        "SELECT l.pid, c.relname::text, l.mode, l.granted FROM pg_locks l JOIN pg_class c ON c.oid = l.relation " +
        "WHERE l.locktype = 'relation' AND c.relname = ANY($1) AND l.mode = ANY($2) AND l.pid <> pg_backend_pid()",
      values: [tables, conflicting],
      rowMode: "array",
    });
    const now = performance.now();
    blindMs = Math.max(blindMs, now - last);
    const seen = new Set<string>();
    for (const [pid, table, mode, granted] of rows) {
      const key = `${pid} ${table} ${mode} ${granted}`;
      seen.add(key);
      // The lock may have existed since the previous check.
      if (!since.has(key)) since.set(key, { seen: now, before: last });
      const kind = `${table} ${mode} ${granted}`;
      const { seen: first, before } = since.get(key)!;
      const [ms, atMostMs] = [now - first, now - before];
      if (ms >= (longest.get(kind)?.ms ?? 0)) longest.set(kind, { table, mode, granted, ms, atMostMs });
    }
    for (const key of since.keys()) if (!seen.has(key)) since.delete(key);
    last = now;
    await sleep(2);
  }
  await client.end();
  parentPort!.postMessage({ longest: [...longest.values()], blindMs });
}
