import { createServer } from "node:net";
import type { Address } from "../serving/starting.ts";

/** How often it is looked, and for how long. */
export interface Patience {
  readonly everyMs: number;
  readonly withinMs: number;
}

const patience: Patience = { everyMs: 1000, withinMs: 60_000 };

/** Waits, without a word, until nobody listens at an address any more; `drop` ends the waiting. */
export function waitForAddress(
  address: Address,
  tell: (isFree: boolean) => void,
  { everyMs, withinMs }: Patience = patience,
): { drop(): void } {
  const until = performance.now() + withinMs;
  let isWaiting = true;
  const look = (): void =>
    void canListen(address).then((isFree) => {
      if (!isWaiting) return;
      if (isFree || performance.now() >= until) tell(isFree);
      else timer = setTimeout(look, everyMs);
    });
  let timer = setTimeout(look, everyMs);
  return {
    drop() {
      isWaiting = false;
      clearTimeout(timer);
    },
  };
}

function canListen({ host, port }: Address): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
