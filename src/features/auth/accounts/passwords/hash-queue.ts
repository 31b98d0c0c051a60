import { problem } from "../../../../core/problem/problem.ts";

/** The caller behind a password hash. */
export interface Asker {
  /** The site of the caller (`formatSite`): a customer of a /48 has 65,536 networks of 64 bits. */
  readonly site: string;
  /** The network of the caller (`formatNetwork`). */
  readonly address: string;
  /** Any text that is the same for one account. */
  readonly account: string;
  /** The account logged in from this address before. */
  readonly isKnown: boolean;
}

/** A place among those who wait. */
export interface Place {
  /** Waits for its turn and runs the task. Throws 503 if another caller got the place in the meantime. */
  run<T>(task: () => Promise<T>): Promise<T>;
}

/** Gives turns for password hashes: some run at once, some more wait, and asking more often brings no more turns. */
export interface HashQueue {
  /** Throws 503 if `hold` would at once: asked before the account is read and the throttle is asked, so that a flood costs little. */
  requirePlace(asker: Asker): void;
  /** Holds a place while `use` lasts. Throws 503 if all places are taken and this one is the newest of the caller that holds most. */
  hold<T>(asker: Asker, use: (place: Place) => Promise<T>): Promise<T>;
  load(): { readonly running: number; readonly waiting: number };
}

/** How long the queue is. */
export interface HashQueueOptions {
  /** How many hashes run at once. */
  readonly running: number;
  /** How many may wait. */
  readonly waiting: number;
  /** How many of the waiting places known callers have first claim to. */
  readonly reserved: number;
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

type Held = Pick<Waiter, "asker">;

/**
 * Makes the queue. Turns go round the sites, within a site round its addresses, and within an address round its accounts, so that
 * a caller who asks much waits for itself. A request is refused only if all places are taken: the newest of the caller that holds
 * most. While known callers hold no more than the reserved places, one of the others gives way: addresses cost an attacker
 * nothing, and a login from one of them does.
 */
export function makeHashQueue({ running, waiting, reserved }: HashQueueOptions): HashQueue {
  /** All who wait, oldest first. */
  const places = new Set<Waiter>();
  /** The latest turn of each site, address and account that waits. */
  const served = new Map<string, number>();
  let clock = 0;
  let free = running;

  async function hold<T>(asker: Asker, use: (place: Place) => Promise<T>): Promise<T> {
    const lost = Promise.withResolvers<never>();
    // It may be lost when no code waits for it any more.
    lost.promise.catch(() => undefined);
    const waiter: Waiter = { asker, came: ++clock, start: null, lose: lost.reject, isLost: false };
    places.add(waiter);
    if (places.size > waiting + free) evict(findLoser([...places], reserved));
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
    let ready = [...places].filter(({ start }) => start !== null);
    for (const level of levels) {
      const first = leastLately(served, ready, level);
      if (first === null) return null;
      ready = ready.filter(({ asker }) => level(asker) === level(first.asker));
    }
    return ready[0]!;
  }

  function requirePlace(asker: Asker): void {
    if (places.size < waiting + free) return;
    const newcomer = { asker };
    if (findLoser([...places, newcomer], reserved) === newcomer) throw tooMany();
  }

  function evict(loser: Waiter): void {
    loser.isLost = true;
    leave(loser);
    loser.lose(tooMany());
  }

  /** A caller that came after its last turn need not be remembered, so only those who wait are. */
  function leave(waiter: Waiter): void {
    if (!places.delete(waiter)) return;
    const others = new Set([...places].flatMap(({ asker }) => keysOf(asker)));
    for (const key of keysOf(waiter.asker)) if (!others.has(key)) served.delete(key);
  }

  return { requirePlace, hold, load: () => ({ running: running - free, waiting: places.size }) };
}

type NameOf = (asker: Asker) => string;

/** The names by which turns go, the widest first. Each begins with the one before it. */
const levels: readonly NameOf[] = [
  ({ site }) => `site ${site}`,
  ({ site, address }) => `site ${site} address ${address}`,
  ({ site, address, account }) => `site ${site} address ${address} account ${account}`,
];

function keysOf(asker: Asker): readonly string[] {
  return levels.map((level) => level(asker));
}

/** The waiter whose name had its turn, or came, before the others'. */
function leastLately(served: ReadonlyMap<string, number>, waiters: readonly Waiter[], nameOf: NameOf): Waiter | null {
  let best: Waiter | null = null;
  let bestTime = Infinity;
  for (const waiter of waiters) {
    const time = Math.max(waiter.came, served.get(nameOf(waiter.asker)) ?? 0);
    if (time < bestTime) [best, bestTime] = [waiter, time];
  }
  return best;
}

/** The newest of the caller that holds most; never a known one while those hold no more than their reserve. */
function findLoser<W extends Held>(all: readonly W[], reserved: number): W {
  const strangers = all.filter(({ asker }) => !asker.isKnown);
  const isWithinReserve = all.length - strangers.length <= reserved;
  let rest = isWithinReserve && strangers.length > 0 ? strangers : all;
  // The same account may be known at many addresses, and then counts as one caller too.
  rest = largest(rest, ({ site, account, isKnown }) => (isKnown ? [site, `account ${account}`] : [site]));
  rest = largest(rest, ({ address }) => [address]);
  return largest(rest, ({ account }) => [account]).at(-1)!;
}

/** The waiters that share the name that most of them have; of several such names, one of the newest waiter's if that is among them. */
function largest<W extends Held>(all: readonly W[], namesOf: (asker: Asker) => readonly string[]): readonly W[] {
  const counts = new Map<string, number>();
  for (const { asker } of all) for (const name of namesOf(asker)) counts.set(name, (counts.get(name) ?? 0) + 1);
  let [most = ""] = namesOf(all.at(-1)!.asker);
  for (const [name, count] of counts) if (count > (counts.get(most) ?? 0)) most = name;
  return all.filter(({ asker }) => namesOf(asker).includes(most));
}

function tooMany(): Error {
  return problem("unavailable", {
    detail: "Too many passwords are being checked at the moment.",
    headers: [["Retry-After", "1"]],
  });
}
