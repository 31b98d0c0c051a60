import type { Pool } from "pg";

/** Ends a pool once nobody waits for one of its connections any more: one that is ended serves nobody, and says so to nobody. */
export function endBehind(pool: Pool): void {
  const look = (): void => {
    if (pool.waitingCount > 0) return;
    pool.off("acquire", look);
    void pool.end();
  };
  pool.on("acquire", look);
  look();
}
