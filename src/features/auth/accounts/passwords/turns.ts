import { problem } from "../../../../core/problem/problem.ts";

/** Who wants something costly: what one network asks for is shared out among its accounts. */
export interface Asker {
  /** The network of the caller (`formatNetwork`). */
  readonly address: string;
  /** Any text that is the same for one account. */
  readonly account: string;
}

/** A place among those who wait. */
export interface Place {
  /** Waits for its turn and runs the task. Throws 503 where the place was given to somebody else meanwhile. */
  run<T>(task: () => Promise<T>): Promise<T>;
}

/** Gives turns for what is costly: some run at once, some more wait, and nobody gets more turns by asking more often. */
export interface Turns {
  /** Throws 503 where `hold` would at once: to be asked before anything that costs something, so that a flood costs little. */
  requirePlace(asker: Asker): void;
  /** Holds a place while `use` lasts. Throws 503 where all places are taken and whoever holds most of them loses this one. */
  hold<T>(asker: Asker, use: (place: Place) => Promise<T>): Promise<T>;
  load(): { readonly running: number; readonly waiting: number };
}

interface Waiter {
  readonly asker: Asker;
  /** When it came, by the count of all that came and all that were started. */
  readonly came: number;
  /** Starts the task; null while the place's holder is busy with something else. */
  start: (() => void) | null;
  /** Ends the wait with 503. */
  lose: (reason: Error) => void;
  isLost: boolean;
}

/**
 * Makes the turns. They go round the addresses, and within an address round its accounts, so that whoever asks much waits
 * for themselves. Only when all places are taken somebody is refused: the newest of whoever holds most.
 */
export function makeTurns(running: number, waiting: number): Turns {
  /** Everybody who waits, oldest first. */
  const places = new Set<Waiter>();
  /** When an address or an account that waits had a turn last. */
  const served = new Map<string, number>();
  let clock = 0;
  let free = running;

  async function hold<T>(asker: Asker, use: (place: Place) => Promise<T>): Promise<T> {
    const lost = Promise.withResolvers<never>();
    // Nobody may be listening any more when it is lost.
    lost.promise.catch(() => undefined);
    const waiter: Waiter = { asker, came: ++clock, start: null, lose: lost.reject, isLost: false };
    places.add(waiter);
    if (places.size > waiting + free) evict(findLoser([...places]));
    try {
      return await Promise.race([lost.promise, use({ run: (task) => run(waiter, task, lost.promise) })]);
    } finally {
      leave(waiter);
    }
  }

  async function run<T>(waiter: Waiter, task: () => Promise<T>, lost: Promise<never>): Promise<T> {
    if (waiter.isLost) throw tooMany();
    const started = Promise.withResolvers<void>();
    waiter.start = started.resolve;
    next();
    await Promise.race([lost, started.promise]);
    try {
      return await task();
    } finally {
      free++;
      next();
    }
  }

  /** Starts as many as may run. */
  function next(): void {
    while (free > 0) {
      const first = firstInTurn();
      if (first === null) return;
      free--;
      for (const key of keysOf(first.asker)) served.set(key, ++clock);
      leave(first);
      first.start!();
    }
  }

  function firstInTurn(): Waiter | null {
    const ready = [...places].filter(({ start }) => start !== null);
    const address = leastLately(served, ready, ({ address }) => address)?.asker.address;
    return leastLately(
      served,
      ready.filter(({ asker }) => asker.address === address),
      accountKey,
    );
  }

  function requirePlace(asker: Asker): void {
    if (places.size < waiting + free) return;
    const newcomer = { asker };
    if (findLoser([...places, newcomer]) === newcomer) throw tooMany();
  }

  function evict(loser: Waiter): void {
    loser.isLost = true;
    leave(loser);
    loser.lose(tooMany());
  }

  /** Whoever came later than its last turn need not be remembered, so only those who wait are. */
  function leave(waiter: Waiter): void {
    if (!places.delete(waiter)) return;
    const others = new Set([...places].flatMap(({ asker }) => keysOf(asker)));
    for (const key of keysOf(waiter.asker)) if (!others.has(key)) served.delete(key);
  }

  return { requirePlace, hold, load: () => ({ running: running - free, waiting: places.size }) };
}

/** The waiter whose name had its turn, or came, before the others'. */
function leastLately(
  served: ReadonlyMap<string, number>,
  waiters: readonly Waiter[],
  nameOf: (asker: Asker) => string,
): Waiter | null {
  let best: Waiter | null = null;
  let bestTime = Infinity;
  for (const waiter of waiters) {
    const time = Math.max(waiter.came, served.get(nameOf(waiter.asker)) ?? 0);
    if (time < bestTime) [best, bestTime] = [waiter, time];
  }
  return best;
}

function keysOf(asker: Asker): readonly [string, string] {
  return [asker.address, accountKey(asker)];
}

function accountKey({ address, account }: Asker): string {
  return `${address} ${account}`;
}

/** The newest of the account that holds most at the address that holds most. */
function findLoser<W extends Pick<Waiter, "asker">>(all: readonly W[]): W {
  const newest = all.at(-1)!.asker;
  const address = largest(all, (asker) => asker.address, newest.address);
  const ofAddress = all.filter(({ asker }) => asker.address === address);
  const account = largest(ofAddress, (asker) => asker.account, newest.account);
  return ofAddress.findLast(({ asker }) => asker.account === account)!;
}

/** The name that most waiters have; of several the newest one's, where it is among them. */
function largest(waiters: readonly Pick<Waiter, "asker">[], nameOf: (asker: Asker) => string, newest: string): string {
  const counts = new Map<string, number>();
  for (const { asker } of waiters) counts.set(nameOf(asker), (counts.get(nameOf(asker)) ?? 0) + 1);
  let most = newest;
  for (const [name, count] of counts) if (count > (counts.get(most) ?? 0)) most = name;
  return most;
}

function tooMany(): Error {
  return problem("unavailable", {
    detail: "Too many passwords are being checked at the moment.",
    headers: [["Retry-After", "1"]],
  });
}
