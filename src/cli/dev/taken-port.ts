import { requireFreeAddress, type ListenAddress } from "../serving/starting.ts";

/** The interval between the checks, and their total duration. */
export interface Patience {
  readonly everyMs: number;
  readonly withinMs: number;
}

const patience: Patience = { everyMs: 1000, withinMs: 60_000 };

/**
 * Waits until no program listens at an address. Calls `report` with true when the address is free, or with false after
 * the time limit. `drop` cancels the wait.
 */
export function waitForAddress(
  address: ListenAddress,
  report: (isFree: boolean) => void,
  { everyMs, withinMs }: Patience = patience,
): { drop(): void } {
  const until = performance.now() + withinMs;
  let isWaiting = true;
  const look = (): void => {
    const isFree = requireFreeAddress(address).then(
      () => true,
      () => false,
    );
    void isFree.then((found) => {
      if (!isWaiting) return;
      if (found || performance.now() >= until) report(found);
      else timer = setTimeout(look, everyMs);
    });
  };
  let timer = setTimeout(look, everyMs);
  return {
    drop() {
      isWaiting = false;
      clearTimeout(timer);
    },
  };
}
