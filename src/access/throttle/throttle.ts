import type { Call } from "../../core/call/call.ts";
import { formatNetwork } from "../../core/call/trusted-proxies.ts";
import { anObject, optional, wholeFrom } from "../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../core/checking/options.ts";
import { aSecret, hmac, type Secret } from "../../core/crypto/secret.ts";
import { after, type Eventually } from "../../core/eventually.ts";
import { fold } from "../../store/fold.ts";
import type { Change, Collection, Store } from "../../store/store.ts";
import {
  addLogin,
  addToStreak,
  endStreak,
  forgive,
  guessStreaksCollection,
  knownAddressesCollection,
  pruneRecords,
  streakOf,
  type Streak,
} from "./records.ts";
import { makeSideBySide } from "./side-by-side.ts";
import { guessesCollection, makeGuessWindow, type GuessWindow } from "./window.ts";

/** The tables of whoever counts guesses. */
export const throttleCollections: readonly Collection[] = [
  guessesCollection,
  guessStreaksCollection,
  knownAddressesCollection,
];

/** Counts wrong credentials, per address and per account. */
export interface Throttle {
  /**
   * How many more may be wrong, from this address and for this account; ends the request (429) where none may. To be asked
   * before any hash.
   */
  check(call: Call, account?: string): Eventually<number>;
  /** Counts a wrong credential: in memory before it returns, in the store when it resolves. */
  fail(call: Call, account?: string): Eventually<void>;
  /** The changes that erase what counts no more by `now` (milliseconds since the epoch); the service makes them every minute. */
  due?(now: number): readonly Change[];
}

/** The same for those who check passwords. `account` is the name that somebody logs in with, whether anyone has it or not. */
export interface LoginThrottle extends Throttle {
  /** What `check` gives, and whom a failure would count against. */
  look(call: Call, account: string): Eventually<Look>;
  /** What a right password changes: the row of failures ends, and the address is known from now on. */
  pass(call: Call, account: string): Eventually<readonly Change[]>;
  /** How many more `probe` may count; ends the request (429) where none may. */
  checkProbes(call: Call): Eventually<number>;
  /**
   * Runs what tells which names are taken, or makes an account. It gives whether that counts. Ends the request (429) where
   * this address has done it too often; closes no logins.
   */
  probe<T>(call: Call, task: () => Promise<Probed<T>>): Promise<T>;
  /** Forgives every failure of an account, and the last minute of every address: nobody knows which of them was its user's. */
  unlock(account: string, now: number): Promise<void>;
}

/** What a look at the throttle tells: how many more may be wrong, and whom a failure would count against. */
export interface Look {
  readonly room: number;
  readonly subjects: readonly string[];
}

/** What a probe gives, and whether it counts. */
export interface Probed<T> {
  readonly counts: boolean;
  readonly result: T;
}

/** Options of `loginThrottle()`: how many wrong credentials in how many seconds. */
export interface LoginThrottleOptions {
  readonly store: Store;
  /** The server's own, so that the store does not tell what was typed as a name. Processes that share a store share it. */
  readonly secret?: Secret;
  /** Wrong credentials in any window before the next try is refused (429); 10 where it is left out. */
  readonly limit?: number;
  /** The window, which slides; 60 where it is left out. */
  readonly windowSeconds?: number;
  /** Failures in a row for one account, after which one try in a window is left until one is right; 100 where it is left out. */
  readonly ceiling?: number;
  /** How long the address of a login is known, in seconds; 30 days where it is left out. */
  readonly knownSeconds?: number;
}

/** More addresses of one account than people have; the least recent ones go. */
const maxKnownAddresses = 32;
/** Under which the failures of all addresses are forgiven. */
const everyAddress = "address";
/** A login is noted once a day for each address. */
const noteEveryMs = 24 * 3600 * 1000;

const checks: ChecksOf<LoginThrottleOptions> = {
  store: anObject,
  secret: optional(aSecret),
  limit: optional(wholeFrom(1)),
  windowSeconds: optional(wholeFrom(1)),
  ceiling: optional(wholeFrom(1)),
  knownSeconds: optional(wholeFrom(0)),
};

/**
 * Failures count against the address and the account. An address from which the account logged in lately has a count of its own
 * for it, so that nobody is locked out from elsewhere.
 */
export function loginThrottle(options: LoginThrottleOptions): LoginThrottle {
  requireOptions(options, checks, { of: "loginThrottle" });
  const { store, secret, limit = 10, windowSeconds = 60, ceiling = 100, knownSeconds = 30 * 24 * 3600 } = options;
  const key = secret?.deriveOldest("guess") ?? new Uint8Array();
  const window = makeGuessWindow(store, windowSeconds, limit);
  const sideBySide = makeSideBySide();
  const knownMs = knownSeconds * 1000;
  const { subjectOf, accountSubject } = subjectsOf(store, key, knownMs);
  const { streakFor, roomOf, roomAt } = roomsOf(store, window, limit, ceiling);

  function look(call: Call, name: string): Eventually<Look> {
    const address = addressSubject(call);
    return after(roomAt(address, call.now), (here) =>
      after(subjectOf(call, name), (subject) =>
        after(roomOf(subject, call.now), (there) => ({
          room: Math.min(here, there),
          subjects: [address, subject.counted],
        })),
      ),
    );
  }

  function fail(call: Call, account?: string): Eventually<void> {
    const address = window.count(addressSubject(call), call.now);
    if (account === undefined) return write([address]);
    return after(subjectOf(call, account), ({ counted }) =>
      write([address, window.count(counted, call.now), ...addToStreak(counted, call.now)]),
    );
  }

  function pass(call: Call, account: string): Eventually<readonly Change[]> {
    return after(subjectOf(call, account), ({ general, own, knownAt, counted }) => {
      const isNoted = knownAt !== null && knownAt > call.now - noteEveryMs;
      const noted = isNoted ? [] : addLogin(own, general, call.now);
      const crowd = knownAt === null ? dropLeastRecent(store, general) : [];
      return after(streakFor(counted), ({ count }) =>
        after(crowd, (dropped) => [...dropped, ...noted, ...(count === 0 ? [] : [endStreak(counted)])]),
      );
    });
  }

  function checkProbes(call: Call): Eventually<number> {
    return roomAt(probeSubject(call), call.now);
  }

  function probe<T>(call: Call, task: () => Promise<Probed<T>>): Promise<T> {
    const subject = probeSubject(call);
    const room = (): Eventually<number> => checkProbes(call);
    return sideBySide([subject], room, async () => {
      const { counts, result } = await task();
      if (counts) await write([window.count(subject, call.now)]);
      return result;
    });
  }

  function due(now: number): readonly Change[] {
    return [...window.prune(now), ...pruneRecords(now, ceiling, knownMs)];
  }

  async function unlock(account: string, now: number): Promise<void> {
    await store.write({ changes: [...forgive(accountSubject(account), now), ...forgive(everyAddress, now)] });
  }

  function write(changes: readonly Change[]): Promise<void> {
    return store.write({ changes }).then(() => undefined);
  }

  return {
    check: (call, account) =>
      account === undefined ? roomAt(addressSubject(call), call.now) : after(look(call, account), ({ room }) => room),
    fail,
    look,
    pass,
    checkProbes,
    probe,
    unlock,
    due,
  };
}

interface Rooms {
  streakFor(subject: string): Eventually<Streak>;
  roomOf(subject: Subject, now: number): Eventually<number>;
  roomAt(subject: string, now: number): Eventually<number>;
}

/** What is left of the allowances. */
function roomsOf(store: Store, window: GuessWindow, limit: number, ceiling: number): Rooms {
  function streakFor(subject: string): Eventually<Streak> {
    return after(store.find(guessStreaksCollection, subject), streakOf);
  }

  /** What is left of the allowance. What was forgiven was forgiven for all addresses. */
  function roomOf({ general, counted }: Subject, now: number): Eventually<number> {
    return after(streakFor(general), (streak) =>
      after(counted === general ? streak : streakFor(counted), ({ count }) =>
        window.room(counted, now, { limit: count >= ceiling ? 1 : limit, since: streak.since }),
      ),
    );
  }

  /** What is left of the allowance of an address. */
  function roomAt(subject: string, now: number): Eventually<number> {
    return after(streakFor(everyAddress), ({ since }) => window.room(subject, now, { limit, since }));
  }

  return { streakFor, roomOf, roomAt };
}

interface Subjects {
  subjectOf(call: Call, name: string): Eventually<Subject>;
  accountSubject(username: string): string;
}

/** What failures are counted under. */
function subjectsOf(store: Store, key: Uint8Array, knownMs: number): Subjects {
  /** Whom a try for an account counts against: the account, or the account at this address. */
  function subjectOf(call: Call, name: string): Eventually<Subject> {
    const general = accountSubject(name);
    const own = knownKey(call, general);
    return after(store.find(knownAddressesCollection, own), (row) => {
      const knownAt = row === null ? null : Number(row.record["at"]);
      const isKnown = knownAt !== null && knownAt > call.now - knownMs;
      return { general, own, knownAt: isKnown ? knownAt : null, counted: isKnown ? own : general };
    });
  }

  /**
   * As a keyed digest: people type their password into the wrong field. Folded as the store folds names, or the count would tell
   * by two spellings of a name whether there is an account of it.
   */
  function accountSubject(username: string): string {
    return `account ${hmac(key, fold(username)).toString("base64url")}`;
  }

  /** Begins with the account, so that everything of it can be found. */
  function knownKey(call: Call, account: string): string {
    const network = formatNetwork(call.client.address);
    return `${account} ${hmac(key, `${account} at ${network}`).toString("base64url")}`;
  }

  return { subjectOf, accountSubject };
}

/** Makes room for one more address of the account. */
function dropLeastRecent(store: Store, account: string): Eventually<readonly Change[]> {
  const collection = knownAddressesCollection;
  const ofAccount = { column: "account", operator: "eq", value: account } as const;
  const sort = [
    { column: "at", descending: true },
    { column: "id", descending: true },
  ];
  return after(store.list({ collection, where: ofAccount, sort, limit: maxKnownAddresses }), (rows) => {
    const last = rows[maxKnownAddresses - 1];
    if (last === undefined) return [];
    const older = { column: "at", operator: "lte", value: last.record["at"]! } as const;
    return [{ kind: "deleteAll", collection, where: { all: [ofAccount, older] } }];
  });
}

interface Subject {
  /** The account, from wherever it is tried. */
  readonly general: string;
  /** The account at this address. */
  readonly own: string;
  /** When it logged in from here last; null where that is too long ago. */
  readonly knownAt: number | null;
  /** The one of the two that counts. */
  readonly counted: string;
}

function probeSubject(call: Call): string {
  return `probe ${formatNetwork(call.client.address)}`;
}

/** An IPv6 caller owns a /64 and could take a new address for each try. */
function addressSubject(call: Call): string {
  return `address ${formatNetwork(call.client.address)}`;
}
