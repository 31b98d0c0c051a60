import type { Pool } from "pg";

/**
 * Ends a pool when no request waits for a connection. A pool that ends earlier would leave the waiting requests without
 * an answer.
 */
export function endBehind(pool: Pool): void {
  const look = (): void => {
    if (pool.waitingCount > 0) return;
    pool.off("acquire", look);
    void pool.end();
  };
  pool.on("acquire", look);
  look();
}
