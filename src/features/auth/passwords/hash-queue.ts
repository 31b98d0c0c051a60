import { problem } from "../../../core/problem/problem.ts";

/** The caller behind a password hash. */
export interface Asker {
  /**
   * The site of the caller (`formatSite`). Turns rotate between sites first, because a customer with a /48 has 65,536
   * networks of 64 bits.
   */
  readonly site: string;
  /** The network of the caller (`formatNetwork`). */
  readonly address: string;
  /** A text that is the same for every request about one account. */
  readonly account: string;
  /** True if the account has logged in from this address before. */
  readonly isKnown: boolean;
}

/** A place in the queue. */
export interface QueueSlot {
  /** Waits for a turn and runs the task. Throws 503 if this place was given to another caller during the wait. */
  run<T>(task: () => Promise<T>): Promise<T>;
}

/**
 * The queue of password hashes. A few run at the same time and some more wait. A caller with many requests does not get
 * more turns than other callers.
 */
export interface HashQueue {
  /**
   * Throws 503 if `hold` would throw it now. Called before the account is read and the throttle is checked, so that a
   * flood of requests costs little.
   */
  requirePlace(asker: Asker): void;
  /**
   * Holds a place until its task starts, or until `use` ends without starting a task. If all places are taken, the
   * caller with the most places loses its newest place. Throws 503 if that is the place of this request.
   */
  hold<T>(asker: Asker, use: (place: QueueSlot) => Promise<T>): Promise<T>;
  load(): { readonly running: number; readonly waiting: number };
}

/** The length of the queue. */
export interface HashQueueOptions {
  /** The number of hashes that run at the same time. */
  readonly running: number;
  /** The number of hashes that may wait. */
  readonly waiting: number;
  /** The number of waiting places that are reserved for known callers. */
  readonly reserved: number;
}

interface Waiter {
  readonly asker: Asker;
  /** The order of arrival: a counter of all arrivals and starts. */
  readonly came: number;
  /** Starts the task. Null while the place's holder is busy with something else. */
  start: (() => void) | null;
  /** Takes the place away: the request ends with 503. */
  lose: (reason: Error) => void;
  isLost: boolean;
}

type AskerEntry = Pick<Waiter, "asker">;

/**
 * Makes the queue. Turns rotate between the sites, within a site between its addresses, and within an address between
 * its accounts. So a caller with many requests delays mainly itself. A request is refused only if all places are taken:
 * the newest one of the caller with the most places. Some places are reserved for known callers. A known caller never
 * loses a place of this reserve. An attacker can use many new addresses, but an address becomes known only by a login.
 */
export function makeHashQueue({ running, waiting, reserved }: HashQueueOptions): HashQueue {
  /** All waiting requests, oldest first. */
  const places = new Set<Waiter>();
  /** The latest turn of each waiting site, address and account. */
  const served = new Map<string, number>();
  let clock = 0;
  let free = running;

  async function hold<T>(asker: Asker, use: (place: QueueSlot) => Promise<T>): Promise<T> {
    const lost = Promise.withResolvers<never>();
    // The request may lose its place when no code waits for `lost` any more. Without this handler, Node would report an
    // unhandled rejection.
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

  /** Starts as many tasks as may run. */
  function next(): void {
    while (free > 0) {
      const first = firstInTurn();
      if (first === null) return;
      free--;
      for (const key of listKeys(first.asker)) served.set(key, ++clock);
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

  /**
   * Removes a waiter. Deletes the latest turns of callers that no longer wait, so that their later requests are ordered
   * by arrival.
   */
  function leave(waiter: Waiter): void {
    if (!places.delete(waiter)) return;
    const others = new Set([...places].flatMap(({ asker }) => listKeys(asker)));
    for (const key of listKeys(waiter.asker)) if (!others.has(key)) served.delete(key);
  }

  return { requirePlace, hold, load: () => ({ running: running - free, waiting: places.size }) };
}

type FindName = (asker: Asker) => string;

/** The names by which turns rotate, the widest first. Each name begins with the one before it. */
const levels: readonly FindName[] = [
  ({ site }) => `site ${site}`,
  ({ site, address }) => `site ${site} address ${address}`,
  ({ site, address, account }) => `site ${site} address ${address} account ${account}`,
];

function listKeys(asker: Asker): readonly string[] {
  return levels.map((level) => level(asker));
}

/** Returns the waiting request whose site, address or account (`findName`) has waited longest for a turn. */
function leastLately(
  served: ReadonlyMap<string, number>,
  waiters: readonly Waiter[],
  findName: FindName,
): Waiter | null {
  let best: Waiter | null = null;
  let bestTime = Infinity;
  for (const waiter of waiters) {
    const time = Math.max(waiter.came, served.get(findName(waiter.asker)) ?? 0);
    if (time < bestTime) [best, bestTime] = [waiter, time];
  }
  return best;
}

/**
 * Returns the request that loses its place: the newest one of the caller with the most places. While known callers have
 * no more places than the reserve, only other callers lose one.
 */
function findLoser<W extends AskerEntry>(all: readonly W[], reserved: number): W {
  const strangers = all.filter(({ asker }) => !asker.isKnown);
  const isWithinReserve = all.length - strangers.length <= reserved;
  let rest = isWithinReserve && strangers.length > 0 ? strangers : all;
  // An account can be known at many addresses, so its requests from all of them also count together.
  rest = largest(rest, ({ site, account, isKnown }) => (isKnown ? [site, `account ${account}`] : [site]));
  rest = largest(rest, ({ address }) => [address]);
  return largest(rest, ({ account }) => [account]).at(-1)!;
}

/**
 * Returns the requests with the most frequent name. If several names are equally frequent, chooses the first name of
 * the newest request if it is one of them, otherwise the one that occurs first.
 */
function largest<W extends AskerEntry>(
  all: readonly W[],
  listNames: (asker: Asker) => readonly string[],
): readonly W[] {
  const counts = new Map<string, number>();
  for (const { asker } of all) for (const name of listNames(asker)) counts.set(name, (counts.get(name) ?? 0) + 1);
  let [most = ""] = listNames(all.at(-1)!.asker);
  for (const [name, count] of counts) if (count > (counts.get(most) ?? 0)) most = name;
  return all.filter(({ asker }) => listNames(asker).includes(most));
}

function tooMany(): Error {
  return problem("unavailable", {
    detail: "Too many passwords are being checked at the moment.",
    headers: [["Retry-After", "1"]],
  });
}
