import type { Pool } from "pg";

/**
 * Ends a connection pool as soon as no request waits for a connection. If the pool ended earlier, the waiting requests
 * would get no answer.
 */
export function endWhenUnused(pool: Pool): void {
  const look = (): void => {
    if (pool.waitingCount > 0) return;
    pool.off("acquire", look);
    void pool.end();
  };
  pool.on("acquire", look);
  look();
}
